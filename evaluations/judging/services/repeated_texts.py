"""Look for one text that a model gives to many questions, and note who looked at it."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluations.judging.rules.repeated_texts import FEWEST, repeated
from evaluations.models import RepeatedTexts, Response, Run
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import Conflict
from questions.rules.vocabulary import Part


def look_for_repeated_texts(run: Run, *, final: bool = False) -> RepeatedTexts | None:
    """Compare the subjective responses of *run* to different questions; return what was found.

    None if fewer than 20 are alike, or if nothing was compared: responses are compared again when
    there are twice as many, or, if *final*, when there are any more. Of a run that somebody
    reviewed nothing is compared again.
    """
    before = RepeatedTexts.objects.filter(run=run).first()
    if before is not None and before.reviewed_at is not None:
        return None
    written = Response.objects.filter(run=run, question__part=Part.SUBJECTIVE, is_error_text=False)
    asked = written.order_by().values("question").distinct().count()
    compared = before.compared if before is not None else 0
    if asked < FEWEST or asked <= compared or (asked < 2 * compared and not final):
        return None
    first: dict[int, tuple[int, str]] = {}
    rows = written.order_by("repeat", "pk").values_list("question", "pk", "text")
    for question, response, text in rows.iterator():
        first.setdefault(question, (response, text))
    alike = repeated(list(first.values()))
    with transaction.atomic():
        locked = RepeatedTexts.objects.select_for_update()
        found, _new = locked.get_or_create(run=run, defaults={"compared": 0})
        if found.reviewed_at is not None:
            return None
        found.compared = len(first)
        found.save(update_fields=["compared"])
        found.responses.set(alike)
    return found if alike else None


@transaction.atomic
def review_repeated_texts(run: Run, *, acting_user: User) -> None:
    """Note that *acting_user* looked at the repeated texts of *run*: its marks are compared again.

    Raises Conflict if there is nothing to review.
    """
    waiting = RepeatedTexts.objects.select_for_update().filter(run=run, reviewed_at=None)
    found = waiting.filter(responses__isnull=False).first()
    if found is None:
        raise Conflict(_("This run has no repeated text that waits for a review."))
    found.reviewed_by, found.reviewed_at = acting_user, timezone.now()
    found.save(update_fields=["reviewed_by", "reviewed_at"])
    record(Tag.REPEATED_TEXTS_REVIEWED, run, actor=acting_user, responses=found.responses.count())

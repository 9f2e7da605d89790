"""Marking notes: how to treat what the rubric is silent on, in versions."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from evaluations.marking.services.telling import check_names_no_model
from evaluations.models import MarkingNotes, MarkingRound
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict

LONGEST_NOTES = 20_000


def check_length(text: str) -> None:
    """Raise BadInput for marking notes that are longer than a page of them can be."""
    if len(text) > LONGEST_NOTES:
        raise BadInput(
            _("Marking notes can have at most %(most)s characters.") % {"most": LONGEST_NOTES}
        )


def write_marking_notes(
    marking_round: MarkingRound, text: str, *, to_judge: bool, seen: int, acting_user: User | None
) -> MarkingNotes | None:
    """Write the next version of the marking notes; None where nothing but the judge changes.

    The desk shows the newest from now on; a judge is told if *to_judge*. *seen* is the
    number of the version that the page showed, 0 for none. Raises BadInput for a text
    that is too long or names a model, Conflict for a closed round, or when somebody else
    wrote a newer version meanwhile.
    """
    text = text.strip()
    check_length(text)
    with transaction.atomic():
        locked = MarkingRound.objects.select_for_update().get(pk=marking_round.pk)
        if locked.status == RoundStatus.CLOSED:
            raise Conflict(_("This round is already closed."), code="round_closed")
        newest = locked.notes_versions.order_by("-number").first()
        number = newest.number if newest else 0
        if number != seen:
            raise Conflict(
                _(
                    "Somebody else has changed the marking notes in the meantime. "
                    "Review the new version, then save yours."
                ),
                code="rulings_changed",
            )
        changed = text != locked.marking_notes
        made = None
        if changed:
            check_names_no_model(text)
            made = MarkingNotes.objects.create(
                round=locked, number=number + 1, text=text, author=acting_user
            )
        MarkingRound.objects.filter(pk=locked.pk).update(
            marking_notes=text, notes_to_judge=to_judge
        )
        detail = {"version": number + changed, "to_judge": to_judge}
        record(Tag.MARKING_NOTES_CHANGED, locked, actor=acting_user, **detail)
    marking_round.refresh_from_db()
    return made

"""Saving what a person says that an examinee answered, and drawing samples to be checked."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass
from random import Random

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from evaluations.models import AnswerCheck, CheckSample, Extraction, ModelReading, Response, Run
from evaluations.models.vocabulary import CheckSource
from evaluations.reading.rules.extraction.model_reader import answers_fit
from evaluations.reading.rules.extraction.reading import Statement
from evaluations.reading.selectors.answer_check_queue import own_check
from evaluations.reading.selectors.answer_checks import said_in
from evaluations.reading.selectors.model_reading import asked_of
from evaluations.reading.services.scoring import score_responses
from evaluations.statistics.outcomes import ReadingOutcome
from evaluations.statistics.policies import Policy
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from gradeapp.common.submission_keys import submission_key

MOST_DRAWN = 1000


@dataclass(frozen=True, slots=True)
class SavedCheck:
    """The stored check; ``repeated`` when the same request had stored it before."""

    check: AnswerCheck
    repeated: bool = False


def save_check(
    response: Response,
    checker: User,
    *,
    seen: Extraction | ModelReading,
    said: Statement,
    source: CheckSource,
    key: uuid.UUID,
    based_on: int = 0,
) -> SavedCheck:
    """Store that *checker*, who looked at the reading *seen*, says *said*; the score follows.

    *based_on* is the number of the own check that the page showed, 0 for none: a
    second one follows it. The same *key* is the same check. Raises BadInput for
    what cannot be an answer to the item, Conflict where the page was old.
    """
    _check_fits(response, said)
    try:
        with transaction.atomic():
            # Also keeps the same person in two windows from saving twice.
            Response.objects.select_for_update(of=("self",)).get(pk=response.pk)
            if earlier := AnswerCheck.objects.filter(key=key).first():
                return SavedCheck(_same(earlier, response, checker, said), repeated=True)
            own = own_check(response, checker)
            if (own.number if own else 0) != based_on:
                raise _stale()
            check = _store(response, checker, seen, said, source, key, own)
            score_responses([response], policies=[Policy.STRICT])
            return SavedCheck(check)
    except IntegrityError as error:
        raise _stale() from error


def _check_fits(response: Response, said: Statement) -> None:
    """Refuse an outcome that there is not, and answers that the item cannot have."""
    if said.outcome not in list(ReadingOutcome):
        raise BadInput(_("Enter the answer of the response, or the reason why there is none."))
    asked = asked_of(response.revision)
    if said.outcome == ReadingOutcome.READ:
        if not answers_fit(said.answers, asked):
            raise BadInput(_("Enter an answer that this question allows."), code="not_an_answer")
    elif any(said.answers) or len(said.answers) != asked.parts:
        raise BadInput(
            _("No answer can be entered for a response without an answer."), code="not_unread"
        )


def _store(
    response: Response,
    checker: User,
    seen: Extraction | ModelReading,
    said: Statement,
    source: CheckSource,
    key: uuid.UUID,
    own: AnswerCheck | None,
) -> AnswerCheck:
    check = AnswerCheck.objects.create(
        response=response,
        extraction=seen if isinstance(seen, Extraction) else None,
        model_reading=seen if isinstance(seen, ModelReading) else None,
        checker=checker,
        number=own.number + 1 if own else 1,
        follows=own,
        key=key,
        source=source,
        answers=list(said.answers),
        outcome=said.outcome,
        confirmed=said == said_in(seen),
    )
    tag = Tag.ANSWER_CHECKED_AGAIN if own else Tag.ANSWER_CHECKED
    record(tag, check, actor=checker, response=response.pk, confirmed=check.confirmed)
    return check


def _same(earlier: AnswerCheck, response: Response, checker: User, said: Statement) -> AnswerCheck:
    """Return *earlier* if the request is equal; raise a refusal for another one with its key."""
    if (earlier.response_id, earlier.checker_id) != (response.pk, checker.pk):
        raise BadInput(_("Use a new submission id for a new check."), code="key_used")
    if said_in(earlier) != said:
        raise _stale()
    return earlier


def _stale() -> Conflict:
    return Conflict(
        _(
            "You have checked this response in another window in the meantime. Your "
            "input was not saved."
        ),
        code="stale_version",
    )


@transaction.atomic
def draw_sample(
    run: Run, size: int, *, acting_user: User, random_seed: int | None = None, key: str = ""
) -> CheckSample:
    """Draw up to *size* readings of patterns of *run* that nobody has checked or drawn yet.

    The same *random_seed* draws the same of the same readings; None takes a new
    one. *key* is that of the form as it was opened, or of the request: what comes again under it
    gives the sample it drew. Raises BadInput where there is nothing to draw.
    """
    if not 1 <= size <= MOST_DRAWN:
        raise BadInput(_("A sample must have 1 to %(most)d responses.") % {"most": MOST_DRAWN})
    Run.objects.select_for_update().get(pk=run.pk)
    asked = (acting_user.pk, run.pk, size, random_seed, key)
    form_key = submission_key("check sample", *asked) if key else None
    if key and (made := CheckSample.objects.filter(form_key=form_key).first()):
        return made
    read = Response.objects.filter(run=run, rule_reading__outcome=ReadingOutcome.READ)
    free = read.filter(answer_checks=None, check_samples=None)
    among = list(free.order_by("pk").values_list("pk", flat=True))
    if not among:
        raise BadInput(_("This run has no unchecked answers extracted by rules."))
    seed = secrets.randbits(31) if random_seed is None else random_seed
    drawn = Random(seed).sample(among, min(size, len(among)))
    sample = CheckSample.objects.create(
        run=run,
        random_seed=seed,
        size=len(drawn),
        among=len(among),
        created_by=acting_user,
        form_key=form_key,
    )
    sample.responses.set(drawn)
    record(Tag.CHECKS_SAMPLED, sample, actor=acting_user, run=run.pk, size=len(drawn), seed=seed)
    return sample

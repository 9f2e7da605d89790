"""The reference marks of seed answers: a lead gives them before the start or under a new rubric."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from evaluations.marking.desk.selectors.roles import OwnRole, own_role
from evaluations.marking.desk.services.mark_rows import GivenMark, check_given, frozen_rubric
from evaluations.marking.desk.services.same_rubric import check_rubric
from evaluations.marking.services.finalizing import lock
from evaluations.models import BlindAnswer, SeedAnswer
from evaluations.models.vocabulary import LIVE, AnswerRole, RoundStatus
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import Conflict, NotAllowed, NotFound


def premark(
    answer: BlindAnswer,
    lead: User,
    *,
    points: Sequence[Decimal] = (),
    total: Decimal | None = None,
    comment: str = "",
    rubric: str = "",
) -> SeedAnswer:
    """Store the lead's mark as the reference of a seed answer; a later one takes its place.

    *points* are given per scoring point in the rubric's order; without a rubric
    *total* is given alone. *rubric* is the code of the rubric that the page showed.
    The audit trail keeps every version. Raises NotFound for
    what waits for no reference, NotAllowed for a lead who marks in the round, or gave or entered a
    mark of the response in another, Conflict
    once the round has started, unless the reference was retired, or where the response
    has another rubric now, BadInput for a mark that does not fit.
    """
    given = GivenMark(tuple(points), total, comment.strip())
    with transaction.atomic():
        locked = lock(answer.pk)
        _check(locked, lead)
        check_rubric(locked, rubric)
        check_given(locked, given)
        reference, _made = SeedAnswer.objects.update_or_create(
            answer=locked,
            defaults={
                "total": given.under(frozen_rubric(locked)),
                "points": [str(value) for value in given.points],
                "comment": given.comment,
                "author": lead,
            },
        )
        detail = {"answer": locked.alias, "total": str(reference.total)}
        detail |= {"points": " ".join(reference.points), "comment": reference.comment}
        record(Tag.SEED_MARKED, reference, actor=lead, **detail)
    return reference


def _check(answer: BlindAnswer, lead: User) -> None:
    taken = SeedAnswer.objects.filter(answer=answer, taken_from__isnull=False)
    if answer.role != AnswerRole.SEED or taken.exists():
        raise NotFound(_("This response does not need a reference mark."))
    given = SeedAnswer.objects.filter(answer=answer).exists()
    retired = answer.round.status in LIVE and not given
    if answer.round.status != RoundStatus.PLANNED and not retired:
        raise Conflict(
            _("The round has started. Its reference marks can no longer be changed."),
            code="round_open",
        )
    if answer.round.pool.filter(teacher=lead).exists():
        raise NotAllowed(
            _("You are marking in this round. Another lead has to enter the reference marks.")
        )
    if own_role(lead, answer) is not OwnRole.NONE:
        raise NotAllowed(
            _(
                "You marked this response yourself or entered a mark of it. Another lead has to "
                "enter its reference mark."
            ),
            code="own_mark",
        )

"""The lead returns marks of a teacher for re-marking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluations.marking.desk.selectors.roles import with_another_own_mark
from evaluations.marking.monitoring.rules.spreading import spread
from evaluations.marking.monitoring.selectors.returning import (
    ReturnChoice,
    checks_to_return,
    people_with_a_role,
    shown_as_their_own,
    slots_to_return,
)
from evaluations.marking.services.finalizing import ask_the_lead
from evaluations.marking.services.reopening import Withdrawn, batches, lock_answers, reopen_slots
from evaluations.models import MarkingRound, Slot
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.markers import present_markers
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict, NotAllowed


def return_marks(
    marking_round: MarkingRound,
    teacher: User,
    choice: ReturnChoice,
    *,
    to_others: bool,
    acting_user: User,
    now: datetime,
) -> Withdrawn:
    """Return the marks of *teacher* that *choice* names, and have them given again.

    The same teacher marks again, or with *to_others* those teachers of the pool who are not
    paused, may still mark and have no role on the response. Final marks made from the returned
    marks are withdrawn, a decision of the lead only where *choice* says so; the response is
    finalized again when the new mark is saved. Seed answers and intra-rater checks are returned
    to the same teacher, or with *to_others* to nobody. Every version of a mark stays stored; the
    audit trail names those that were returned.

    Raises Conflict in a closed round or when there is nothing to return for re-marking,
    NotAllowed where *acting_user* gave or entered another mark of such a response, BadInput
    where there are no others, or for the same teacher who has left the round.
    """
    check_open(marking_round)
    if not to_others:
        _check_there(marking_round, teacher)
    with transaction.atomic():
        slots = slots_to_return(marking_round, teacher, choice)
        checks = checks_to_return(marking_round, teacher, choice)
        locked = lock_answers([slot.answer_id for slot in (*slots, *checks)])
        # Read again under the locks: a mark may have been saved meanwhile, or the round closed.
        check_open(marking_round)
        slots = slots_to_return(marking_round, teacher, choice)
        slots = [slot for slot in slots if slot.answer_id in locked]
        if not slots:
            raise Conflict(
                _("None of these responses has a mark of %(name)s that can be returned.")
                % {"name": teacher},
                code="nothing_to_send_back",
            )
        refuse_own(slots, acting_user)
        planned: dict[int, int | None] = {slot.pk: teacher.pk for slot in slots}
        if to_others:
            planned |= _spread_over_others(marking_round, teacher, slots)
        planned_checks = {slot.pk: None if to_others else teacher.pk for slot in checks}
        withdrawn = reopen_slots(slots, planned, with_decisions=choice.with_arbitrated, now=now)
        withdrawn_checks = reopen_slots(checks, planned_checks, now=now)
        record(
            Tag.MARKS_RETURNED,
            marking_round,
            actor=acting_user,
            teacher=teacher.username,
            since=choice.since.isoformat() if choice.since else None,
            responses=sorted(choice.aliases),
            to="others" if to_others else "same",
            marks=withdrawn.marks,
            checks=withdrawn_checks.marks,
            finals=withdrawn.finals,
        )
    ask_the_lead(marking_round, now=now)
    return withdrawn


def check_open(marking_round: MarkingRound) -> None:
    """Raise Conflict in a closed round: its marks stay."""
    marking_round.refresh_from_db(fields=["status"])
    if marking_round.status == RoundStatus.CLOSED:
        raise Conflict(
            _("The round is closed. Its marks can no longer be changed."), code="round_closed"
        )


def refuse_own(slots: Iterable[Slot], person: User) -> None:
    """Raise NotAllowed if *person* gave or entered another mark of a response of *slots*.

    As for a decision: they would have the partner's mark given again until it fits theirs.
    """
    if number := with_another_own_mark(slots, person):
        words = ngettext(
            "You gave or entered another mark of %(number)s of these responses. Another lead has "
            "to return this mark.",
            "You gave or entered another mark of %(number)s of these responses. Another lead has "
            "to return these marks.",
            number,
        )
        raise NotAllowed(words % {"number": number}, code="own_mark")


def _check_there(marking_round: MarkingRound, teacher: User) -> None:
    """Raise BadInput for a teacher who has left the round."""
    if _has_left(marking_round, teacher):
        raise BadInput(
            _("%(name)s has left the round. Return the marks to other teachers.")
            % {"name": teacher},
            code="left",
        )


def _has_left(marking_round: MarkingRound, teacher: User) -> bool:
    return marking_round.pool.filter(teacher=teacher, left_at__isnull=False).exists()


def _spread_over_others(
    marking_round: MarkingRound, teacher: User, slots: Sequence[Slot]
) -> dict[int, int | None]:
    pool = marking_round.pool.filter(paused=False, teacher__in=present_markers())
    pool = pool.exclude(teacher=teacher)
    others = list(pool.order_by("teacher").values_list("teacher", flat=True))
    if not others:
        raise BadInput(_("No other teacher of the round can mark them."), code="no_others")
    with_role: dict[int, set[int]] = {}
    for some in batches(sorted({slot.answer_id for slot in slots})):
        with_role |= people_with_a_role(some)
    # Not to whom it was shown as their own, if anybody else is left: a check would not come again.
    known = shown_as_their_own(with_role)
    barred = {slot.pk: with_role[slot.answer_id] for slot in slots}
    for slot in slots:
        if not set(others) <= barred[slot.pk] | known[slot.answer_id]:
            barred[slot.pk] = barred[slot.pk] | known[slot.answer_id]
    shares = spread(barred, others)
    if stuck := sum(person is None for person in shares.values()):
        words = ngettext(
            "Nobody else in the round can mark %(number)s of these responses. Add a teacher, or "
            "return it to the same teacher.",
            "Nobody else in the round can mark %(number)s of these responses. Add a teacher, or "
            "return them to the same teacher.",
            stuck,
        )
        if _has_left(marking_round, teacher):
            words = _(
                "Nobody else in the round can mark %(number)s of these responses. Add a teacher."
            )
        raise BadInput(words % {"number": stuck}, code="no_others")
    return shares

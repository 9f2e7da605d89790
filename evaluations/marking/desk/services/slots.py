"""Claiming the next response: by a lease, in one conditional update."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluations.marking.desk.selectors.queue import for_whom, free_for, passed
from evaluations.marking.desk.services.slot_order import (
    Claimable,
    Half,
    claimable_slots,
    own_slots,
)
from evaluations.marking.desk.sql import claim_own, whole_slot
from evaluations.marking.services.reopening import lock_answers
from evaluations.marking.services.showing import is_extra, note_shown
from evaluations.models import HelpOffer, Mark, MarkingRound, PartnerPassed, Slot
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.common.leases import SLOT

NOT_PASSED = dict.fromkeys(("passed_at", "passed_with", "passed_by"))


def claim_next(teacher: User, *, round: MarkingRound | None = None, now: datetime) -> Slot | None:
    """The next response for *teacher*, held until the lease ends; None when there is none.

    Own planned ones first, in their fixed order, skipped ones last; then those
    that nobody holds, whoever they were planned for. A teacher never gets a
    second role on one response. Losing a race only means going on to the next. The checks of
    others that the teacher comes to on the way are passed, and what else is theirs alone
    (``pass_by``).
    """
    if round is not None and (slot := _claim_own(teacher, round, now)):
        return slot
    on_the_way: list[Claimable] = []
    for one in claimable_slots(teacher, round, now):
        until = now + timedelta(minutes=one.lease_minutes)
        if one.to_pass:
            on_the_way.append(one)
        elif take(one.slot, teacher, until=until, now=now):
            pass_by(on_the_way, teacher, one.slot, now=now)
            return _whole(one.slot, round)
    pass_by(on_the_way, teacher, None, now=now)
    return None


def claim_ahead(slot: Slot, teacher: User, *, now: datetime) -> Slot | None:
    """The response after *slot*, held by the same lease while *slot* is still being marked.

    Only what is at hand already or was planned for *teacher*: whoever helps out
    takes no response from others before they can turn to it. One that is never
    turned to returns when its lease ends. The next claim gives the same response.
    """
    marking_round = slot.answer.round
    if ahead := _claim_own(teacher, marking_round, now, but=slot.answer_id):
        return ahead
    until = now + timedelta(minutes=marking_round.lease_minutes)
    for one in own_slots(teacher, [marking_round], now, but=slot.answer_id):
        if take(one.slot, teacher, until=until, now=now):
            return _whole(one.slot, marking_round)
    return None


def _whole(key: int, marking_round: MarkingRound | None) -> Slot:
    """The slot with its response for the desk; a known round is not read again."""
    slot = whole_slot(key)
    if marking_round is not None:
        slot.answer.round = marking_round
    return slot


def _claim_own(
    teacher: User, marking_round: MarkingRound, now: datetime, *, but: int = 0
) -> Slot | None:
    """Claim by one statement what almost always comes next; None leaves it to the queue."""
    until = now + timedelta(minutes=marking_round.lease_minutes)
    key = _unless_taken(
        lambda: claim_own(teacher.pk, marking_round.pk, but=but, until=until, now=now)
    )
    return _whole(key, marking_round) if key else None


def take(slot: int, teacher: User, *, until: datetime, now: datetime) -> bool:
    """Claim the slot by one conditional update; True when *teacher* now holds it.

    Whose lease on it has ended, and who takes what was not planned for them, has been shown the
    response (``HelpOffer``).
    """
    may_have = free_for(teacher, now) & for_whom(teacher, now)
    free = Slot.objects.filter(may_have, _in_open_round(), pk=slot, marked=False)
    given = {**SLOT.given(teacher, until), "skipped_at": None, **NOT_PASSED}
    before = Slot.objects.select_related("answer__round").filter(pk=slot).first()
    if before is None:
        return False
    if before.planned_id == teacher.pk and before.holder_id in (None, teacher.pk):
        return bool(_unless_taken(lambda: free.update(**given)))
    with transaction.atomic():
        lock_answers([before.answer_id])  # first, as a save does
        same = free.filter(holder=before.holder_id)
        if not _unless_taken(lambda: same.update(**given)):
            return False
        if before.holder_id is not None and before.holder_id != teacher.pk:
            note_shown([(before, before.holder_id)], now)
            _bring_back(before.pk, before.holder_id)
        if before.planned_id != teacher.pk:
            offer = {"helping": True, "extra": is_extra(before), "at": now}
            HelpOffer.objects.update_or_create(
                answer_id=before.answer_id, teacher=teacher, defaults=offer
            )
    return True


def pass_by(slots: Sequence[Claimable], helper: User, taken: int | None, *, now: datetime) -> None:
    """Take what only others can get from them, each by one conditional update.

    *slots* are checks, or one mark more that *helper* cannot give or nobody needs. They are lost to
    their teacher as long as the slot that *helper* has *taken* on the way is, and come back with
    it. Where nothing was left to take, what *helper* has at hand in the round or marked last there
    stands for it; who has neither passes nothing. Of a check that would be the partner's mark is
    noted that *helper* does not come to it again.
    """
    for one in slots:
        free = Slot.objects.filter(SLOT.free(now), _in_open_round(), pk=one.slot, marked=False)
        free = free.filter(~passed(now))
        before = free.select_related("answer__round").first()
        if before is None:
            continue
        with_it = _went_with(before, helper, taken, now)
        if with_it is None:
            continue
        if one.to_pass is Half.PARTNER:
            PartnerPassed.objects.update_or_create(
                slot=before, helper=helper, defaults={"passed_with": Slot(pk=with_it)}
            )
            continue
        passed_so = {"passed_at": now, "passed_with": with_it, "passed_by": helper}
        given = {**SLOT.released(), "skipped_at": None, **passed_so}
        with transaction.atomic():
            lock_answers([before.answer_id])  # first, as a save does
            if free.filter(holder=before.holder_id).update(**given) and before.holder_id:
                note_shown([(before, before.holder_id)], now)


def _bring_back(taken: int, helper: int, **fields: datetime) -> None:
    """Give back what *helper* passed with the slot *taken*, which is back itself."""
    gone = Slot.objects.filter(passed_with=taken, passed_by=helper, marked=False)
    gone.update(**NOT_PASSED, **fields)
    PartnerPassed.objects.filter(passed_with=taken, helper=helper).delete()


def _went_with(slot: Slot, helper: User, taken: int | None, now: datetime) -> int | None:
    """The slot that *slot* is passed with: one of the same question, if there is any.

    Marks are returned and rubrics change by question, and what was passed goes with them.
    """
    of_question = Slot.objects.filter(answer__question=slot.answer.question_id)
    if taken is not None and of_question.filter(pk=taken).exists():
        return taken
    own = Slot.objects.filter(answer__round=slot.answer.round_id)
    return (
        _had_last(own.filter(answer__question=slot.answer.question_id), helper, now)
        or taken
        or _had_last(own, helper, now)
    )


def _had_last(slots: QuerySet[Slot], teacher: User, now: datetime) -> int | None:
    """Which of *slots* the teacher has at hand of others, or else marked last."""
    own = slots.filter(holder=teacher)
    at_hand = own.filter(~Q(planned=teacher) | Q(planned=None), lease_until__gt=now, marked=False)
    marks = Mark.objects.filter(teacher=teacher, slot__in=own.filter(marked=True)).order_by("-id")
    return (
        at_hand.order_by("pk").values_list("pk", flat=True).first()
        or marks.values_list("slot", flat=True).first()
    )


def _in_open_round() -> Exists:
    rounds = MarkingRound.objects.filter(answers=OuterRef("answer_id"), status=RoundStatus.OPEN)
    return Exists(rounds)


def _unless_taken(claim: Callable[[], int | None]) -> int | None:
    """Run *claim*; None where a rival request of the same person took a role meanwhile.

    On its own the update is a transaction; within one it must not break that.
    """
    try:
        with transaction.atomic() if connection.in_atomic_block else nullcontext():
            return claim()
    except IntegrityError:  # one_role_per_person_and_response
        return None


def skip(slot: Slot, teacher: User, *, now: datetime) -> bool:
    """Put the response at the end of the queue and give it free; True when it was held.

    It finalizes nothing: the number of statements would tell what the partner did. The clock does.
    What was passed with it goes to the end of its queue too.
    """
    row = Slot.objects.filter(pk=slot.pk, marked=False)
    with transaction.atomic():
        if not SLOT.release(row, teacher, skipped_at=now):
            return False
        _bring_back(slot.pk, teacher.pk, skipped_at=now)
    note_shown([(slot, teacher.pk)], now)
    return True


def renew(slot: Slot, teacher: User, *, now: datetime) -> bool:
    """Lengthen the lease of a teacher who is still at work; True when the slot is still theirs.

    What is held for longer already, on a sheet, stays so.
    """
    until = now + timedelta(minutes=slot.answer.round.lease_minutes)
    held = Slot.objects.filter(pk=slot.pk, holder=teacher, marked=False)
    shorter = held.filter(Q(lease_until=None) | Q(lease_until__lt=until))
    return shorter.update(lease_until=until) == 1 or held.exists()

"""Claiming the next response: by a lease, in one conditional update."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, Q

from evaluations.marking.desk.selectors.queue import (
    for_whom,
    free_for,
    going,
    on_sheet,
    passed,
    slots_left_to,
)
from evaluations.marking.desk.services.passing import bring_back, pass_by
from evaluations.marking.desk.services.slot_order import (
    Claimable,
    claimable_slots,
    own_slots,
    too_soon,
)
from evaluations.marking.desk.sql import claim_own, whole_slot
from evaluations.marking.services.reopening import NOT_PASSED, lock_answers
from evaluations.marking.services.showing import is_extra, note_shown
from evaluations.models import HelpOffer, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.common.leases import SLOT


def claim_next(teacher: User, *, round: MarkingRound | None = None, now: datetime) -> Slot | None:
    """The next response for *teacher*, held until the lease ends; None when there is none.

    Own planned ones first, in their fixed order, skipped ones last; then those
    that nobody holds, whoever they were planned for. A teacher never gets a
    second role on one response. Losing a race only means going on to the next. The checks of
    others that the teacher comes to on the way are passed, and what else is theirs alone
    (``pass_by``). With the first one of others, own checks that would come too soon are given up.
    """
    if round is not None and (slot := _claim_own(teacher, round, now)):
        return slot
    if round is not None and not round.pool.filter(teacher=teacher, paused=False).exists():
        return None  # else all blocks would be looked through
    on_the_way: list[Claimable] = []
    for one in claimable_slots(teacher, round, now):
        until = now + timedelta(minutes=one.lease_minutes)
        if one.to_pass:
            on_the_way.append(one)
        elif take(one.slot, teacher, until=until, now=now):
            pass_by(on_the_way, teacher, one.slot, many=False, now=now)
            slot = _whole(one.slot, round)
            if slot.planned_id != teacher.pk:
                give_up(slot, teacher, now)
            return slot
    pass_by(on_the_way, teacher, None, many=False, now=now)
    return None


def give_up(taken: Slot, teacher: User, now: datetime) -> None:
    """Plan for nobody what is left of the own queue when *teacher* helps out with *taken*.

    These are intra-rater checks whose first was marked just before. Given between responses of
    others, each would be known: what is planned for somebody is counted before it comes.
    """
    left = Slot.objects.filter(SLOT.free(now), ~going(now), too_soon(teacher), marked=False)
    left.filter(planned=teacher, answer__round=taken.answer.round_id).update(planned=None)


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


def take(
    slot: int, teacher: User, *, until: datetime, now: datetime, in_any_round: bool = False
) -> bool:
    """Claim the slot by one conditional update; True when *teacher* now holds it.

    Its round must be open, unless *in_any_round*. Whose lease on it has ended, and who takes what
    was not planned for them, has been shown the response (``HelpOffer``).
    """
    may_have = free_for(teacher, now) & for_whom(teacher, now)
    where = Q() if in_any_round else Q(_in_open_round())
    free = Slot.objects.filter(may_have, where, pk=slot, marked=False)
    given = {**SLOT.given(teacher, until), **NOT_PASSED, "skipped_at": None}
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
            bring_back(before.pk, before.holder_id, now=now)
        if before.planned_id != teacher.pk:
            offer = {"helping": True, "extra": is_extra(before), "at": now}
            HelpOffer.objects.update_or_create(
                answer_id=before.answer_id, teacher=teacher, defaults=offer
            )
    return True


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
        bring_back(slot.pk, teacher.pk, now=now, skipped_at=now)
    note_shown([(slot, teacher.pk)], now)
    return True


def asked_for(
    teacher: User, find: Callable[[User, UUID], Slot | None], answer: UUID, *, now: datetime
) -> Slot | None:
    """Return what *find* finds for a *teacher* who names an *answer*; None if it is not theirs.

    A response whose lease has ended is theirs as long as nobody takes it, and is held anew by being
    asked for. Else they could ask again and again which ones are gone.
    """
    slot = find(teacher, answer)
    if slot is None or slot.marked or slot.lease_until is None or slot.lease_until > now:
        return slot
    return slot if renew(slot, teacher, now=now) else None


def asked_for_again(
    teacher: User, find: Callable[[User, UUID], Slot | None], answer: UUID, *, now: datetime
) -> Slot | None:
    """The same; what *teacher* was shown, and nobody holds, is theirs again if planned for them.

    Its page is open still: meanwhile its rubric was replaced, its mark returned, or it was put
    aside in another window. What is typed there must not be refused as that of somebody else, nor
    in a pause, for which one changes a rubric, or after the close: then it is kept as a draft.
    """
    if (slot := asked_for(teacher, find, answer, now=now)) is not None:
        return slot
    shown = HelpOffer.objects.filter(answer=OuterRef("answer"), teacher=teacher)
    marked = Mark.objects.filter(slot=OuterRef("pk"), teacher=teacher)
    own = slots_left_to(teacher, now=now).filter(Exists(shown) | Exists(marked), planned=teacher)
    in_pool = Q(answer__round__pool__teacher=teacher, answer__round__pool__left_at=None)
    free = own.filter(in_pool, holder=None, answer__public_id=answer)
    again = free.select_related("answer__round").first()
    if again is None:
        return None
    until = now + timedelta(minutes=again.answer.round.lease_minutes)
    taken = take(again.pk, teacher, until=until, now=now, in_any_round=True)
    return find(teacher, answer) if taken else None


def renew(slot: Slot, teacher: User, *, now: datetime) -> bool:
    """Lengthen the lease of a teacher who is still at work; True when the slot is still theirs.

    What is on a sheet that has not ended stays there, until it ends.
    """
    until = now + timedelta(minutes=slot.answer.round.lease_minutes)
    held = Slot.objects.filter(~passed(now), pk=slot.pk, holder=teacher, marked=False)
    shorter = held.filter(Q(lease_until=None) | Q(lease_until__lt=until) & ~on_sheet(teacher, now))
    return shorter.update(lease_until=until, **NOT_PASSED) == 1 or held.exists()

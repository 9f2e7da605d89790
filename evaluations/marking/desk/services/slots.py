"""Claiming the next response: by a lease, in one conditional update."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluations.marking.desk.selectors.desk import whole
from evaluations.marking.desk.selectors.queue import for_whom, free_for
from evaluations.marking.desk.services.candidates import (
    Candidate,
    candidates,
    own_candidates,
    rounds_of,
)
from evaluations.marking.services.settling import lock, settle
from evaluations.models import MarkingRound, Slot
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.common.leases import SLOT
from gradeapp.prepared import prepared_update


def claim_next(teacher: User, *, round: MarkingRound | None = None, now: datetime) -> Slot | None:
    """The next response for *teacher*, held until the lease ends; None when there is none.

    Own planned ones first, in their fixed order, skipped ones last; then those
    that nobody holds, whoever they were planned for. A teacher never gets a
    second role on one response. Losing a race only means going on to the next.
    """
    return _first_taken(candidates(teacher, round, now), teacher, now)


def claim_ahead(slot: Slot, teacher: User, *, now: datetime) -> Slot | None:
    """The response after *slot*, held by the same lease while *slot* is still being marked.

    Only what is at hand already or was planned for *teacher*: whoever helps out
    takes no response from others before they can turn to it. One that is never
    turned to returns when its lease ends. The next claim gives the same response.
    """
    own = own_candidates(teacher, rounds_of(teacher, slot.answer.round), now)
    others = (one for one in own if one.answer != slot.answer_id)
    return _first_taken(others, teacher, now)


def _first_taken(ranked: Iterable[Candidate], teacher: User, now: datetime) -> Slot | None:
    """The first of *ranked* that no rival takes meanwhile, with all that the desk shows."""
    for one in ranked:
        if take(one.slot, teacher, until=now + timedelta(minutes=one.lease_minutes), now=now):
            (slot,) = whole(one.slot)
            return slot
    return None


def take(slot: int, teacher: User, *, until: datetime, now: datetime) -> bool:
    """Claim the slot by one conditional update; True when *teacher* now holds it."""
    # On its own the update is a transaction; within one it must not break that.
    apart = transaction.atomic() if connection.in_atomic_block else nullcontext()
    try:
        with apart:
            return _hold(slot, teacher.pk, until, now) == 1
    except IntegrityError:  # one_role_per_person_and_response: a rival request of the same person
        return False


@prepared_update
def _hold(
    slot: int, teacher: int, until: datetime, now: datetime
) -> tuple[QuerySet[Slot, Slot], dict[str, Any]]:
    in_open_round = Exists(
        MarkingRound.objects.filter(answers=OuterRef("answer_id"), status=RoundStatus.OPEN)
    )
    may_have = free_for(teacher, now) & for_whom(teacher)
    free = Slot.objects.filter(may_have, in_open_round, pk=slot, marked=False)
    return free, {**SLOT.given(teacher, until), "skipped_at": None}


def skip(slot: Slot, teacher: User, *, now: datetime) -> bool:
    """Put the response at the end of the queue and give it free; True when it was held.

    What a revision settled while this teacher had the response at hand becomes final now.
    """
    with transaction.atomic():
        answer = lock(slot.answer_id)
        row = Slot.objects.filter(pk=slot.pk, marked=False)
        if not SLOT.release(row, teacher, skipped_at=now):
            return False
        settle(answer, now=now)
    return True


def renew(slot: Slot, teacher: User, *, now: datetime) -> bool:
    """Lengthen the lease of a teacher who is still at work; True when the slot is still theirs.

    What is held for longer already, on a sheet, stays so.
    """
    until = now + timedelta(minutes=slot.answer.round.lease_minutes)
    held = Slot.objects.filter(pk=slot.pk, holder=teacher, marked=False)
    shorter = held.filter(Q(lease_until=None) | Q(lease_until__lt=until))
    return shorter.update(lease_until=until) == 1 or held.exists()

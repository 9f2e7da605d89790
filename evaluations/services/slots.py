"""Claiming the next response: by a lease, in one conditional update."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Case, Exists, F, IntegerField, OuterRef, Q, QuerySet, Value, When

from evaluations.models import Mark, MarkingRound, Slot
from evaluations.models.vocabulary import RoundStatus, SlotKind
from evaluations.rules.marking.seed_answers import LEAST_GAP
from evaluations.selectors.desk import WHOLE
from evaluations.selectors.queue import for_whom, free_for, slots_open_to
from evaluations.services.settling import lock, settle
from gradeapp.accounts.models import User

MOST_TRIES = 50
Place = tuple[int, bytes, bytes]
# Ranks in the queue: at hand, planned for me, planned and skipped, to be taken over, the same
# and skipped, a self-repeat that its first has hardly left. What is at hand comes back first, so
# that a draft finds its teacher again.
AT_HAND, PLANNED, PLANNED_SKIPPED, OTHERS, OTHERS_SKIPPED, TOO_SOON = range(6)


def claim_next(teacher: User, *, round: MarkingRound | None = None, now: datetime) -> Slot | None:
    """The next response for *teacher*, held until the lease ends; None when there is none.

    Own planned ones first, in their fixed order, skipped ones last; then those
    that nobody holds, whoever they were planned for. A teacher never gets a
    second role on one response. Losing a race only means going on to the next.
    """
    for slot, lease_minutes in _candidates(teacher, round, now):
        if take(slot, teacher, until=now + timedelta(minutes=lease_minutes), now=now):
            return Slot.objects.select_related(*WHOLE).get(pk=slot)
    return None


def claim_ahead(slot: Slot, teacher: User, *, now: datetime) -> Slot | None:
    """The response after *slot*, held by the same lease while *slot* is still being marked.

    Only what is at hand already or was planned for *teacher*: whoever helps out
    takes no response from others before they can turn to it. One that is never
    turned to returns when its lease ends. The next claim gives the same response.
    """
    others = slots_open_to(teacher, slot.answer.round).exclude(answer=slot.answer_id)
    for pk, lease_minutes in _own(_ranked(others.filter(free_for(teacher, now)), teacher)):
        if take(pk, teacher, until=now + timedelta(minutes=lease_minutes), now=now):
            return Slot.objects.select_related(*WHOLE).get(pk=pk)
    return None


def take(slot: int, teacher: User, *, until: datetime, now: datetime) -> bool:
    """One conditional update: True when *teacher* now holds the slot.

    Every condition stands on the slot's own row. A join would make Django wrap
    them into a subquery, which PostgreSQL does not evaluate again after waiting
    for a rival's update: both would win.
    """
    in_open_round = Exists(
        MarkingRound.objects.filter(answers=OuterRef("answer_id"), status=RoundStatus.OPEN)
    )
    may_have = free_for(teacher, now) & for_whom(teacher)
    free = Slot.objects.filter(may_have, in_open_round, pk=slot, marked=False)
    try:
        with transaction.atomic():
            return free.update(holder=teacher, lease_until=until, skipped_at=None) == 1
    except IntegrityError:  # one_role_per_person_and_response: a rival request of the same person
        return False


def skip(slot: Slot, teacher: User, *, now: datetime) -> bool:
    """Put the response at the end of the queue and give it free; True when it was held.

    What a revision settled while this teacher had the response at hand becomes final now.
    """
    with transaction.atomic():
        answer = lock(slot.answer_id)
        held = Slot.objects.filter(pk=slot.pk, holder=teacher, marked=False)
        if not held.update(holder=None, lease_until=None, skipped_at=now):
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


def _candidates(
    teacher: User, marking_round: MarkingRound | None, now: datetime
) -> Iterator[tuple[int, int]]:
    """Keys of slots worth a try with the minutes of their lease, best first."""
    ranked = _ranked(slots_open_to(teacher, marking_round).filter(free_for(teacher, now)), teacher)
    yield from _own(ranked)
    columns = ("rank", "answer__round__random_seed", "answer__question", "answer")
    rows = ranked.filter(rank__gte=OTHERS).values_list(
        *columns, "pk", "answer__round__lease_minutes"
    )
    for row in sorted(rows, key=lambda row: _place(teacher, *row[:4])):
        yield row[4], row[5]


def _own(ranked: QuerySet[Any]) -> list[tuple[int, int]]:
    """What is at hand or planned for the teacher, best first."""
    own = ranked.filter(rank__lt=OTHERS).order_by("rank", "skipped_at", "answer__round", "order")
    return list(own.values_list("pk", "answer__round__lease_minutes")[:MOST_TRIES])


def _ranked(slots: QuerySet[Slot], teacher: User) -> QuerySet[Any]:
    skipped = Q(skipped_at__isnull=False)
    lately = Mark.objects.filter(teacher=teacher, version=F("slot__void_version") + 1, stale=False)
    answers = lately.order_by("-id").values("slot__answer")[: LEAST_GAP - 1]
    rank = Case(
        When(holder=teacher, then=Value(AT_HAND)),
        When(kind=SlotKind.REPEAT, answer__repeat_of__in=answers, then=Value(TOO_SOON)),
        When(skipped, planned=teacher, then=Value(PLANNED_SKIPPED)),
        When(planned=teacher, then=Value(PLANNED)),
        When(skipped, then=Value(OTHERS_SKIPPED)),
        default=Value(OTHERS),
        output_field=IntegerField(),
    )
    return slots.annotate(rank=rank)


def _place(teacher: User, rank: int, random_seed: int, question: int, answer: int) -> Place:
    """Where a response stands when *teacher* helps out: fixed, in blocks, and not as others see it.

    It does not depend on the slot: a third mark must not stand out by its place.
    """
    block = _lot(random_seed, teacher.pk, "block", question)
    return rank, block, _lot(random_seed, teacher.pk, "response", answer)


def _lot(*parts: int | str) -> bytes:
    return hashlib.sha256(repr(parts).encode("utf-8")).digest()

"""Which responses a teacher may be given next, best first, without reading the whole round."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from django.db.models import Q, QuerySet

from evaluations.marking.desk.selectors.queue import free_for, slots_open_to
from evaluations.marking.rules.seed_answers import LEAST_GAP
from evaluations.models import BlindAnswer, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import RoundStatus, SlotKind
from gradeapp.accounts.models import User
from gradeapp.prepared import prepared

MOST_TRIES = 50
LAST_VERSIONS = 60
# So many blocks of a round are looked into one by one before all that is open is read.
FIRST_BLOCKS = 16
Key = tuple[int, int]


class Candidate(NamedTuple):
    """A slot worth a try, its response, and the minutes of its lease."""

    slot: int
    answer: int
    lease_minutes: int


def candidates(
    teacher: User, marking_round: MarkingRound | None, now: datetime
) -> Iterator[Candidate]:
    """Slots for *teacher* in the order in which they are given out.

    What is at hand comes first, so that a draft finds its teacher again; then
    what was planned for them, in its fixed order, and what of that they skipped;
    then what others left; last a self-repeat that its first has hardly left.
    """
    rounds = rounds_of(teacher, marking_round)
    yield from own_candidates(teacher, rounds, now)
    yield from _first_blocks(teacher, rounds, now)
    for rows in (_left_by_others, _skipped_by_others):
        yield from _in_blocks(teacher, rounds, now, rows)
    lately = lately_marked(teacher)
    found = [
        (one, row) for one in rounds for row in _repeated_too_soon(teacher.pk, one.pk, now, *lately)
    ]
    yield from _placed(teacher, found)


def own_candidates(
    teacher: User, rounds: Sequence[MarkingRound], now: datetime
) -> Iterator[Candidate]:
    """What is at hand or planned for the teacher, best first."""
    for marking_round in rounds:
        for slot, answer in _at_hand(teacher.pk, marking_round.pk, now):
            yield Candidate(slot, answer, marking_round.lease_minutes)
    lately = lately_marked(teacher)
    for rows in (_planned, _planned_and_skipped):
        for marking_round in rounds:
            for slot, answer in rows(teacher.pk, marking_round.pk, now, *lately):
                yield Candidate(slot, answer, marking_round.lease_minutes)


def rounds_of(teacher: User, marking_round: MarkingRound | None) -> list[MarkingRound]:
    """The open rounds in which *teacher* may be given something, oldest first.

    Of one that is named it is asked together with its slots whether it is open.
    """
    return _open_rounds(teacher.pk) if marking_round is None else [marking_round]


def _first_blocks(
    teacher: User, rounds: Sequence[MarkingRound], now: datetime
) -> Iterator[Candidate]:
    """What others left in the blocks that come first when *teacher* helps out."""
    blocks = sorted(
        (_lot(one.random_seed, teacher.pk, "block", question), place, question)
        for place, one in enumerate(rounds)
        for question in _questions(one.pk, one.created_at)
    )
    for _block, place, question in islice(blocks, FIRST_BLOCKS):
        found = _left_in_block(teacher.pk, rounds[place].pk, now, question)
        yield from _placed(teacher, [(rounds[place], row) for row in found])


def _in_blocks(
    teacher: User,
    rounds: Sequence[MarkingRound],
    now: datetime,
    rows: Callable[[int, int, datetime], list[tuple[int, int, int]]],
) -> Iterator[Candidate]:
    """All of one kind in the blocks and the order of *teacher*."""
    found = [(one, row) for one in rounds for row in rows(teacher.pk, one.pk, now)]
    yield from _placed(teacher, found)


def _placed(
    teacher: User, found: Sequence[tuple[MarkingRound, tuple[int, int, int]]]
) -> Iterator[Candidate]:
    """Where responses stand when *teacher* helps out: fixed, in blocks, not as others see it.

    It does not depend on the slot: a third mark must not stand out by its place.
    """
    placed = []
    for marking_round, (slot, answer, question) in found:
        seed = marking_round.random_seed
        block = _lot(seed, teacher.pk, "block", question)
        place = (block, _lot(seed, teacher.pk, "response", answer))
        placed.append((place, Candidate(slot, answer, marking_round.lease_minutes)))
    for _place, candidate in sorted(placed):
        yield candidate


def _lot(*parts: int | str) -> bytes:
    return hashlib.sha256(repr(parts).encode("utf-8")).digest()


@prepared
def _open_rounds(teacher: int) -> QuerySet[MarkingRound, MarkingRound]:
    own = MarkingRound.objects.filter(pool__teacher=teacher, pool__paused=False)
    return own.filter(status=RoundStatus.OPEN).order_by("id")


@lru_cache(maxsize=200)
def _questions(marking_round: int, created_at: datetime) -> tuple[int, ...]:
    """The questions of a round, which are fixed when it opens."""
    answers = BlindAnswer.objects.filter(round=marking_round, round__created_at=created_at)
    return tuple(answers.order_by().values_list("question", flat=True).distinct())


def _free(teacher: int, marking_round: int, now: datetime) -> QuerySet[Slot, Slot]:
    return slots_open_to(teacher, marking_round).filter(free_for(teacher, now))


def lately_marked(teacher: User) -> tuple[int, ...]:
    """The last responses that *teacher* marked, newest first: always so many, the rest are 0.

    Revisions do not count; of a teacher who revised more than fifty times in a row,
    fewer responses are known.
    """
    rows = _last_versions(teacher.pk)
    first = [answer for answer, version, void in rows if version == void + 1]
    return (*first, *(0,) * LEAST_GAP)[: LEAST_GAP - 1]


@prepared
def _last_versions(teacher: int) -> QuerySet[Mark, tuple[int, int, int]]:
    own = Mark.objects.filter(teacher=teacher, stale=False).order_by("-id")
    return own.values_list("slot__answer", "version", "slot__void_version")[:LAST_VERSIONS]


def _too_soon(lately: Sequence[int]) -> Q:
    """A self-repeat whose first was marked *lately*."""
    return Q(kind=SlotKind.REPEAT, answer__repeat_of__in=lately)


@prepared
def _at_hand(teacher: int, marking_round: int, now: datetime) -> QuerySet[Slot, Key]:
    held = _free(teacher, marking_round, now).filter(holder=teacher)
    return held.order_by("order").values_list("pk", "answer")[:MOST_TRIES]


def _own(
    teacher: int, marking_round: int, now: datetime, lately: Sequence[int]
) -> QuerySet[Slot, Slot]:
    own = _free(teacher, marking_round, now).filter(~_too_soon(lately), planned=teacher)
    return own.exclude(holder=teacher)


@prepared
def _planned(teacher: int, marking_round: int, now: datetime, *lately: int) -> QuerySet[Slot, Key]:
    own = _own(teacher, marking_round, now, lately).filter(skipped_at=None)
    return own.order_by("order").values_list("pk", "answer")[:MOST_TRIES]


@prepared
def _planned_and_skipped(
    teacher: int, marking_round: int, now: datetime, *lately: int
) -> QuerySet[Slot, Key]:
    own = _own(teacher, marking_round, now, lately).filter(skipped_at__isnull=False)
    return own.order_by("skipped_at", "order").values_list("pk", "answer")[:MOST_TRIES]


def _others(
    teacher: int, marking_round: int, now: datetime, *which: Q
) -> QuerySet[Slot, tuple[int, int, int]]:
    """Slots of others, those that were planned for nobody, and thirds."""
    left = _free(teacher, marking_round, now).filter(*which).exclude(holder=teacher)
    return left.order_by().values_list("pk", "answer", "answer__question")


def _not_mine(teacher: int) -> Q:
    return Q(planned=None) | ~Q(planned=teacher)


@prepared
def _left_in_block(
    teacher: int, marking_round: int, now: datetime, question: int
) -> QuerySet[Slot, tuple[int, int, int]]:
    which = Q(skipped_at=None, answer__question=question)
    return _others(teacher, marking_round, now, which, _not_mine(teacher))


@prepared
def _left_by_others(
    teacher: int, marking_round: int, now: datetime
) -> QuerySet[Slot, tuple[int, int, int]]:
    return _others(teacher, marking_round, now, Q(skipped_at=None), _not_mine(teacher))


@prepared
def _skipped_by_others(
    teacher: int, marking_round: int, now: datetime
) -> QuerySet[Slot, tuple[int, int, int]]:
    skipped = Q(skipped_at__isnull=False)
    return _others(teacher, marking_round, now, skipped, _not_mine(teacher))


@prepared
def _repeated_too_soon(
    teacher: int, marking_round: int, now: datetime, *lately: int
) -> QuerySet[Slot, tuple[int, int, int]]:
    return _others(teacher, marking_round, now, _too_soon(lately))

"""Checks hidden in a teacher's queue: seed answers, and own responses that come back.

Seed answers (种子卷) as in on-screen marking: one in so many, more of them at
the start. Intra-rater checks as in intra-rater reliability studies: a small share of
a teacher's own responses a second time. Both stand among the responses to the
same question, so that their place says nothing. All lots follow from the random
seed by SHA-256, as in the assignment plan.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum

Id = int | str
# An intra-rater check comes so many responses after its first at the earliest.
LEAST_GAP = 10
# A queue of so many responses has one intra-rater check at least, whatever the share comes to.
ENOUGH_FOR_ONE = 30


class Role(StrEnum):
    """What a place of a queue holds."""

    OWN = "own"
    SEED = "seed"
    REPEAT = "repeat"


@dataclass(frozen=True, slots=True)
class Placed:
    """One place of a queue: ``item`` is a response, a seed answer, or the first of a repeat."""

    item: Id
    block: Hashable
    role: Role = Role.OWN


@dataclass(frozen=True, slots=True)
class Cadence:
    """One seed answer in ``first_every`` of the first ``first`` places, then in ``later_every``."""

    first: int = 60
    first_every: int = 10
    later_every: int = 20

    def window(self, places: int) -> int:
        """How many places share one seed answer once *places* are filled."""
        return self.first_every if places < self.first else self.later_every


DEFAULT_CADENCE = Cadence()


@dataclass(frozen=True, slots=True)
class Lots:
    """The lots of one teacher in one round: as good as random, and the same everywhere."""

    random_seed: int
    teacher: Id

    def of(self, purpose: str, *parts: Id) -> bytes:
        """The lot of one thing for one purpose."""
        drawn = repr((self.random_seed, self.teacher, purpose, *parts))
        return hashlib.sha256(drawn.encode("utf-8")).digest()


def with_seeds(
    queue: Sequence[Placed],
    seeds: Sequence[tuple[Id, Hashable]],
    cadence: Cadence,
    lots: Lots,
) -> list[Placed]:
    """*queue* with *seeds* among it, each once at most and among responses of its block.

    *seeds* are (seed answer, block) pairs. The queue is cut into windows of one
    seed answer and the own responses that share it; the seed's place in its
    window is drawn, never before the queue's first response and never beside
    another seed. A window without a free seed answer of its blocks has none, nor
    has a last one that is not half full. The order of the queue stays. Raises
    ValueError for a cadence below 2.
    """
    if min(cadence.first_every, cadence.later_every) < 2:
        raise ValueError("a seed answer shares its window with a response at least")
    free: dict[Hashable, list[Id]] = defaultdict(list)
    for seed, block in sorted(seeds, key=lambda pair: lots.of("seed", pair[0])):
        free[block].append(seed)
    placed: list[Placed] = []
    start = 0
    while start < len(queue):
        own = cadence.window(len(placed)) - 1
        window = queue[start : start + own]
        full = 2 * len(window) >= own
        found = _draw(placed, window, free, lots) if full else None
        if found is None:
            placed += window
        else:
            gap, block = found
            seed_answer = Placed(free[block].pop(), block, Role.SEED)
            placed += [*window[:gap], seed_answer, *window[gap:]]
        start += own
    return placed


def repeats_due(responses: int, share: Decimal) -> int:
    """How many of a teacher's *responses* come back: *share* (0 to 1) of them, half rounded up.

    One at least from ``ENOUGH_FOR_ONE`` responses on; none for a share of 0.
    Raises ValueError for a share outside 0 to 1.
    """
    if not 0 <= share <= 1:
        raise ValueError("a share is from 0 to 1")
    if not share:
        return 0
    due = int((responses * share).quantize(Decimal(1), ROUND_HALF_UP))
    return max(due, 1 if responses >= ENOUGH_FOR_ONE else 0)


def with_repeats(queue: Sequence[Placed], number: int, lots: Lots) -> list[Placed]:
    """*queue* with *number* of its own responses a second time, as far as they find a place.

    A repeat stands ``LEAST_GAP`` places or more behind its first: among the
    responses to the same question where there is such a place, otherwise between
    two blocks or at the end. Which responses come back, and where, is drawn; those
    that can stay in their block come first. Each comes back once at most. The
    order of the rest stays. Raises ValueError for a negative number.
    """
    if number < 0:
        raise ValueError("the number of repeats is not negative")
    own = [place for place in queue if place.role is Role.OWN]
    left = sorted(own, key=lambda place: lots.of("repeat", place.item))
    placed = list(queue)
    for gaps_behind in (_gaps_in_block, _gaps_between_blocks):
        chosen = set()
        where = {place: number for number, place in enumerate(placed)}
        for first in left:
            if len(placed) - len(queue) == number:
                break
            if gaps := list(gaps_behind(placed, where[first])):
                gap = min(gaps, key=lambda gap: lots.of("gap", f"{first.item}", gap))
                placed.insert(gap, Placed(first.item, first.block, Role.REPEAT))
                where = {place: number for number, place in enumerate(placed)}
                chosen.add(first)
        left = [first for first in left if first not in chosen]
    return placed


def _draw(
    placed: Sequence[Placed],
    window: Sequence[Placed],
    free: Mapping[Hashable, Sequence[Id]],
    lots: Lots,
) -> tuple[int, Hashable] | None:
    """Before which of the *window*'s responses, and of which block beside it, a seed may stand."""
    gaps = [gap for gap in range(len(window)) if placed or gap]
    for gap in sorted(gaps, key=lambda gap: lots.of("place", len(placed), gap)):
        before = window[gap - 1] if gap else placed[-1]
        for block in (window[gap].block, before.block):
            if free.get(block):
                return gap, block
    return None


def _gaps_in_block(placed: Sequence[Placed], first: int) -> Iterator[int]:
    """Where the response at *first* may be inserted again without leaving its block."""
    block = placed[first].block
    for gap in range(first + LEAST_GAP, len(placed) + 1):
        if placed[gap - 1].block != block and (gap == len(placed) or placed[gap].block != block):
            return
        yield gap


def _gaps_between_blocks(placed: Sequence[Placed], first: int) -> Iterator[int]:
    """Where it may be inserted so that no other block is torn apart; the end is such a place."""
    for gap in range(first + LEAST_GAP, len(placed) + 1):
        if gap == len(placed) or placed[gap - 1].block != placed[gap].block:
            yield gap

"""A whole round planned at once: everybody's queue with the checks that are hidden in it.

The assignment plan spreads the marks, then seed answers and intra-rater checks are put
among them. The same rule tells the load before a round exists and makes its slots
when it starts, so that what the lead was shown is what is made.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from decimal import Decimal

from evaluations.marking.rules.assignment_plan import plan
from evaluations.marking.rules.seed_answers import (
    DEFAULT_CADENCE,
    Cadence,
    Id,
    Lots,
    Placed,
    Role,
    repeats_due,
    with_repeats,
    with_seeds,
)

Block = tuple[Id, Hashable]


@dataclass(frozen=True, slots=True)
class Checks:
    """What is hidden in the queues of a round.

    ``seeds`` are (seed answer, block) pairs, ``repeat_share`` is from 0 to 1.
    ``known`` names seed answers that a teacher marked or was shown elsewhere, or gave the
    reference of: they would recognise the text, and a check of these would check nothing.
    """

    seeds: Sequence[Block] = ()
    cadence: Cadence = DEFAULT_CADENCE
    repeat_share: Decimal = Decimal(0)
    known: Mapping[Id, AbstractSet[Id]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """The ``order``-th place of a teacher's queue; ``slot`` is 1 or 2, of a check None."""

    teacher: Id
    order: int
    item: Id
    role: Role
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class TeacherLoad:
    """What falls to one teacher, counted in responses."""

    first: int
    second: int
    seeds: int
    repeats: int

    @property
    def all(self) -> int:
        """Everything in the queue."""
        return self.first + self.second + self.seeds + self.repeats


@dataclass(frozen=True, slots=True)
class OpenMark:
    """A place of a queue that nobody has begun, and who it is planned for.

    A check is given up to nobody. What ``stays`` with its teacher is the first response of an
    intra-rater check.
    """

    key: Id
    item: Id
    block: Hashable
    planned: Id
    is_check: bool = False
    stays: bool = False


@dataclass(frozen=True, slots=True)
class Shares:
    """What newcomers get, each in the order of their queue, and the checks that are given up."""

    given: dict[Id, list[OpenMark]]
    checks: list[OpenMark]


def plan_round(
    items: Sequence[Block],
    teachers: Sequence[Id],
    marks_per_item: int,
    random_seed: int,
    checks: Checks | None = None,
) -> list[QueuePlace]:
    """Everybody's whole queue. Raises ValueError as ``assignment_plan.plan`` does."""
    block_of = dict(items)
    marks: dict[Id, dict[Id, int]] = defaultdict(dict)
    for mark in sorted(plan(items, teachers, marks_per_item, random_seed), key=lambda m: m.order):
        marks[mark.teacher][mark.item] = mark.slot
    places: list[QueuePlace] = []
    for teacher, own in marks.items():
        queue = [Placed(item, block_of[item]) for item in own]
        hidden = with_checks(queue, checks or Checks(), Lots(random_seed, teacher))
        places += [
            QueuePlace(teacher, order, one.item, one.role, _slot(one, own))
            for order, one in enumerate(hidden, start=1)
        ]
    return places


def with_checks(queue: Sequence[Placed], checks: Checks, lots: Lots) -> list[Placed]:
    """One teacher's *queue* with the seed answers and repeats that are theirs."""
    known = checks.known.get(lots.teacher, frozenset())
    seeds = [(seed, block) for seed, block in checks.seeds if seed not in known]
    due = repeats_due(len(queue), checks.repeat_share)
    return with_repeats(with_seeds(queue, seeds, checks.cadence, lots), due, lots)


def loads_of(places: Sequence[QueuePlace], teachers: Sequence[Id]) -> dict[Id, TeacherLoad]:
    """How much falls to each of *teachers*."""
    counts = Counter((place.teacher, place.role, place.slot) for place in places)
    return {
        teacher: TeacherLoad(
            first=counts[teacher, Role.OWN, 1],
            second=counts[teacher, Role.OWN, 2],
            seeds=counts[teacher, Role.SEED, None],
            repeats=counts[teacher, Role.REPEAT, None],
        )
        for teacher in teachers
    }


def share_with_new_teachers(
    left: Sequence[OpenMark],
    roles: Mapping[Id, AbstractSet[Id]],
    new_teachers: Sequence[Id],
    teachers: Sequence[Id],
    random_seed: int,
) -> Shares:
    """Which of the marks that nobody has begun go to each of *new_teachers*.

    *left* stands in the order of the blocks, *roles* names everybody who has or is
    planned for a mark of an item, *teachers* all who mark from now on, those
    among them. Each of the others gives up the part of their own queue that the new
    teachers are of all, rounded down, checks like the rest: how many tells neither how far the
    others are nor how many checks there are, and what stays has no more of them than before. The
    queues are walked in a drawn order and marks go to the new teacher with the fewest. Nobody gets
    two marks of one item. Each queue comes back block by block, shuffled within the block as
    in the plan.
    """
    own = Counter(mark.planned for mark in left)
    quota = {one: own[one] * len(new_teachers) // max(len(teachers), 1) for one in own}
    load: Counter[Id] = Counter()
    taken = {item: set(people) for item, people in roles.items()}
    given: dict[Id, list[OpenMark]] = {new_teacher: [] for new_teacher in new_teachers}
    checks: list[OpenMark] = []
    ordered = sorted(left, key=lambda mark: _lot(random_seed, "newcomers", mark.key))
    for mark in ordered:
        possible = [one for one in new_teachers if one not in taken.get(mark.item, ())]
        if not quota[mark.planned] or mark.stays or not (possible or mark.is_check):
            continue
        quota[mark.planned] -= 1
        if mark.is_check:
            checks.append(mark)
            continue
        chosen = min(possible, key=lambda one: (load[one], new_teachers.index(one)))
        load[chosen] += 1
        taken.setdefault(mark.item, set()).discard(mark.planned)
        taken[mark.item].add(chosen)
        given[chosen].append(mark)
    blocks = {block: n for n, block in enumerate(dict.fromkeys(mark.block for mark in left))}
    for new_teacher, marks in given.items():
        marks.sort(key=lambda m: (blocks[m.block], _lot(random_seed, "queue", new_teacher, m.item)))
    return Shares(given, checks)


def _slot(place: Placed, own: Mapping[Id, int]) -> int | None:
    return own[place.item] if place.role is Role.OWN else None


def _lot(*parts: Id) -> bytes:
    return hashlib.sha256(repr(parts).encode("utf-8")).digest()

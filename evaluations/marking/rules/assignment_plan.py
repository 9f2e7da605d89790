"""Who marks what, and in which order: planned once per round from a stored random seed.

Everything follows from the random seed by SHA-256, so that a plan comes out the
same on every machine and every Python version; ``random`` promises that only for
some of its methods.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

Id = int | str


@dataclass(frozen=True, slots=True)
class Planned:
    """One mark to be given: ``slot`` 1 or 2 of ``item``, ``order``-th in the teacher's queue."""

    item: Id
    slot: int
    teacher: Id
    order: int


def plan(
    items: Sequence[tuple[Id, Hashable]],
    teachers: Sequence[Id],
    marks_per_item: int,
    random_seed: int,
) -> list[Planned]:
    """Give every item one or two marks by different teachers, evenly.

    *items* are (item, block) pairs. Over all teachers the numbers of first
    marks, of second marks and of both together each differ by at most one, and
    who is paired with whom changes from item to item. Blocks come one after
    another in each teacher's queue, in the order in which they first appear;
    within a block the order is shuffled for each teacher anew and says nothing
    of the slot. Does not depend on the order of teachers, nor on that of items
    within a block. Sorted by teacher (as in *teachers*) and order.

    Raises ValueError for marks_per_item other than 1 or 2, fewer teachers than
    marks per item, or an item or a teacher that comes twice.
    """
    _check(items, teachers, marks_per_item)
    places: dict[Hashable, int] = {}
    for _, block in items:
        places.setdefault(block, len(places))
    block_of = {item: places[block] for item, block in items}

    # Walked block by block, so that the loads are near even within each block too.
    ordered = sorted(block_of, key=lambda item: (block_of[item], _key(random_seed, "item", item)))
    teacher_order = sorted(teachers, key=lambda teacher: _key(random_seed, "teacher", teacher))
    given: dict[Id, list[tuple[Id, int]]] = {teacher: [] for teacher in teachers}
    for place, item in enumerate(ordered):
        for slot in range(1, marks_per_item + 1):
            given[_teacher(teacher_order, place, slot, len(ordered))].append((item, slot))

    planned: list[Planned] = []
    for teacher, queue in given.items():
        queue.sort(
            key=lambda mark: (block_of[mark[0]], _key(random_seed, "queue", teacher, mark[0]))
        )
        planned += [Planned(item, slot, teacher, n) for n, (item, slot) in enumerate(queue, 1)]
    return planned


def _teacher(teacher_order: Sequence[Id], place: int, slot: int, items: int) -> Id:
    """The teacher of one slot of the item at *place* of the order.

    First marks go round the teachers in their order. A second mark goes to the teacher some steps
    further, the same number of steps for a whole round, so that each round gives
    everybody one more; the number changes with the round and is never a whole
    turn. In the last round, when only r items are left, it is r steps: second
    marks then begin with those who get no first mark in that round.
    """
    size = len(teacher_order)
    turn, start = divmod(place, size)
    if slot == 1:
        return teacher_order[start]
    left = items - turn * size
    steps = left if left < size else 1 + turn % (size - 1)
    return teacher_order[(start + steps) % size]


def _check(
    items: Sequence[tuple[Id, Hashable]], teachers: Sequence[Id], marks_per_item: int
) -> None:
    if marks_per_item not in (1, 2):
        raise ValueError("an item is planned for one or two marks")
    if len(teachers) < marks_per_item:
        raise ValueError(f"{marks_per_item} marks per item need as many teachers")
    if len(set(teachers)) != len(teachers):
        raise ValueError("a teacher comes twice")
    if len({item for item, _ in items}) != len(items):
        raise ValueError("an item comes twice")


def _key(random_seed: int, *parts: Id) -> bytes:
    """A place in a shuffle: as good as random, and the same everywhere."""
    return hashlib.sha256(repr((random_seed, *parts)).encode("utf-8")).digest()

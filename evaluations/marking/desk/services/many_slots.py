"""Claiming many responses at once, for a sheet: those that the desk would give one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from django.db.models import Q

from evaluations.marking.desk.selectors.queue import free_for, slots_open_to
from evaluations.marking.desk.services.passing import bring_back, pass_by
from evaluations.marking.desk.services.slot_order import (
    EVERY,
    Claimable,
    own_slots,
    slots_after_own,
)
from evaluations.marking.desk.services.slots import give_up
from evaluations.marking.services.reopening import NOT_PASSED, lock_answers
from evaluations.marking.services.showing import is_extra, note_shown
from evaluations.models import HelpOffer, MarkingRound, Slot
from gradeapp.accounts.models import User
from gradeapp.common.leases import SLOT


@dataclass(frozen=True, slots=True)
class NextSlots:
    """The next slots of a teacher, each with what they pass on the way to it.

    ``passed_after`` is what they pass after the last one, where nothing more is left to take.
    """

    slots: list[tuple[Claimable, list[Claimable]]] = field(default_factory=list)
    passed_after: list[Claimable] = field(default_factory=list)

    def answers(self) -> set[int]:
        """All blind answers that these are of."""
        ways = chain.from_iterable([one, *passed] for one, passed in self.slots)
        return {one.answer for one in chain(ways, self.passed_after)}


def next_slots(
    teacher: User, marking_round: MarkingRound, number: int, *, which: Q = EVERY, now: datetime
) -> NextSlots:
    """Return what ``claim_next`` would give *number* times, and claim nothing.

    The order is gone through once: asked for anew with each response, the same blocks, in which
    nothing is left, and in the end the whole round would be read again for each. *which* says what
    of the own queue may be among them.
    """
    found, on_the_way = NextSlots(), list[Claimable]()
    seen, passed = set[int](), set[int]()
    own = own_slots(teacher, [marking_round], now, which=which, most=number)
    for one in chain(own, slots_after_own(teacher, [marking_round], now)):
        if one.to_pass and one.slot not in passed:
            passed.add(one.slot)
            on_the_way.append(one)
        elif not one.to_pass and one.answer not in seen:  # of two marks of a response, one
            seen.add(one.answer)
            found.slots.append((one, on_the_way))
            on_the_way = []
            if len(found.slots) == number:
                return found
    found.passed_after.extend(on_the_way)
    return found


def claim_many(
    found: NextSlots,
    teacher: User,
    marking_round: MarkingRound,
    *,
    which: Q,
    until: datetime,
    many: bool,
    now: datetime,
) -> int:
    """Claim what is still free of what ``next_slots`` *found*; how many responses.

    It is all or nothing in the caller's transaction: what a request that ends in the middle had
    taken would be held for nobody. Answers are locked before slots, as in a save, all at once and
    in one order; each slot is written once, as PostgreSQL looks at the answer of one that is
    written twice at the end, and waits for it. Once the rows are locked, what is read is what is
    updated. *many* is whether more than one response was asked for.
    """
    lock_answers(sorted(found.answers()))
    rows = Slot.objects.filter(answer__in=found.answers())
    list(rows.order_by("pk").select_for_update().values_list("pk", flat=True))
    free = slots_open_to(teacher, marking_round, now=now).filter(free_for(teacher, now), which)
    free = free.filter(pk__in=[one.slot for one, _passed in found.slots])
    before = list(free.select_related("answer__round"))
    if helped := _of_others(before, teacher):
        give_up(helped[0], teacher, now)
        before = list(free.select_related("answer__round"))
    taken = {slot.pk for slot in before}
    if found.slots and not taken:
        return 0
    given = {**SLOT.given(teacher, until), **NOT_PASSED, "skipped_at": None}
    Slot.objects.filter(pk__in=taken).update(**given)
    _note_helping(before, teacher, now)
    on_the_way: list[Claimable] = []
    for one, passed in found.slots:
        on_the_way += passed
        if one.slot in taken:
            pass_by(on_the_way, teacher, one.slot, many=many, now=now)
            on_the_way = []
    pass_by([*on_the_way, *found.passed_after], teacher, None, many=many, now=now)
    return len(taken)


def _note_helping(before: Sequence[Slot], teacher: User, now: datetime) -> None:
    """Keep who was shown what *teacher* took, as they were *before*; as ``slots.take`` does."""
    others = [(slot, slot.holder_id) for slot in before if slot.holder_id]
    left = [(slot, holder) for slot, holder in others if holder != teacher.pk]
    note_shown(left, now)
    for slot, holder in left:
        bring_back(slot.pk, holder, now=now)
    offers = [
        HelpOffer(
            answer_id=slot.answer_id, teacher=teacher, helping=True, extra=is_extra(slot), at=now
        )
        for slot in _of_others(before, teacher)
    ]
    HelpOffer.objects.bulk_create(
        offers,
        update_conflicts=True,
        unique_fields=["answer", "teacher"],
        update_fields=["helping", "extra", "at"],
    )


def _of_others(slots: Sequence[Slot], teacher: User) -> list[Slot]:
    """Those that *teacher* has neither planned nor at hand: they help out with them."""
    return [slot for slot in slots if teacher.pk not in (slot.planned_id, slot.holder_id)]

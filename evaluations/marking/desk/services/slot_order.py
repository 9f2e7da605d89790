"""Which slots a teacher may be given next, best first, without reading the whole round."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from itertools import chain, product
from typing import NamedTuple

from django.db.models import Case, Count, DateTimeField, F, Q, QuerySet, Value, When

from evaluations.marking.desk.selectors.queue import (
    TWO,
    free_for,
    put_aside,
    slots_open_to,
    to_be_passed,
    was_shown,
)
from evaluations.marking.desk.sql import LAST_VERSIONS, NO_PLACE
from evaluations.marking.rules.seed_answers import LEAST_GAP
from evaluations.models import BlindAnswer, Mark, MarkingRound, PartnerPassed, Slot
from evaluations.models.vocabulary import CHECK_KINDS, RoundStatus, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User

EVERY = Q()
MOST_TRIES = 50
# So many blocks are looked into, few and then more at a time, before all that is open is read.
FIRST_BLOCKS = 16
# Who helps out can put so many responses aside before these come back.
MOST_ASIDE = 3


class Half(StrEnum):
    """Which of the two marks of a response *teacher* would give, were what they pass one."""

    OWN = "own"
    PARTNER = "partner"


class Claimable(NamedTuple):
    """A slot worth a try, and the minutes of its lease; or one to pass, that others keep."""

    slot: int
    answer: int
    lease_minutes: int
    to_pass: Half | None = None


def claimable_slots(
    teacher: User, marking_round: MarkingRound | None, now: datetime
) -> Iterator[Claimable]:
    """Yield the slots for *teacher* in the order in which they are given out.

    What is at hand comes first, so that a draft finds its teacher again; then
    what was planned for them, in its fixed order, and what of that they skipped;
    then what others left; last an intra-rater check that its first has hardly left.
    Of what others left, each response comes once; what only they could get comes among them, to be
    passed.
    What the teacher put aside comes back after the others, or before them if it is much: nobody
    looks through all that is unmarked.
    """
    if marking_round is None:
        own = MarkingRound.objects.filter(pool__teacher=teacher, pool__paused=False)
        rounds = list(own.filter(status=RoundStatus.OPEN).order_by("id"))
    else:
        rounds = [marking_round]
    yield from own_slots(teacher, rounds, now)
    yield from slots_after_own(teacher, rounds, now)


def slots_after_own(
    teacher: User, rounds: Sequence[MarkingRound], now: datetime
) -> Iterator[Claimable]:
    """Yield what comes when nothing is at hand or planned: of others, and own checks too soon.

    Whoever takes one after the other is through with it as if they had asked anew for each: of what
    they put aside, so much comes first that little of it is left.
    """
    others = Q(planned=None) | ~Q(planned=teacher)
    aside = _aside(teacher, rounds, now, others)
    too_many = max(0, len(aside) - MOST_ASIDE + 1)
    yield from chain.from_iterable(slots for _answer, slots in aside[:too_many])
    fresh = others & ~Q(answer__in=[answer for answer, _slots in aside])
    yield from _of_others(teacher, rounds, now, fresh)
    yield from chain.from_iterable(slots for _answer, slots in aside[too_many:])
    yield from _by_lot(teacher, dict.fromkeys(rounds), now, too_soon(teacher))


def own_slots(
    teacher: User,
    rounds: Sequence[MarkingRound],
    now: datetime,
    *,
    but: int = 0,
    which: Q = EVERY,
    most: int = MOST_TRIES,
) -> Iterator[Claimable]:
    """Return what is at hand or planned for the teacher, best first, except on the answer *but*.

    Only slots as *which* says, and of each round and kind not more than *most*.
    """
    held, planned = Q(holder=teacher), Q(planned=teacher) & ~too_soon(teacher)
    # At hand in any round, then planned, then skipped; each in its order.
    rank = Case(When(held, then=Value(0)), When(skipped_at=None, then=Value(1)), default=Value(2))
    skipped = Case(
        When(held, then=Value(None)), default=F("skipped_at"), output_field=DateTimeField()
    )
    # What is held and was planned for others has a place in their queue, or none: a drawn order.
    place = Case(When(planned=teacher, then=F("order")), default=Value(NO_PLACE))
    kinds: tuple[list[Claimable], ...] = ([], [], [])
    for one in rounds:
        rows = _free(teacher, one, now).filter(which, held | planned).exclude(answer=but)
        ordered = rows.annotate(rank=rank).order_by("rank", skipped, place, "answer__public_id")
        for slot, answer, kind in ordered.values_list("pk", "answer", "rank")[:most]:
            kinds[kind].append(Claimable(slot, answer, one.lease_minutes))
    return chain.from_iterable(kinds)


def _aside(
    teacher: User, rounds: Sequence[MarkingRound], now: datetime, which: Q
) -> list[tuple[int, list[Claimable]]]:
    """Return what the teacher put aside and can still be given: each response with its slots.

    The order is that in which they were given to the teacher, whatever others did since.
    """
    found: dict[int, list[Claimable]] = {}
    for one in rounds:
        answers = put_aside(teacher).filter(answer__round=one).values_list("answer", flat=True)
        found |= {answer: [] for answer in answers}
        rows = _free(teacher, one, now).filter(which, answer__in=answers.order_by()).order_by("pk")
        for slot, answer in rows.values_list("pk", "answer"):
            found.setdefault(answer, []).append(Claimable(slot, answer, one.lease_minutes))
    return [(answer, slots) for answer, slots in found.items() if slots]


def _of_others(
    teacher: User, rounds: Sequence[MarkingRound], now: datetime, which: Q
) -> Iterator[Claimable]:
    """Yield what others left, in the order in which *teacher* helps out.

    Each time as many blocks are read as before in all: who finds something in the first one reads
    no more than that, and who finds nothing asks seldom.
    """
    blocks = sorted(
        (lot(one.lots_seed, teacher.pk, "block", question), place, question)
        for place, one in enumerate(rounds)
        for question in _questions(one.pk, one.created_at)
    )
    start, end = 0, 1
    while start < min(len(blocks), FIRST_BLOCKS):
        some: dict[MarkingRound, Sequence[int] | None] = {
            one: [question for _block, at, question in blocks[start:end] if at == place]
            for place, one in enumerate(rounds)
        }
        yield from _by_lot(teacher, some, now, which, passing=True)
        start, end = end, 2 * end
    yield from _by_lot(teacher, dict.fromkeys(rounds), now, which, passing=True)


def _by_lot(
    teacher: User,
    blocks: Mapping[MarkingRound, Sequence[int] | None],
    now: datetime,
    which: Q,
    *,
    passing: bool = False,
) -> Iterator[Claimable]:
    """Yield slots of others in the order in which *teacher* helps out: fixed, block by block.

    The order does not depend on the slot: a third mark must not stand out by its place; which of
    two marks of one response comes is drawn. *blocks* are the questions of each round that are
    looked into; None for all.
    """
    placed = []
    for one, questions in blocks.items():
        if questions == []:
            continue
        within = EVERY if questions is None else Q(answer__question__in=questions)
        rows = _free(teacher, one, now).filter(which, within).exclude(holder=teacher).order_by()
        for slot, answer, block in rows.values_list("pk", "answer", "answer__question"):
            place = _place(one, teacher, block, "response", answer)
            half = lot(one.lots_seed, teacher.pk, "half", slot)
            placed.append((place, half, Claimable(slot, answer, one.lease_minutes)))
        for left, which_half in _to_pass(teacher, one, now, within) if passing else ():
            place = _place(one, teacher, left.answer.question_id, "passed", left.pk)
            claimable = Claimable(left.pk, left.answer_id, one.lease_minutes, which_half)
            placed.append((place, b"", claimable))
    for _at, _half, claimable in sorted(placed, key=lambda one: one[:2]):
        yield claimable


def _place(
    made: MarkingRound, teacher: User, block: int, what: str, key: int
) -> tuple[bytes, bytes]:
    """Where *teacher* comes to what has the *key* when they help out: block, and place in it."""
    seed = made.lots_seed
    return lot(seed, teacher.pk, "block", block), lot(seed, teacher.pk, what, key)


def _to_pass(
    teacher: User, marking_round: MarkingRound, now: datetime, within: Q
) -> Iterator[tuple[Slot, Half]]:
    """Yield what *teacher* passes *within* some blocks: they would take it were it like the rest.

    Of a response that gets two marks, whoever gives the other one, the partner, cannot take it; and
    who comes to it while both are missing gives either, by lot, and the partner can take the other
    then. Of a check, the partner is drawn from the pool, and has given their mark by now with the
    share of the block that they are through.
    """
    left = to_be_passed(teacher, marking_round, now).filter(within).order_by("pk")
    rows = list(left.select_related("answer"))
    extra = [slot.pk for slot in rows if slot.kind not in CHECK_KINDS]
    # Asked where there is none too: a third mark that they put aside must not cost a query more.
    can = slots_open_to(teacher, marking_round, now=now).filter(pk__in=extra or [0])
    taken = set(can.values_list("pk", flat=True))
    rows = [slot for slot in rows if slot.pk not in taken]
    if rows and Scheme(marking_round.scheme).planned_marks > 1:
        yield from _beside_partners(teacher, marking_round, rows, now)
        return
    for slot in rows:
        yield slot, Half.OWN


def _beside_partners(
    teacher: User, marking_round: MarkingRound, slots: Sequence[Slot], now: datetime
) -> Iterator[tuple[Slot, Half]]:
    pool = marking_round.pool.order_by("teacher").values_list("teacher", flat=True)
    people, seed = list(pool), marking_round.lots_seed
    taken = Q(passed_with__marked=True) | Q(passed_with__lease_until__gt=now)
    passed = PartnerPassed.objects.filter(
        taken, passed_with__holder=F("helper"), slot__in=[slot.pk for slot in slots]
    )
    helpers = set(passed.values_list("slot", "helper"))
    given = {slot for slot, _helper in helpers}
    blocks = {slot.answer.question_id for slot in slots}
    through = _through(marking_round, blocks, now)
    for slot in slots:
        key, block, whose = slot.pk, slot.answer.question_id, slot.planned_id or slot.holder_id
        others = (one for one in people if one != whose)
        partner = max(others, key=lambda one: lot(seed, one, "partner", key))
        if (key, teacher.pk) in helpers or (partner == teacher.pk and key not in given):
            continue
        is_given = key in given or slot.void_version > 0 or slot.kind not in CHECK_KINDS
        share = int.from_bytes(lot(seed, "given", key)[:8], "big") / 2**64
        if is_given or share < through[partner, block]:
            yield slot, Half.OWN
        else:
            own = lot(seed, teacher.pk, "half", key)[0] % 2
            yield slot, Half.OWN if own else Half.PARTNER


def _through(
    marking_round: MarkingRound, blocks: AbstractSet[int], now: datetime
) -> dict[tuple[int, int], float]:
    """By teacher and block, the share of their planned marks that are given or at hand, 0 to 1.

    What was planned for who has left, and they did not mark, is planned for nobody.
    """
    slots = Slot.objects.filter(answer__round=marking_round, answer__question__in=blocks)
    gone = Count("pk", filter=Q(marked=True) | Q(lease_until__gt=now))
    rows = slots.filter(kind__in=TWO).order_by().values_list("planned", "answer__question")
    counts = {
        (person, block): (given, number)
        for person, block, given, number in rows.annotate(gone=gone, n=Count("pk"))
    }
    has_left = dict(marking_round.pool.values_list("teacher", "left_at"))
    shares = {}
    for person, block in product(has_left, blocks):
        given, number = counts.get((person, block), (0, 0))
        if has_left[person]:
            left, of = counts.get((None, block), (0, 0))
            given, number = given + left, number + of
        shares[person, block] = given / number if number else 1.0
    return shares


def _free(teacher: User, marking_round: MarkingRound, now: datetime) -> QuerySet[Slot]:
    return slots_open_to(teacher, marking_round, now=now).filter(free_for(teacher, now))


def lot(*parts: int | str) -> bytes:
    """A draw that *parts*, the first of them a hidden seed, decide: 32 bytes."""
    return hashlib.sha256(repr(parts).encode("utf-8")).digest()


@lru_cache(maxsize=200)
def _questions(marking_round: int, created_at: datetime) -> tuple[int, ...]:
    """The questions of a round, which are fixed when it opens."""
    answers = BlindAnswer.objects.filter(round=marking_round, round__created_at=created_at)
    return tuple(answers.order_by().values_list("question", flat=True).distinct())


def too_soon(teacher: User) -> Q:
    """Intra-rater checks whose first response is among the last that *teacher* marked.

    Not those that they were shown: such a one comes as everything else does.

    Revisions do not count; of a teacher who revised more than fifty times in a row,
    fewer responses are known.
    """
    own = Mark.objects.filter(teacher=teacher, stale=False).order_by("-id")
    rows = own.values_list("slot__answer", "version", "slot__void_version")[:LAST_VERSIONS]
    first = [answer for answer, version, void in rows if version == void + 1]
    of_these = Q(kind=SlotKind.REPEAT, answer__repeat_of__in=first[: LEAST_GAP - 1])
    return of_these & ~was_shown(teacher)

"""Which slots a teacher may be given next, best first, without reading the whole round."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

from django.db.models import Case, DateTimeField, F, Q, QuerySet, Value, When

from evaluations.marking.desk.selectors.queue import (
    free_for,
    passable_checks,
    put_aside,
    slots_open_to,
)
from evaluations.marking.desk.sql import LAST_VERSIONS, NO_PLACE
from evaluations.marking.rules.seed_answers import LEAST_GAP
from evaluations.models import BlindAnswer, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import RoundStatus, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User

MOST_TRIES = 50
# So many blocks of a round are looked into one by one before all that is open is read.
FIRST_BLOCKS = 16
# Who helps out can put so many responses aside before these come back.
MOST_ASIDE = 3


class Claimable(NamedTuple):
    """A slot worth a try, and the minutes of its lease; a check of somebody else is passed."""

    slot: int
    lease_minutes: int
    is_check: bool = False


def claimable_slots(
    teacher: User, marking_round: MarkingRound | None, now: datetime
) -> Iterator[Claimable]:
    """Yield the slots for *teacher* in the order in which they are given out.

    What is at hand comes first, so that a draft finds its teacher again; then
    what was planned for them, in its fixed order, and what of that they skipped;
    then what others left; last an intra-rater check that its first has hardly left.
    Of what others left, each response comes once, and their checks come among them, to be passed.
    What the teacher put aside comes back after the others, or before them if it is much: nobody
    looks through all that is unmarked.
    """
    if marking_round is None:
        own = MarkingRound.objects.filter(pool__teacher=teacher, pool__paused=False)
        rounds = list(own.filter(status=RoundStatus.OPEN).order_by("id"))
    else:
        rounds = [marking_round]
    yield from own_slots(teacher, rounds, now)
    others = Q(planned=None) | ~Q(planned=teacher)
    aside = _aside(teacher, rounds, now, others)
    if len(aside) < MOST_ASIDE:
        fresh = others & ~Q(answer__in=[answer for answer, _slots in aside])
        yield from _first_blocks(teacher, rounds, now, fresh)
        yield from _by_lot(teacher, rounds, now, fresh, with_checks=True)
    yield from chain.from_iterable(slots for _answer, slots in aside)
    yield from _by_lot(teacher, rounds, now, _too_soon(teacher))


def own_slots(
    teacher: User, rounds: Sequence[MarkingRound], now: datetime, *, but: int = 0
) -> Iterator[Claimable]:
    """Return what is at hand or planned for the teacher, best first, except on the answer *but*."""
    held, planned = Q(holder=teacher), Q(planned=teacher) & ~_too_soon(teacher)
    # At hand in any round, then planned, then skipped; each in its order.
    rank = Case(When(held, then=Value(0)), When(skipped_at=None, then=Value(1)), default=Value(2))
    skipped = Case(
        When(held, then=Value(None)), default=F("skipped_at"), output_field=DateTimeField()
    )
    # What is held and was planned for others has a place in their queue, or none: a drawn order.
    place = Case(When(planned=teacher, then=F("order")), default=Value(NO_PLACE))
    kinds: tuple[list[Claimable], ...] = ([], [], [])
    for one in rounds:
        rows = _free(teacher, one, now).filter(held | planned).exclude(answer=but)
        ordered = rows.annotate(rank=rank).order_by("rank", skipped, place, "answer__public_id")
        for slot, kind in ordered.values_list("pk", "rank")[:MOST_TRIES]:
            kinds[kind].append(Claimable(slot, one.lease_minutes))
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
            found.setdefault(answer, []).append(Claimable(slot, one.lease_minutes))
    return [(answer, slots) for answer, slots in found.items() if slots]


def _first_blocks(
    teacher: User, rounds: Sequence[MarkingRound], now: datetime, which: Q
) -> Iterator[Claimable]:
    """Yield what others left in the blocks that come first when *teacher* helps out."""
    blocks = sorted(
        (_lot(one.lots_seed, teacher.pk, "block", question), place, question)
        for place, one in enumerate(rounds)
        for question in _questions(one.pk, one.created_at)
    )
    for _block, place, question in islice(blocks, FIRST_BLOCKS):
        of_block = which & Q(answer__question=question)
        yield from _by_lot(teacher, [rounds[place]], now, of_block, question, with_checks=True)


def _by_lot(
    teacher: User,
    rounds: Iterable[MarkingRound],
    now: datetime,
    which: Q,
    question: int | None = None,
    *,
    with_checks: bool = False,
) -> Iterator[Claimable]:
    """Yield slots of others in the order in which *teacher* helps out: fixed, block by block.

    The order does not depend on the slot: a third mark must not stand out by its place. *question*
    says of which block alone the checks are.
    """
    placed = []
    for one in rounds:
        rows = _free(teacher, one, now).filter(which).exclude(holder=teacher).order_by()
        for slot, answer, block in rows.values_list("pk", "answer", "answer__question"):
            place = _place(one, teacher, block, "response", answer)
            placed.append((place, Claimable(slot, one.lease_minutes)))
        for slot, block in _checks_to_pass(teacher, one, now, question) if with_checks else ():
            place = _place(one, teacher, block, "check", slot)
            placed.append((place, Claimable(slot, one.lease_minutes, is_check=True)))
    for _at, claimable in sorted(placed):
        yield claimable


def _place(
    made: MarkingRound, teacher: User, block: int, what: str, key: int
) -> tuple[bytes, bytes]:
    """Where *teacher* comes to what has the *key* when they help out: block, and place in it."""
    seed = made.lots_seed
    return _lot(seed, teacher.pk, "block", block), _lot(seed, teacher.pk, what, key)


def _checks_to_pass(
    teacher: User, marking_round: MarkingRound, now: datetime, question: int | None
) -> Iterator[tuple[int, int]]:
    """Yield checks of others that *teacher* would take if they were no checks, with their block.

    Of a response that gets two marks, whoever gives the other one cannot take it. For a check, the
    one who could not is drawn from the pool.
    """
    rows = passable_checks(teacher, marking_round, now).order_by("pk")
    if question is not None:
        rows = rows.filter(answer__question=question)
    checks = list(rows.values_list("pk", "planned", "answer__question"))
    if Scheme(marking_round.scheme).planned_marks == 1:
        yield from ((slot, block) for slot, _planned, block in checks)
    elif checks:
        pool = marking_round.pool.order_by("teacher").values_list("teacher", flat=True)
        people, seed = list(pool), marking_round.lots_seed
        for slot, planned, block in checks:
            others = (one for one in people if one != planned)
            if max(others, key=lambda one: _lot(seed, one, "partner", slot)) != teacher.pk:
                yield slot, block


def _free(teacher: User, marking_round: MarkingRound, now: datetime) -> QuerySet[Slot]:
    return slots_open_to(teacher, marking_round).filter(free_for(teacher, now))


def _lot(*parts: int | str) -> bytes:
    return hashlib.sha256(repr(parts).encode("utf-8")).digest()


@lru_cache(maxsize=200)
def _questions(marking_round: int, created_at: datetime) -> tuple[int, ...]:
    """The questions of a round, which are fixed when it opens."""
    answers = BlindAnswer.objects.filter(round=marking_round, round__created_at=created_at)
    return tuple(answers.order_by().values_list("question", flat=True).distinct())


def _too_soon(teacher: User) -> Q:
    """Intra-rater checks whose first response is among the last that *teacher* marked.

    Revisions do not count; of a teacher who revised more than fifty times in a row,
    fewer responses are known.
    """
    own = Mark.objects.filter(teacher=teacher, stale=False).order_by("-id")
    rows = own.values_list("slot__answer", "version", "slot__void_version")[:LAST_VERSIONS]
    first = [answer for answer, version, void in rows if version == void + 1]
    return Q(kind=SlotKind.REPEAT, answer__repeat_of__in=first[: LEAST_GAP - 1])

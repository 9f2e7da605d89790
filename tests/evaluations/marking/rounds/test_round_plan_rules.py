"""A whole round: loads, checks in each queue, teachers who come later, numbers of aliases."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.marking.rounds.rules.aliases import draw_numbers, highest_alias
from evaluations.marking.rounds.rules.round_plan import (
    Checks,
    OpenMark,
    TeacherLoad,
    loads_of,
    plan_round,
    share_with_new_teachers,
)
from evaluations.marking.rules.seed_answers import Role

seeds = st.integers(0, 2**62)


def one_question(responses: int) -> list[tuple[int, str]]:
    return [(number, "q") for number in range(1, responses + 1)]


def test_the_load_of_a_round_by_hand() -> None:
    """120 responses, two marks, four teachers: 60 each, half of them first marks.

    54 own and 6 seeds are 60 places; of the next 19 places the 6 left are not half: no
    seed more. One per cent of 60 is 0.6, so one comes back.
    """
    checks = Checks(seeds=[(f"s{n}", "q") for n in range(9)], repeat_share=Decimal("0.01"))
    places = plan_round(one_question(120), [1, 2, 3, 4], 2, 7, checks)
    assert loads_of(places, [1, 2, 3, 4]) == dict.fromkeys(
        [1, 2, 3, 4], TeacherLoad(first=30, second=30, seeds=6, repeats=1)
    )
    for teacher in range(1, 5):
        orders = [place.order for place in places if place.teacher == teacher]
        assert orders == list(range(1, 68))


def test_nobody_is_checked_by_what_they_know() -> None:
    checks = Checks(seeds=[("s", "q"), ("t", "q")], known={1: {"s", "t"}, 2: {"s"}})
    places = plan_round(one_question(40), [1, 2, 3], 2, 7, checks)
    met = {(place.teacher, place.item) for place in places if place.role is Role.SEED}
    assert met == {(2, "t"), (3, "s"), (3, "t")}


@given(st.integers(1, 80), st.integers(2, 5), seeds)
def test_checks_change_nothing_of_who_marks_what(
    responses: int, teachers: int, random_seed: int
) -> None:
    pool = list(range(teachers))
    hidden = Checks(seeds=[(f"s{n}", "q") for n in range(5)], repeat_share=Decimal("0.1"))
    plain = plan_round(one_question(responses), pool, 2, random_seed)
    checked = plan_round(one_question(responses), pool, 2, random_seed, hidden)
    own = [(p.teacher, p.item, p.slot) for p in checked if p.role is Role.OWN]
    assert own == [(p.teacher, p.item, p.slot) for p in plain]
    again = [(p.teacher, p.item) for p in checked if p.role is Role.REPEAT]
    assert set(again) <= {(teacher, item) for teacher, item, _slot in own}, "only own ones return"


# ---- new_teachers ----


def left_of(responses: int, teachers: list[int]) -> tuple[list[OpenMark], dict[int, set[int]]]:
    """All marks of a round that nobody has begun, and the roles of each response."""
    places = plan_round(one_question(responses), teachers, 2, 7)
    marks = [OpenMark(f"{p.item}-{p.slot}", p.item, "q", p.teacher) for p in places]
    roles: dict[int, set[int]] = {}
    for place in places:
        roles.setdefault(int(place.item), set()).add(int(place.teacher))
    return marks, roles


def test_two_newcomers_get_what_falls_to_each() -> None:
    """80 marks of two teachers; shared by four that is 20 for each."""
    marks, roles = left_of(40, [1, 2])
    given_ = share_with_new_teachers(marks, roles, [3, 4], [1, 2, 3, 4], 7).given
    assert {who: len(got) for who, got in given_.items()} == {3: 20, 4: 20}
    taken = Counter(mark.planned for got in given_.values() for mark in got)
    assert taken == {1: 20, 2: 20}


@given(st.integers(0, 40), st.integers(2, 4), st.integers(1, 3), seeds)
def test_a_newcomer_never_gets_two_marks_of_one_response(
    responses: int, teachers: int, new_teachers: int, random_seed: int
) -> None:
    pool = list(range(1, teachers + 1))
    new = list(range(10, 10 + new_teachers))
    marks, roles = left_of(responses, pool)
    shares = share_with_new_teachers(marks, roles, new, [*pool, *new], random_seed)
    moved = [mark for got in shares.given.values() for mark in got]
    assert len({mark.key for mark in moved}) == len(moved)
    for got in shares.given.values():
        assert len({mark.item for mark in got}) == len(got)
    own, given_up = (Counter(mark.planned for mark in some) for some in (marks, moved))
    assert all(given_up[one] <= own[one] * len(new) // len([*pool, *new]) for one in pool)


def test_queues_of_newcomers_go_block_by_block() -> None:
    marks = [OpenMark(n, n, f"q{n // 10}", 1) for n in range(40)]
    (got,) = share_with_new_teachers(marks, {}, [2], [1, 2], 7).given.values()
    blocks = [mark.block for mark in got]
    assert blocks == sorted(blocks)
    assert len(got) == 20


@pytest.mark.parametrize("others", [0, 1, 9, 40])
def test_how_many_somebody_gives_up_tells_nothing_of_the_others(others: int) -> None:
    """A third of 10, rounded down, whatever the other teacher has left."""
    marks = [OpenMark(n, n, "q", 1 if n < 10 else 2) for n in range(10 + others)]
    (got,) = share_with_new_teachers(marks, {}, [3], [1, 2, 3], 7).given.values()
    assert Counter(mark.planned for mark in got)[1] == 3


@pytest.mark.parametrize("checks", [0, 3, 9])
def test_how_much_somebody_gives_up_tells_nothing_of_the_checks(checks: int) -> None:
    """Nine of ten places, whatever they are; few checks are left among few responses."""
    marks = [
        OpenMark(n, n, "q", 1, is_check=n < checks, stays=checks == 9 and n == 29)
        for n in range(30)
    ]
    shares = share_with_new_teachers(marks, {}, list(range(2, 11)), list(range(1, 11)), 7)
    given_up = [mark for got in shares.given.values() for mark in got]
    assert not any(mark.is_check or mark.stays for mark in given_up)
    assert len(given_up) + len(shares.checks) == 27
    assert len(shares.checks) >= checks - 3


# ---- aliases ----


def test_without_repeats_aliases_have_no_gaps() -> None:
    assert highest_alias(12, 0) == 12
    assert sorted(draw_numbers(12, 12, (), 7, "alias")) == list(range(1, 13))


def test_with_repeats_there_is_room_between() -> None:
    assert highest_alias(100, 3) == 110  # 4.5 rounded up and 5 more
    first = draw_numbers(100, 110, (), 7, "alias")
    again = draw_numbers(3, 110, first, 7, "repeat")
    assert not set(first) & set(again)
    assert max(again) <= 110


def test_numbers_grow_where_the_room_is_full() -> None:
    assert sorted(draw_numbers(3, 2, (1,), 7, "alias")) == [2, 3, 4]
    with pytest.raises(ValueError, match="not negative"):
        draw_numbers(-1, 2, (), 7, "alias")

"""Seed answers and intra-rater checks: their number in each block; none can be predicted."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.marking.rules.seed_answers import (
    LEAST_GAP,
    Cadence,
    Lots,
    Placed,
    Role,
    repeats_due,
    with_repeats,
    with_seeds,
)

USUAL = Cadence()
LOTS = Lots(7, 1)
all_lots = st.builds(Lots, st.integers(0, 2**62), st.integers(1, 9))
# How many responses the queue has to each question, and how many seed answers each question has.
blocks = st.lists(st.integers(1, 60), min_size=1, max_size=6)
seeds_per_block = st.integers(0, 12)


def queue_of(sizes: list[int]) -> list[Placed]:
    """Responses ``q0-1``, ``q0-2`` ... to the questions ``q0``, ``q1`` ..."""
    return [
        Placed(f"q{block}-{number}", f"q{block}")
        for block, size in enumerate(sizes)
        for number in range(size)
    ]


def seeds_of(sizes: list[int], each: int) -> list[tuple[str, str]]:
    return [(f"s{b}-{n}", f"q{b}") for b in range(len(sizes)) for n in range(each)]


def own(placed: list[Placed]) -> list[Placed]:
    return [place for place in placed if place.role is Role.OWN]


def places_of(placed: list[Placed], role: Role) -> list[int]:
    """1-based places of what has *role*."""
    return [number for number, place in enumerate(placed, start=1) if place.role is role]


@given(blocks, seeds_per_block, all_lots)
def test_seeds_keep_the_queue_its_blocks_and_their_distance(
    sizes: list[int], each: int, lots: Lots
) -> None:
    queue, seeds = queue_of(sizes), seeds_of(sizes, each)
    placed = with_seeds(queue, seeds, USUAL, lots)
    assert own(placed) == queue, "the order of the queue stays"
    assert placed[0].role is Role.OWN, "the first is never a seed"
    assert all(one.role is Role.OWN or other.role is Role.OWN for one, other in pairwise(placed))
    found = Counter(place.item for place in placed if place.role is Role.SEED)
    assert set(found.values()) <= {1}, "each seed once"
    assert {(place.item, place.block) for place in placed if place.role is Role.SEED} <= set(seeds)
    runs = [block for block, _ in groupby(place.block for place in placed)]
    assert len(runs) == len(sizes), "no block is torn apart"


@given(st.integers(0, 400), all_lots)
def test_seeds_come_as_often_as_was_said(responses: int, lots: Lots) -> None:
    """One question with seeds enough: one place in 10 of the first 60, then one in 20."""
    placed = with_seeds(queue_of([responses]), seeds_of([0], 100), USUAL, lots)
    places = places_of(placed, Role.SEED)
    for place in range(0, min(60, len(placed) // 10 * 10), 10):
        assert len([one for one in places if place < one <= place + 10]) == 1
    for place in range(60, len(placed) // 20 * 20, 20):
        assert len([one for one in places if place < one <= place + 20]) == 1


@pytest.mark.parametrize(
    ("responses", "seeds"),
    [
        (0, 0),
        (4, 0),  # a last window that is not half full (5 of 9) has none
        (5, 1),
        (9, 1),
        (13, 1),
        (14, 2),
        (54, 6),  # 6 windows of 9 and a seed: 60 places
        (63, 6),  # 9 of the next 19
        (64, 7),  # 10 of the next 19
        (92, 8),  # 54 + 19 + 19
    ],
)
def test_how_many_seeds_a_queue_gets(responses: int, seeds: int) -> None:
    placed = with_seeds(queue_of([responses]), seeds_of([0], 100), USUAL, LOTS)
    assert len(places_of(placed, Role.SEED)) == seeds


def test_a_question_without_seeds_leaves_its_windows_without() -> None:
    queue = queue_of([18, 18])
    placed = with_seeds(queue, [("s", "q1"), ("t", "q1")], USUAL, LOTS)
    seeds = [place for place in placed if place.role is Role.SEED]
    assert [seed.block for seed in seeds] == ["q1", "q1"]
    assert with_seeds(queue, [], USUAL, LOTS) == queue


def test_places_cannot_be_counted_out_and_differ_from_teacher_to_teacher() -> None:
    """In the first window the seed stands in 2nd to 9th place, about equally often."""
    first = Counter(
        places_of(with_seeds(queue_of([9]), seeds_of([0], 3), USUAL, Lots(7, teacher)), Role.SEED)[
            0
        ]
        for teacher in range(800)
    )
    assert set(first) == set(range(2, 10))
    assert all(60 <= times <= 140 for times in first.values())  # 100 each, 4 deviations of 9.4


def test_the_same_lots_draw_the_same_places() -> None:
    seeds = seeds_of([40, 40], 8)
    one, two = (
        with_seeds(queue_of([40, 40]), order, USUAL, LOTS) for order in (seeds, seeds[::-1])
    )
    assert one == two
    assert one != with_seeds(queue_of([40, 40]), seeds, USUAL, Lots(8, 1))


def test_a_seed_never_fills_a_window_alone() -> None:
    with pytest.raises(ValueError, match="shares its window"):
        with_seeds(queue_of([3]), [], Cadence(first_every=1), LOTS)


@pytest.mark.parametrize(
    ("responses", "share", "due"),
    [
        (29, "0.01", 0),
        (30, "0.01", 1),  # 0.3, and one at least from 30 on
        (149, "0.01", 1),  # 1.49
        (150, "0.01", 2),  # 1.5
        (600, "0.01", 6),
        (20, "0.1", 2),
        (600, "0", 0),
        (0, "1", 0),
    ],
)
def test_how_many_responses_come_back(responses: int, share: str, due: int) -> None:
    assert repeats_due(responses, Decimal(share)) == due


def test_a_share_is_a_share() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        repeats_due(30, Decimal("1.5"))
    with pytest.raises(ValueError, match="not negative"):
        with_repeats([], -1, LOTS)


@given(blocks, st.integers(0, 9), all_lots)
def test_repeats_come_later_and_tear_no_other_block_apart(
    sizes: list[int], number: int, lots: Lots
) -> None:
    queue = queue_of(sizes)
    placed = with_repeats(queue, number, lots)
    assert own(placed) == queue
    repeats = [place for place in placed if place.role is Role.REPEAT]
    assert len(repeats) <= number
    assert len({place.item for place in repeats}) == len(repeats), "each comes back once"
    if len(queue) >= LEAST_GAP + number:
        assert len(repeats) == number
    for place in repeats:
        first = placed.index(Placed(place.item, place.block))
        assert placed.index(place) - first >= LEAST_GAP
    of_own = [place for place in placed if place.role is Role.OWN]
    for block in {place.block for place in queue}:
        inside = [n for n, place in enumerate(placed) if place.block == block and place in of_own]
        between = placed[inside[0] : inside[-1] + 1]
        assert {place.block for place in between} == {block}


@given(st.integers(1, 8), all_lots)
def test_repeats_stay_in_their_block_where_there_is_room(number: int, lots: Lots) -> None:
    """Of two questions one has 40 responses, so that up to 30 of them can come back inside."""
    placed = with_repeats(queue_of([5, 40, 5]), number, lots)
    assert len(list(groupby(place.block for place in placed))) == 3
    assert {place.block for place in placed if place.role is Role.REPEAT} == {"q1"}


def test_a_short_queue_repeats_nothing() -> None:
    assert with_repeats(queue_of([9]), 3, LOTS) == queue_of([9])
    (only,) = [p for p in with_repeats(queue_of([10]), 1, LOTS) if p.role is Role.REPEAT]
    assert only.item == "q0-0", "only the first of ten has a place ten later: the end"

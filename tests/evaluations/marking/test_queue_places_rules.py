"""Places that are drawn in a queue: among those of the block, from before the first on."""

from __future__ import annotations

from itertools import pairwise

import pytest

from evaluations.marking.rules.queue_places import APART, drawn_place

BLOCKS = ["mechanics", "optics", "heat", "waves"]
# Three places of mechanics and two of heat; nothing of optics and waves.
OWN = {"mechanics": (1 * APART, 3 * APART), "heat": (4 * APART, 5 * APART)}


def drawn(block: str, own: dict[str, tuple[int, int]] = OWN) -> list[int]:
    return [drawn_place(block, BLOCKS, dict(own), 7, 1, number) for number in range(300)]


def test_a_place_is_before_between_or_after_those_of_its_block() -> None:
    gaps = {place // APART for place in drawn("mechanics")}
    assert gaps == {0, 1, 2, 3}
    assert {place // APART for place in drawn("heat")} == {3, 4, 5}


def test_blocks_keep_their_order_also_those_without_a_place() -> None:
    ends = [(min(places), max(places)) for places in map(drawn, BLOCKS)]
    assert all(one[1] < other[0] for one, other in pairwise(ends))
    assert ends[0][0] > 0


def test_an_empty_queue_has_places_too() -> None:
    ends = [(min(places), max(places)) for places in (drawn(block, {}) for block in BLOCKS)]
    assert all(one[1] < other[0] for one, other in pairwise(ends))


def test_where_places_stand_side_by_side_it_is_one_of_the_block() -> None:
    """Rounds that began before places stood apart."""
    own = {"mechanics": (1, 3), "optics": (4, 4), "heat": (5, 9)}
    assert set(drawn("mechanics", own)) == {1, 2, 3}
    assert set(drawn("optics", own)) == {4}


def test_a_place_follows_from_the_seed_and_what_is_drawn_for() -> None:
    assert drawn("heat") == drawn("heat")
    assert len(set(drawn("heat"))) > 200
    assert drawn_place("heat", BLOCKS, OWN, 7, 1) != drawn_place("heat", BLOCKS, OWN, 8, 1)


def test_an_unknown_block_is_refused() -> None:
    with pytest.raises(ValueError, match="not in list"):
        drawn_place("chemistry", BLOCKS, OWN, 7)

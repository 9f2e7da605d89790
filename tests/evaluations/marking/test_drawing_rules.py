"""Drawing lots: repeatable, fair, and blind to the order things came in."""

from __future__ import annotations

from collections import Counter

import pytest

from evaluations.marking.rules.drawing import sample_per_group, shuffled

ITEMS = [(number, "physics" if number <= 10 else "history") for number in range(1, 14)]


def test_a_shuffle_depends_on_seed_and_purpose_and_not_on_the_order() -> None:
    once = shuffled(range(20), 7, "alias")
    assert sorted(once) == list(range(20))
    assert shuffled(reversed(range(20)), 7, "alias") == once
    assert shuffled(range(20), 8, "alias") != once
    assert shuffled(range(20), 7, "sample") != once


@pytest.mark.parametrize(
    ("size", "physics", "history"), [(1, 1, 1), (3, 3, 3), (5, 5, 3), (99, 10, 3)]
)
def test_a_sample_takes_as_many_of_each_group_as_there_are(
    size: int, physics: int, history: int
) -> None:
    drawn = sample_per_group(ITEMS, size, 7)
    counted = Counter(group for item, group in ITEMS if item in drawn)
    assert counted == {"physics": physics, "history": history}


def test_a_larger_sample_keeps_the_smaller_one() -> None:
    assert sample_per_group(ITEMS, 2, 7) < sample_per_group(ITEMS, 6, 7)


def test_every_item_has_the_same_chance() -> None:
    # 1 of 10 over 1,000 seeds: 100 expected each, standard deviation 9.5; five of them allowed.
    drawn = Counter(item for seed in range(1000) for item in sample_per_group(ITEMS[:10], 1, seed))
    assert set(drawn) == set(range(1, 11))
    assert all(52 <= times <= 148 for times in drawn.values())


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        sample_per_group(ITEMS, 0, 7)

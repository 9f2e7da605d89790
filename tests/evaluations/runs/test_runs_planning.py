"""Which items a limited run asks."""

from __future__ import annotations

import pytest

from evaluations.runs.services.planning import spread

GROUPS = {"b": [10, 11, 12, 13], "a": [0, 1], "c": [20, 21, 22, 23, 24, 25, 26, 27]}


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (None, [0, 1, 10, 11, 12, 13, 20, 21, 22, 23, 24, 25, 26, 27]),
        (14, [0, 1, 10, 11, 12, 13, 20, 21, 22, 23, 24, 25, 26, 27]),
        (99, [0, 1, 10, 11, 12, 13, 20, 21, 22, 23, 24, 25, 26, 27]),
        # one each, from the middle: floor(1 * 2 / 2) = 1, floor(4 / 2) = 2, floor(8 / 2) = 4
        (3, [1, 12, 24]),
        # two each: of 4, floor(1 * 4 / 4) = 1 and floor(3 * 4 / 4) = 3; of 8, 2 and 6
        (6, [0, 1, 11, 13, 22, 26]),
        # a gives all it has (2), b and c share the other 6
        (8, [0, 1, 10, 12, 13, 21, 24, 26]),
        (1, [1]),
    ],
)
def test_a_limit_is_spread_evenly(limit: int | None, expected: list[int]) -> None:
    assert spread(GROUPS, limit) == expected
    assert spread(dict(reversed(GROUPS.items())), limit) == expected


def test_no_groups_give_no_items() -> None:
    assert spread({}, 5) == []

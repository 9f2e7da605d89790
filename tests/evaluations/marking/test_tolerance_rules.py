"""Tolerance: the larger of one point and a tenth of full marks, rounded down to the step."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluations.marking.rules.tolerance import compared, points_within, tolerance, within
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint


@pytest.mark.parametrize(
    ("full", "step", "expected"),
    [
        ("5", "0.5", "1"),  # 0.5 < 1 point
        ("10", "0.5", "1"),
        ("12", "0.5", "1.0"),  # 1.2 rounded down
        ("15", "0.5", "1.5"),
        ("19", "0.5", "1.5"),  # 1.9
        ("20", "0.5", "2"),
        ("26", "0.5", "2.5"),  # 2.6
        ("26", "1", "2"),
        ("25", "0.25", "2.5"),
        ("13", "0.25", "1.25"),  # 1.3
        ("60", "1", "6"),
        ("1", "0.5", "1"),
        ("5", "2", "0"),  # a step coarser than one point: only equal marks pass
    ],
)
def test_default_tolerance(full: str, step: str, expected: str) -> None:
    assert tolerance(Decimal(full), Decimal(step)) == Decimal(expected)


def test_a_round_may_set_points_and_share() -> None:
    found = tolerance(Decimal(20), Decimal("0.5"), points=Decimal(0), share=Decimal("0.05"))
    assert found == 1
    assert tolerance(Decimal(20), Decimal("0.5"), points=Decimal(3)) == 3


@pytest.mark.parametrize(("full", "step"), [("10", "0"), ("10", "-1"), ("-1", "0.5")])
def test_nonsense_is_refused(full: str, step: str) -> None:
    with pytest.raises(ValueError, match="must"):
        tolerance(Decimal(full), Decimal(step))


@pytest.mark.parametrize(
    ("first", "second", "allowed", "passes"),
    [
        ("4", "5", "1", True),  # equal to the tolerance passes
        ("5", "4", "1", True),
        ("4", "5.5", "1", False),
        ("4", "4", "0", True),
        ("0.3", "1.3", "1", True),  # exact in Decimal, not in binary
    ],
)
def test_within(first: str, second: str, allowed: str, passes: bool) -> None:
    assert within(Decimal(first), Decimal(second), Decimal(allowed)) is passes


def test_a_group_is_compared_by_what_it_comes_to() -> None:
    """Two markers who reward different points of a group of which one counts agree."""
    alternatives = PointGroup(cap=Decimal(4), choose=1)
    rubric = RubricLines(
        (
            ScoringPoint("by energy", Decimal(4), group=1),
            ScoringPoint("states the law", Decimal(2)),
            ScoringPoint("by forces", Decimal(4), group=1),
        ),
        (alternatives,),
    )
    one = compared([Decimal(4), Decimal(2), Decimal(0)], rubric)
    other = compared([Decimal(0), Decimal(1), Decimal(4)], rubric)
    assert (one, other) == ((Decimal(2), Decimal(4)), (Decimal(1), Decimal(4)))
    assert points_within(one, other, Decimal(1))
    assert not points_within(one, other, Decimal("0.5"))
    with pytest.raises(ValueError, match="zip"):
        compared([Decimal(1)], rubric)

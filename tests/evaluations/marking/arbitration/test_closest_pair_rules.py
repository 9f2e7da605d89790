"""The closest pair of marks and its mean, worked by hand."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluations.marking.arbitration.rules.closest_pair import (
    ClosestPair,
    TeacherMark,
    closest_pair,
    closest_pairs,
)
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint

D = Decimal
FLAT = RubricLines(tuple(ScoringPoint("p", D(5)) for _ in range(4)))


def mark(*points: str) -> TeacherMark:
    values = tuple(D(point) for point in points)
    return TeacherMark(sum(values, D(0)), values)


def total(value: str) -> TeacherMark:
    return TeacherMark(D(value))


def test_the_example_of_the_leads_page() -> None:
    """19, 15 and 14 of 20: second and third, one point apart, 14.5 between them."""
    marks = [mark("5", "5", "5", "4"), mark("5", "2.5", "5", "2.5"), mark("5", "5", "4", "0")]
    found = closest_pair(marks, FLAT)
    assert found == ClosestPair((1, 2), D(1), D("14.5"), (D(5), D("3.75"), D("4.5"), D("1.25")))


@pytest.mark.parametrize(
    ("totals", "places", "difference", "value"),
    [
        (["12", "3"], (0, 1), "9", "7.5"),
        (["12", "3", "4"], (1, 2), "1", "3.5"),
        (["12", "3", "11"], (0, 2), "1", "11.5"),
        (["0.5", "0"], (0, 1), "0.5", "0.25"),
    ],
)
def test_without_a_rubric_totals_are_compared(
    totals: list[str], places: tuple[int, int], difference: str, value: str
) -> None:
    found = closest_pair([total(value) for value in totals], RubricLines())
    assert found == ClosestPair(places, D(difference), D(value), ())


@pytest.mark.parametrize(
    ("totals", "pairs"),
    [
        # Third midway: 12.5 apart from each, 18.75 with the first and 6.25 with the second.
        (["25", "0", "12.5"], [((0, 2), "18.75"), ((1, 2), "6.25")]),
        (["2", "8", "5"], [((0, 2), "3.5"), ((1, 2), "6.5")]),
        (["5", "8", "2"], [((0, 1), "6.5"), ((0, 2), "3.5")]),
        (["4", "4", "4"], [((0, 1), "4"), ((0, 2), "4"), ((1, 2), "4")]),
    ],
)
def test_of_equally_close_pairs_none_is_preferred(
    totals: list[str], pairs: list[tuple[tuple[int, int], str]]
) -> None:
    marks = [total(value) for value in totals]
    found = closest_pairs(marks, RubricLines())
    assert [(pair.places, pair.value) for pair in found] == [(at, D(mean)) for at, mean in pairs]
    assert closest_pair(marks, RubricLines()) is None


def test_one_mark_has_no_pair() -> None:
    assert closest_pair([total("3")], RubricLines()) is None
    assert closest_pair([], RubricLines()) is None


def test_a_mean_with_three_decimals_is_not_one_mark() -> None:
    found = closest_pair([total("0.25"), total("0.5")], RubricLines())
    assert found
    assert (found.value, found.points) == (D("0.375"), None)


def test_a_total_alone_has_no_mean_by_points() -> None:
    """20 as a total beside 19 by points: 19.5, which is no mark under the rubric."""
    for other in (mark("5", "5", "5", "4"), total("19")):
        assert closest_pair([total("20"), other], FLAT) == ClosestPair(
            (0, 1), D(1), D("19.5"), None
        )


def test_a_cap_may_make_the_mean_come_to_another_total() -> None:
    """Best one of two, 4 at most: 4 + 0 and 0 + 4 both come to 4; the mean 2 + 2 comes to 2."""
    rubric = RubricLines(
        (ScoringPoint("a", D(4), group=1), ScoringPoint("b", D(4), group=1)),
        (PointGroup(D(4), choose=1),),
    )
    marks = [TeacherMark(D(4), (D(4), D(0))), TeacherMark(D(4), (D(0), D(4)))]
    found = closest_pair(marks, rubric)
    assert found
    assert (found.value, found.points) == (D(4), None)

"""Which two marks of a response lie closest, and what their mean would be for the lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

from questions.rules.rubric import RubricLines, given_total

CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class TeacherMark:
    """A teacher's total and points, in the rubric's order; an imported mark may have no points."""

    total: Decimal
    points: tuple[Decimal, ...] = ()


@dataclass(frozen=True, slots=True)
class ClosestPair:
    """Two marks by their places from 0, how far apart they are, and their mean.

    ``points`` is the mean point by point; None where it cannot be stored as one
    mark: a mark has no points under the rubric, the mean has more than two
    decimals, or caps make it come to another total.
    """

    places: tuple[int, int]
    difference: Decimal
    value: Decimal
    points: tuple[Decimal, ...] | None


def closest_pairs(marks: Sequence[TeacherMark], rubric: RubricLines) -> tuple[ClosestPair, ...]:
    """The pairs of *marks* whose totals differ least, in the order of the marks; in points.

    Several where they are equally close: none of them is to be preferred. Empty
    for fewer than two marks. A mean of two marks may lie between two steps.
    """
    pairs = [_pair(marks, places, rubric) for places in combinations(range(len(marks)), 2)]
    least = min((pair.difference for pair in pairs), default=None)
    return tuple(pair for pair in pairs if pair.difference == least)


def closest_pair(marks: Sequence[TeacherMark], rubric: RubricLines) -> ClosestPair | None:
    """The one pair of *marks* that lies closest; None where several are equally close."""
    pairs = closest_pairs(marks, rubric)
    return pairs[0] if len(pairs) == 1 else None


def _pair(
    marks: Sequence[TeacherMark], places: tuple[int, int], rubric: RubricLines
) -> ClosestPair:
    first, second = (marks[place] for place in places)
    value = (first.total + second.total) / 2
    points = _mean_points(first, second, value, rubric)
    return ClosestPair(places, abs(first.total - second.total), value, points)


def _mean_points(
    first: TeacherMark, second: TeacherMark, value: Decimal, rubric: RubricLines
) -> tuple[Decimal, ...] | None:
    if not len(first.points) == len(second.points) == len(rubric.points):
        return None
    points = tuple((a + b) / 2 for a, b in zip(first.points, second.points, strict=True))
    if any(mean != mean.quantize(CENT) for mean in (*points, value)):
        return None
    if points and given_total(points, rubric.points, rubric.groups) != value:
        return None
    return points

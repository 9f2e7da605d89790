"""Tolerance: the largest difference between two marks of one response that still passes."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from evaluations.schemes import DEFAULT_TOLERANCE_POINTS, DEFAULT_TOLERANCE_SHARE
from questions.rules.rubric import RubricLines


def tolerance(
    full_marks: Decimal,
    step: Decimal,
    *,
    points: Decimal = DEFAULT_TOLERANCE_POINTS,
    share: Decimal = DEFAULT_TOLERANCE_SHARE,
) -> Decimal:
    """The larger of *points* and *share* of full marks, rounded down to the mark step.

    In points, a multiple of *step*, 0 or more; 0 where the step is coarser than
    the rule's value, and then only equal marks pass. Raises ValueError for a
    step that is not positive, or for negative full marks, points or share.
    """
    if step <= 0:
        raise ValueError("the mark step must be positive")
    if min(full_marks, points, share) < 0:
        raise ValueError("full marks, points and share must not be negative")
    return max(points, share * full_marks) // step * step


def within(first: Decimal, second: Decimal, tolerance: Decimal) -> bool:
    """Whether two marks pass; a difference equal to the tolerance does."""
    return abs(first - second) <= tolerance


def compared(points: Sequence[Decimal], rubric: RubricLines) -> tuple[Decimal, ...]:
    """What two markers are compared on: each scoring point, and each group as a whole.

    *points* stand in the rubric's order. Within a group two markers may reward
    different points and agree (alternatives, "any three"), so that it counts as
    what it comes to under its cap; the groups stand behind the single points.
    Raises ValueError when *points* and the rubric's points differ in number.
    """
    pairs = list(zip(points, rubric.points, strict=True))
    single = [value for value, line in pairs if line.group is None]
    grouped = [
        group.total([value for value, line in pairs if line.group == place])
        for place, group in enumerate(rubric.groups, start=1)
    ]
    return (*single, *grouped)


def points_within(first: Sequence[Decimal], second: Sequence[Decimal], tolerance: Decimal) -> bool:
    """Whether two marks pass on every point; equal to the tolerance passes.

    Marks that were given under different rubrics, or one without points, have
    nothing to be compared on: their totals alone decide.
    """
    if len(first) != len(second):
        return True
    return all(within(one, other, tolerance) for one, other in zip(first, second, strict=True))

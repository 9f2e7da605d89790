"""Tolerance: the largest difference between two marks of one response that still passes."""

from __future__ import annotations

from decimal import Decimal

from evaluations.rules.marking.scheme import DEFAULT_TOLERANCE_POINTS, DEFAULT_TOLERANCE_SHARE


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

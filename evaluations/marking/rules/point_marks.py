"""Whether a teacher's mark fits the item: full marks, mark step and scoring points.

Nothing is clamped, rounded or filled in; a mark that does not fit is refused and
the teacher corrects it.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum

from questions.rules.rubric import RubricLines, given_total


class MarkFault(StrEnum):
    """What is wrong with a mark; the value is stable, interfaces say it in a sentence.

    The parameters that a sentence may use stand behind each: ``mark`` is what
    was given, ``point`` the 1-based number of the scoring point.
    """

    NOT_A_NUMBER = "not_a_number"  # mark
    BELOW_ZERO = "below_zero"  # mark
    ABOVE_FULL = "above_full"  # mark, full
    NOT_A_STEP = "not_a_step"  # mark, step
    POINT_COUNT = "point_count"  # given, expected
    POINT_NOT_A_NUMBER = "point_not_a_number"  # point, mark
    POINT_BELOW_ZERO = "point_below_zero"  # point, mark
    POINT_ABOVE_FULL = "point_above_full"  # point, mark, full
    POINT_NOT_A_STEP = "point_not_a_step"  # point, mark, step
    SUM_DIFFERS = "sum_differs"  # mark, sum


class MarkError(ValueError):
    """A mark that does not fit: ``code`` says how, ``params`` what the sentence needs."""

    def __init__(self, code: MarkFault, **params: Decimal | int) -> None:
        self.code = code
        self.params = params
        super().__init__(f"{code}: " + ", ".join(f"{k}={v}" for k, v in params.items()))


def check_mark(
    total: Decimal,
    points: Sequence[Decimal],
    *,
    full_marks: Decimal,
    step: Decimal,
    rubric: RubricLines,
) -> None:
    """Raise MarkError unless the mark fits; return nothing when it does.

    *total* must be a finite number from 0 to *full_marks* and a multiple of
    *step*; full marks themselves always fit, also where the step does not
    divide them. With a *rubric*, *points* holds one value per scoring point in
    the rubric's order, each from 0 to its points and a multiple of the step (or
    its full points), and *total* is what they come to under the caps and choices
    of its groups. Without scoring points, *points* is empty.
    """
    lines = rubric.points
    if len(points) != len(lines):
        raise MarkError(MarkFault.POINT_COUNT, given=len(points), expected=len(lines))
    # First the points: the one that does not fit says more than the total that follows from it.
    for number, (given, line) in enumerate(zip(points, lines, strict=True), 1):
        _check_point(number, given, line.points, step)
    if not total.is_finite():
        raise MarkError(MarkFault.NOT_A_NUMBER, mark=total)
    if total < 0:
        raise MarkError(MarkFault.BELOW_ZERO, mark=total)
    if total > full_marks:
        raise MarkError(MarkFault.ABOVE_FULL, mark=total, full=full_marks)
    if lines:
        # Steps were checked point by point; their sum may hold a full point off the step.
        if (given_sum := given_total(points, lines, rubric.groups)) != total:
            raise MarkError(MarkFault.SUM_DIFFERS, mark=total, sum=given_sum)
    elif not _on_step(total, full_marks, step):
        raise MarkError(MarkFault.NOT_A_STEP, mark=total, step=step)


def _check_point(number: int, given: Decimal, full: Decimal, step: Decimal) -> None:
    if not given.is_finite():
        raise MarkError(MarkFault.POINT_NOT_A_NUMBER, point=number, mark=given)
    if given < 0:
        raise MarkError(MarkFault.POINT_BELOW_ZERO, point=number, mark=given)
    if given > full:
        raise MarkError(MarkFault.POINT_ABOVE_FULL, point=number, mark=given, full=full)
    if not _on_step(given, full, step):
        raise MarkError(MarkFault.POINT_NOT_A_STEP, point=number, mark=given, step=step)


def _on_step(given: Decimal, full: Decimal, step: Decimal) -> bool:
    return given == full or given % step == 0

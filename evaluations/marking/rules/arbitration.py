"""What happens next to a response: another mark, the lead's decision, or a final mark.

The schemes and rules are those of the marking protocol: double marking with a
third mark and arbitration as in on-screen marking of the Chinese examinations
(双评、三评、仲裁), and the mean of two as in GAOKAO-Bench.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluations.marking.rules.tolerance import points_within, within
from evaluations.schemes import FinalRule, Scheme


@dataclass(frozen=True, slots=True)
class NeedsMark:
    """Another teacher has to mark; ``slot`` is 1, 2 or 3."""

    slot: int


@dataclass(frozen=True, slots=True)
class NeedsArbitration:
    """No pair of marks passes: the lead has to decide."""


@dataclass(frozen=True, slots=True)
class Finalized:
    """The final mark, exact (a mean of half points may end in .25 or .75), and its rule."""

    value: Decimal
    rule: FinalRule


Decision = NeedsMark | NeedsArbitration | Finalized
# Whether the marks in two slots, by their places from 0, pass.
Passes = Callable[[int, int], bool]


def next_step(
    scheme: Scheme,
    marks: Sequence[Decimal],
    tolerance: Decimal,
    arbitration: Decimal | None,
    *,
    points: Sequence[Sequence[Decimal]] = (),
    point_tolerance: Decimal | None = None,
    one_more: bool = False,
) -> Decision:
    """What the marks so far, in the order of their slots, lead to under *scheme*.

    ``arbitration`` is the lead's mark or None; once given it is final, whatever
    the marks. Under ``2+1+1`` the third mark is looked at only while the first
    two differ by more than the tolerance. With a *point_tolerance* two marks pass
    only if they also agree on every scoring point, because opposite errors hide in
    a total: *points* then holds one row a mark, as ``tolerance.compared`` gives it.
    With *one_more* every response needs one mark more than planned, as ``_with_one_more`` says.
    Pure: asking again after a revision gives the decision for the revised marks.
    Raises ValueError for more marks than the scheme has.
    """
    if arbitration is not None:
        return Finalized(arbitration, FinalRule.ARBITRATION)
    most = max(scheme.most_marks, scheme.planned_marks + one_more)
    if len(marks) > most:
        raise ValueError(f"scheme {scheme} has {most} marks, not {len(marks)}")
    if len(marks) < scheme.planned_marks:
        return NeedsMark(len(marks) + 1)
    if one_more and len(marks) == scheme.planned_marks:
        return NeedsMark(len(marks) + 1)
    if scheme is Scheme.SINGLE and not one_more:
        return Finalized(marks[0], FinalRule.SINGLE)

    def passes(one: int, other: int) -> bool:
        if scheme is Scheme.MEAN:
            return True
        if not within(marks[one], marks[other], tolerance):
            return False
        if point_tolerance is None or not points:
            return True
        return points_within(points[one], points[other], point_tolerance)

    if one_more:
        return _with_one_more(marks, passes)
    if passes(0, 1):
        return Finalized((marks[0] + marks[1]) / 2, FinalRule.MEAN_OF_TWO)
    if scheme is Scheme.TWO_AND_LEAD:
        return NeedsArbitration()
    if len(marks) < 3:
        return NeedsMark(3)
    return _with_third(marks, passes)


def _with_one_more(marks: Sequence[Decimal], passes: Passes) -> Decision:
    """Finalize marks of which the last was asked for although those before it were enough.

    Two marks, of which one was planned: their mean if they pass, else the lead. Of three, the pair
    that lies closest, the first two where a pair with the third is no closer; where the first two
    do not pass, the third mark counts as any third mark does.
    """
    first, second = marks[:2]
    if len(marks) == 2:
        mean = Finalized((first + second) / 2, FinalRule.MEAN_OF_TWO)
        return mean if passes(0, 1) else NeedsArbitration()
    if not passes(0, 1):
        return _with_third(marks, passes)
    closer = min(abs(first - marks[2]), abs(second - marks[2])) < abs(first - second)
    decision = _with_third(marks, passes) if closer else NeedsArbitration()
    if isinstance(decision, Finalized):
        return decision
    return Finalized((first + second) / 2, FinalRule.MEAN_OF_TWO)


def _with_third(marks: Sequence[Decimal], passes: Passes) -> Decision:
    """Finalize three marks of which the first two do not pass.

    Of the pairs with the third mark that pass, the closest counts. Both are
    equally close when the third mark lies exactly midway; it then is the mean of
    all three and finalizes if it passes with both. They are too when the first two
    have one total and differ on points only: then both pairs have one mean.
    """
    first, second, third = marks
    pairs = [
        (abs(one - third), (one + third) / 2, rule)
        for place, one, rule in (
            (0, first, FinalRule.CLOSEST_1_3),
            (1, second, FinalRule.CLOSEST_2_3),
        )
        if passes(place, 2)
    ]
    if not pairs:
        return NeedsArbitration()
    if len(pairs) == 2 and first + second == 2 * third and first != second:
        return Finalized(third, FinalRule.THIRD_MIDWAY)
    _distance, value, rule = min(pairs, key=lambda pair: pair[0])
    return Finalized(value, rule)

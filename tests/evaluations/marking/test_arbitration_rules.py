"""The four schemes as one table: marks so far, and what happens next."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.marking.rules.arbitration import (
    Finalized,
    NeedsArbitration,
    NeedsMark,
    next_step,
)
from evaluations.schemes import DEFAULT_SCHEME, FinalRule, Scheme

LEAD = NeedsArbitration()


def finalized(value: str, rule: str) -> Finalized:
    return Finalized(Decimal(value), FinalRule(rule))  # type: ignore[call-arg]


# scheme, marks in slot order with one more than planned, tolerance, what comes next
ONE_MORE = [
    ("1", "4", "1", NeedsMark(2)),
    ("1", "4 5", "1", finalized("4.5", "mean of two")),
    ("1", "4 6", "1", LEAD),
    ("mean", "4", "1", NeedsMark(2)),
    ("mean", "4 10", "1", NeedsMark(3)),
    ("mean", "4 10 9", "1", finalized("9.5", "mean of closest pair (2 and 3)")),
    ("mean", "4 10 7", "1", finalized("7", "third mark midway")),
    ("mean", "4 6 9", "1", finalized("5", "mean of two")),
    ("mean", "4 6 8", "1", finalized("5", "mean of two")),  # no closer
    ("2+1", "4 5", "1", NeedsMark(3)),
    ("2+1", "4 5 4", "1", finalized("4", "mean of closest pair (1 and 3)")),
    ("2+1", "4 5 9", "1", finalized("4.5", "mean of two")),
    ("2+1", "4 4 4", "1", finalized("4", "mean of two")),
    ("2+1+1", "4 5", "1", NeedsMark(3)),
    ("2+1+1", "4 5 4.5", "1", finalized("4.5", "third mark midway")),
    ("2+1+1", "4 8 7.5", "1", finalized("7.75", "mean of closest pair (2 and 3)")),  # given again
    ("2+1+1", "4 8 12", "1", LEAD),
]
# scheme, marks in slot order, tolerance, what comes next
TABLE = [
    ("1", "", "1", NeedsMark(1)),
    ("1", "7.5", "1", finalized("7.5", "single mark")),
    ("mean", "", "1", NeedsMark(1)),
    ("mean", "4", "1", NeedsMark(2)),
    ("mean", "4 5", "1", finalized("4.5", "mean of two")),
    ("mean", "0 12", "1", finalized("6", "mean of two")),
    ("2+1", "4", "1", NeedsMark(2)),
    ("2+1", "4 4.5", "1", finalized("4.25", "mean of two")),
    ("2+1", "4 5", "1", finalized("4.5", "mean of two")),  # equal to the tolerance
    ("2+1", "4 5.5", "1", LEAD),
    ("2+1", "5.5 4", "1", LEAD),
    ("2+1+1", "", "1", NeedsMark(1)),
    ("2+1+1", "4", "1", NeedsMark(2)),
    ("2+1+1", "4 5", "1", finalized("4.5", "mean of two")),
    ("2+1+1", "4 6", "1", NeedsMark(3)),
    # the third is nearer to one and passes with it
    ("2+1+1", "4 8 4.5", "1", finalized("4.25", "mean of closest pair (1 and 3)")),
    ("2+1+1", "4 8 7.5", "1", finalized("7.75", "mean of closest pair (2 and 3)")),
    ("2+1+1", "8 4 4.5", "1", finalized("4.25", "mean of closest pair (2 and 3)")),
    ("2+1+1", "4 8 3", "1", finalized("3.5", "mean of closest pair (1 and 3)")),  # outside, equal
    ("2+1+1", "4 8 9", "1", finalized("8.5", "mean of closest pair (2 and 3)")),
    # it passes with both, nearer to one
    ("2+1+1", "4 5.5 5", "1", finalized("5.25", "mean of closest pair (2 and 3)")),
    ("2+1+1", "10 13.5 11.5", "2", finalized("10.75", "mean of closest pair (1 and 3)")),
    # midway: both pairs pass and are equally close
    ("2+1+1", "4 6 5", "1", finalized("5", "third mark midway")),
    ("2+1+1", "4 5.5 4.75", "1", finalized("4.75", "third mark midway")),  # quarter points
    # midway, and neither pair passes
    ("2+1+1", "4 8 6", "1", LEAD),
    ("2+1+1", "0 12 6", "1", LEAD),
    # no pair passes
    ("2+1+1", "4 8 5.5", "1", LEAD),
    ("2+1+1", "4 8 12", "1", LEAD),
    ("2+1+1", "4 5 6", "0", LEAD),
    ("2+1+1", "4 6 4", "0", finalized("4", "mean of closest pair (1 and 3)")),
    # the first two pass after a revision: the third mark is not called for any more
    ("2+1+1", "4 5 5", "1", finalized("4.5", "mean of two")),
]


@pytest.mark.parametrize(("scheme", "marks", "tolerance", "step"), ONE_MORE)
def test_one_more_mark_than_planned(scheme: str, marks: str, tolerance: str, step: object) -> None:
    given_marks = [Decimal(mark) for mark in marks.split()]
    arguments = (Scheme(scheme), given_marks, Decimal(tolerance), None)  # type: ignore[call-arg]
    assert next_step(*arguments, one_more=True) == step


@pytest.mark.parametrize(("scheme", "marks", "tolerance", "expected"), TABLE)
def test_next_step(scheme: str, marks: str, tolerance: str, expected: object) -> None:
    given_marks = [Decimal(mark) for mark in marks.split()]
    found = next_step(Scheme(scheme), given_marks, Decimal(tolerance), None)  # type: ignore[call-arg]
    assert found == expected


@pytest.mark.parametrize("scheme", list(Scheme))
@pytest.mark.parametrize("marks", ["", "4", "4 9"])
def test_the_leads_mark_is_final(scheme: Scheme, marks: str) -> None:
    found = next_step(scheme, [Decimal(m) for m in marks.split()], Decimal(1), Decimal("6.5"))
    assert found == finalized("6.5", "arbitration")


@pytest.mark.parametrize(("scheme", "most"), [("1", 1), ("mean", 2), ("2+1", 2), ("2+1+1", 3)])
def test_more_marks_than_the_scheme_has_are_refused(scheme: str, most: int) -> None:
    with pytest.raises(ValueError, match=f"has {most} marks"):
        next_step(Scheme(scheme), [Decimal(4)] * (most + 1), Decimal(1), None)  # type: ignore[call-arg]


def test_names_in_both_languages() -> None:
    assert FinalRule.CLOSEST_1_3 == "mean of closest pair (1 and 3)"
    assert FinalRule.CLOSEST_1_3.label("zh-hans") == "最接近两评均值（一评与三评）"
    assert all(rule.english and rule.chinese for rule in FinalRule)
    assert DEFAULT_SCHEME == "2+1+1"


halves = st.integers(0, 60).map(lambda n: Decimal(n) / 2)


@given(st.lists(halves, min_size=3, max_size=3), st.integers(0, 6).map(lambda n: Decimal(n) / 2))
def test_a_finalized_mark_lies_between_its_marks(marks: list[Decimal], tolerance: Decimal) -> None:
    found = next_step(Scheme.THREE_AND_LEAD, marks, tolerance, None)
    mirrored = next_step(Scheme.THREE_AND_LEAD, [marks[1], marks[0], marks[2]], tolerance, None)
    if isinstance(found, Finalized):
        assert min(marks) <= found.value <= max(marks)
        assert isinstance(mirrored, Finalized)
        assert mirrored.value == found.value  # who was first does not change the number
    else:
        assert found == mirrored == LEAD
        assert all(abs(a - b) > tolerance for a in marks for b in marks if a is not b)


# marks of two scoring points in slot order, tolerance on the total and on each point, what next
POINTS_TABLE = [
    ("3-3 3-3", "1", "1", finalized("6", "mean of two")),
    ("3-3 4-3", "1", "1", finalized("6.5", "mean of two")),  # equal to both tolerances
    ("4-2 2-4", "1", "1", NeedsMark(3)),  # one total, opposite errors
    ("4-2 2-4", "1", "2", finalized("6", "mean of two")),
    ("4-2 2-4 3-3", "1", "1", finalized("6", "mean of closest pair (1 and 3)")),
    ("5-1 2-4 2-4", "1", "1", finalized("6", "mean of closest pair (2 and 3)")),
    ("6-0 2-4 4-2", "1", "1", LEAD),  # one total three times, and no two that agree
    ("6-2 4-2 5-2", "1", "1", finalized("7", "third mark midway")),
    ("6-2 4-2 4-3", "1", "1", finalized("6.5", "mean of closest pair (2 and 3)")),  # 1 and 3: 2 off
    ("4-4 4-0 6-0", "3", "1", LEAD),  # 6 is midway and passes on the total, on points nowhere
    ("6-2 2-2 6-1", "1", "1", finalized("7.5", "mean of closest pair (1 and 3)")),
]


@pytest.mark.parametrize(("marks", "total", "point", "expected"), POINTS_TABLE)
def test_opposite_errors_do_not_hide_in_a_total(
    marks: str, total: str, point: str, expected: object
) -> None:
    points = [tuple(Decimal(one) for one in mark.split("-")) for mark in marks.split()]
    found = next_step(
        Scheme.THREE_AND_LEAD,
        [sum(mark, Decimal(0)) for mark in points],
        Decimal(total),
        None,
        points=points,
        point_tolerance=Decimal(point),
    )
    assert found == expected


def test_marks_under_different_rubrics_are_compared_by_their_totals() -> None:
    points = [(Decimal(4), Decimal(2)), ()]
    found = next_step(
        Scheme.TWO_AND_LEAD,
        [Decimal(6), Decimal(6)],
        Decimal(1),
        None,
        points=points,
        point_tolerance=Decimal(0),
    )
    assert found == finalized("6", "mean of two")

"""Rubrics as values: caps, alternatives, what can be reached, and what is wrong with one."""

from __future__ import annotations

from decimal import Decimal as D
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions.rules.rubric import (
    PointGroup,
    RubricFault,
    RubricLines,
    ScoringPoint,
    findings,
    given_total,
    in_order,
    reachable,
    reachable_by_sub,
    step_for,
)

# "Any three of these five, 2 points each", after one point that always counts.
ANY_THREE = RubricLines(
    points=(
        ScoringPoint("names the reform", D(4)),
        *(ScoringPoint(f"effect {number}", D(2), group=1) for number in range(1, 6)),
    ),
    groups=(PointGroup(D(6), "any three effects", choose=3),),
)
HALVES = st.integers(1, 20).map(lambda halves: D(halves) / 2)


@pytest.mark.parametrize(
    ("given_points", "total"),
    [
        (("4", "2", "2", "2", "2", "2"), "10"),  # five named, three count
        (("4", "2", "2", "0", "0", "0"), "8"),
        (("0", "0.5", "1", "1.5", "2", "0"), "4.5"),  # the best three: 2 + 1.5 + 1
        (("0", "0", "0", "0", "0", "0"), "0"),
    ],
)
def test_the_best_points_of_a_group_count(given_points: tuple[str, ...], total: str) -> None:
    values = [D(value) for value in given_points]
    assert given_total(values, ANY_THREE.points, ANY_THREE.groups) == D(total)


def test_a_cap_holds_below_the_sum_of_its_points() -> None:
    points = tuple(ScoringPoint("a", D(2), group=1) for _ in range(4))
    assert given_total([D(2)] * 4, points, (PointGroup(D(5)),)) == D(5)
    assert given_total([D("1.5")] * 3 + [D(0)], points, (PointGroup(D(5)),)) == D("4.5")


def test_of_alternatives_the_better_one_counts() -> None:
    points = (ScoringPoint("by energy", D(6), group=1), ScoringPoint("by forces", D(4), group=1))
    either = PointGroup(D(6), choose=1)
    assert either.alternatives
    assert given_total([D(2), D(4)], points, (either,)) == D(4)
    assert reachable(RubricLines(points, (either,))) == D(6)


def test_points_and_marks_that_differ_in_number_are_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        given_total([D(1)], ANY_THREE.points, ANY_THREE.groups)


def test_what_can_be_reached_is_told_by_sub_question() -> None:
    rubric = RubricLines(
        (
            ScoringPoint("a", D(3), sub=1),
            ScoringPoint("b", D(2), sub=2, group=1),
            ScoringPoint("c", D(2), sub=2, group=1),
        ),
        (PointGroup(D(3), sub=2),),
    )
    assert reachable_by_sub(rubric) == {1: D(3), 2: D(3)}


@given(values=st.lists(HALVES, min_size=1, max_size=7), cap=HALVES, choose=st.integers(1, 7))
def test_a_group_gives_the_best_choice_under_its_cap(values: list[D], cap: D, choose: int) -> None:
    """Against every possible choice: no choice of *choose* points gives more."""
    some = combinations(values, min(choose, len(values)))
    best = max(sum(choice, D(0)) for choice in some)
    assert PointGroup(cap, choose=choose).total(values) == min(best, cap)


@given(values=st.lists(HALVES, min_size=1, max_size=6), extra=HALVES)
def test_more_points_never_give_less(values: list[D], extra: D) -> None:
    group = PointGroup(D(5), choose=2)
    assert group.total([*values, extra]) >= group.total(values)


def codes(rubric: RubricLines, *subs: str) -> list[str]:
    marks = [D(sub) for sub in subs]
    return [finding.code for finding in findings(rubric, marks, images=["own.png"])]


def point(
    text: str = "a", points: str = "2", sub: int = 1, group: int | None = None
) -> ScoringPoint:
    return ScoringPoint(text, D(points), sub, group)


def test_a_rubric_that_fits_has_nothing_wrong() -> None:
    assert codes(ANY_THREE, "10") == []
    assert codes(RubricLines((point("![](image:own.png)"),)), "2") == []


@pytest.mark.parametrize(
    ("rubric", "code"),
    [
        (RubricLines(), RubricFault.EMPTY),
        (RubricLines((point(),) * 201), RubricFault.TOO_LONG),
        (RubricLines((point(" "),)), RubricFault.POINT_WITHOUT_TEXT),
        (RubricLines((point("x" * 2001),)), RubricFault.POINT_TEXT_TOO_LONG),
        (RubricLines((point("![](image:other.png)"),)), RubricFault.POINT_PICTURE_UNKNOWN),
        (RubricLines((point(points="0"),)), RubricFault.POINT_OUT_OF_RANGE),
        (RubricLines((point(points="-1"),)), RubricFault.POINT_OUT_OF_RANGE),
        (RubricLines((point(points="NaN"),)), RubricFault.POINT_OUT_OF_RANGE),
        (RubricLines((point(points="301"),)), RubricFault.POINT_OUT_OF_RANGE),
        (RubricLines((point(points="0.001"),)), RubricFault.POINT_OUT_OF_RANGE),
        (RubricLines((point(sub=2),)), RubricFault.POINT_SUB_UNKNOWN),
        (RubricLines((point(group=1),)), RubricFault.POINT_GROUP_UNKNOWN),
        (RubricLines((point(),), (PointGroup(D(2)),)), RubricFault.GROUP_WITHOUT_POINTS),
        (
            RubricLines((point(group=1),), (PointGroup(D(2), sub=2),)),
            RubricFault.POINT_OUTSIDE_GROUP_SUB,
        ),
        (
            RubricLines((point(group=1),), (PointGroup(D(0)),)),
            RubricFault.GROUP_CAP_OUT_OF_RANGE,
        ),
        (
            RubricLines((point(group=1),), (PointGroup(D(2), "x" * 201),)),
            RubricFault.GROUP_TEXT_TOO_LONG,
        ),
        (
            RubricLines((point(group=1),), (PointGroup(D(2), choose=2),)),
            RubricFault.GROUP_CHOOSES_TOO_MANY,
        ),
        (
            RubricLines((point(group=1),), (PointGroup(D(2), choose=0),)),
            RubricFault.GROUP_CHOOSES_TOO_MANY,
        ),
    ],
)
def test_what_cannot_be_a_rubric_is_named(rubric: RubricLines, code: RubricFault) -> None:
    assert codes(rubric, "2") == [code]


def test_a_sum_is_held_against_the_full_marks_of_its_sub_question() -> None:
    rubric = RubricLines((point(points="2", sub=1), point(points="3", sub=2)))
    found = findings(rubric, [D(3), D(3)])
    assert [(finding.code, finding.params) for finding in found] == [
        (RubricFault.SUB_SUM_DIFFERS, {"sub": 1, "sum": D(2), "full": D(3)})
    ]


def test_a_sub_question_without_points_is_missing_its_marks() -> None:
    assert codes(RubricLines((point(points="2", sub=2),)), "2", "2") == ["sub_sum_differs"]


def test_a_cap_above_what_its_points_give_is_named() -> None:
    rubric = RubricLines(
        (point(group=1), point(group=1), point(group=1)), (PointGroup(D(5), choose=2),)
    )
    found = findings(rubric, [D(4)])
    assert [(finding.code, finding.params) for finding in found] == [
        (RubricFault.GROUP_CAP_ABOVE_POINTS, {"group": 1, "cap": D(5), "sum": D(4)})
    ]


def test_points_off_the_step_are_named_unless_full_marks_are_finer() -> None:
    rubric = RubricLines((point(points="1.25"), point(points="0.75")))
    assert codes(rubric, "2") == ["point_not_a_step", "point_not_a_step"]
    assert step_for([D("1.5"), D(4)]) == D("0.5")
    assert step_for([D("1.25")]) == D("0.01")
    assert findings(rubric, [D(2)], D("0.01")) == []


def test_a_group_stands_together_below_its_sub_question() -> None:
    rubric = RubricLines(
        (
            point("later", sub=2, group=1),
            point("first", group=2),
            point("free"),
            point("also first", group=2),
        ),
        (PointGroup(D(1), "of 2", sub=2), PointGroup(D(2), "of 1")),
    )
    ordered = in_order(rubric)
    assert [(p.text, p.group) for p in ordered.points] == [
        ("first", 1),
        ("also first", 1),
        ("free", None),
        ("later", 2),
    ]
    assert [group.text for group in ordered.groups] == ["of 1", "of 2"]
    assert in_order(ordered) == ordered

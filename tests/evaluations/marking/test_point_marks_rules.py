"""A mark fits or is refused with a code; it is never bent."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluations.marking.rules.point_marks import MarkError, check_mark
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint

RUBRIC = RubricLines((ScoringPoint("a", Decimal(3)), ScoringPoint("b", Decimal("2.5"), sub=2)))
# One point that always counts, and any two of three, 4 points at most.
CAPPED = RubricLines(
    (
        ScoringPoint("a", Decimal(3)),
        *(ScoringPoint(name, Decimal(2), group=1) for name in ("b", "c", "d")),
    ),
    (PointGroup(Decimal(4), choose=2),),
)


def decimals(text: str) -> list[Decimal]:
    return [Decimal(word) for word in text.split()]


def check(total: str, points: str = "", *, full: str = "12", step: str = "0.5") -> None:
    rubric = RUBRIC if points else RubricLines()
    check_mark(
        Decimal(total),
        decimals(points),
        full_marks=Decimal(full),
        step=Decimal(step),
        rubric=rubric,
    )


@pytest.mark.parametrize("total", ["0", "12", "7.5", "7.50", "0.5"])
def test_totals_that_fit(total: str) -> None:
    check(total)


def test_full_marks_fit_where_the_step_does_not_divide_them() -> None:
    check("2.5", full="2.5", step="1")
    check("5.5", "3 2.5", full="5.5", step="1")


@pytest.mark.parametrize(("total", "points"), [("0", "0 0"), ("5.5", "3 2.5"), ("3.5", "1.5 2")])
def test_points_that_fit(total: str, points: str) -> None:
    check(total, points, full="5.5")


@pytest.mark.parametrize(
    ("total", "points", "code", "params"),
    [
        ("12.5", "", "above_full", {"mark": "12.5", "full": "12"}),
        ("-0.5", "", "below_zero", {"mark": "-0.5"}),
        ("7.25", "", "not_a_step", {"mark": "7.25", "step": "0.5"}),
        ("7.3", "", "not_a_step", {"mark": "7.3", "step": "0.5"}),
        ("NaN", "", "not_a_number", None),
        ("sNaN", "", "not_a_number", None),
        ("Infinity", "", "not_a_number", None),
        ("-Infinity", "", "not_a_number", None),
        ("3", "3", "point_count", {"given": 1, "expected": 2}),
        ("3", "1 1 1", "point_count", {"given": 3, "expected": 2}),
        ("4", "3.5 0.5", "point_above_full", {"point": 1, "mark": "3.5", "full": "3"}),
        ("2", "3 -1", "point_below_zero", {"point": 2, "mark": "-1"}),
        ("3.25", "3 0.25", "point_not_a_step", {"point": 2, "mark": "0.25", "step": "0.5"}),
        ("3", "3 NaN", "point_not_a_number", None),
        ("6", "3 2", "sum_differs", {"mark": "6", "sum": "5"}),
    ],
)
def test_faults(total: str, points: str, code: str, params: dict[str, str | int] | None) -> None:
    with pytest.raises(MarkError) as caught:
        check(total, points)
    assert caught.value.code == code
    if params is not None:
        exact = {k: Decimal(v) if isinstance(v, str) else v for k, v in params.items()}
        assert caught.value.params == exact
    assert str(caught.value).startswith(code)


def test_points_without_a_rubric_are_refused() -> None:
    with pytest.raises(MarkError) as caught:
        check_mark(
            Decimal(3),
            [Decimal(3)],
            full_marks=Decimal(12),
            step=Decimal("0.5"),
            rubric=RubricLines(),
        )
    assert caught.value.code == "point_count"


def check_capped(total: str, points: str) -> None:
    given = decimals(points)
    check_mark(Decimal(total), given, full_marks=Decimal(7), step=Decimal("0.5"), rubric=CAPPED)


@pytest.mark.parametrize(
    ("total", "points"),
    [("7", "3 2 2 2"), ("7", "3 2 2 0"), ("4.5", "1 2 1.5 1"), ("0", "0 0 0 0")],
)
def test_a_total_is_what_the_points_come_to_under_their_caps(total: str, points: str) -> None:
    check_capped(total, points)


def test_a_plain_sum_beyond_a_cap_is_refused() -> None:
    with pytest.raises(MarkError) as caught:
        check_capped("6", "1 2 2 1")  # 1 + the best two of 2, 2 and 1
    assert caught.value.code == "sum_differs"
    assert caught.value.params == {"mark": Decimal(6), "sum": Decimal(5)}

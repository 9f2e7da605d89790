"""Figures as people read them."""

from __future__ import annotations

import pytest

from evaluations.statistics.figure import Figure, missing
from evaluations.statistics.number_text import interval_text, number_text, plain_points


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (7000, "count", "7,000"),
        (0.72150, "rate", "72.2 %"),
        (0, "rate", "0.0 %"),
        (465.998, "points", "466.0"),
        (465.998, "exact_points", "465.998"),
        (-0.25, "difference", "−0.25"),
        (0.25, "difference", "+0.25"),
        (-0.001, "difference", "0.00"),
        (0, "difference", "0.00"),
        (-1, "coefficient", "−1.000"),
        (0.4, "seconds", "< 1 s"),
        (0, "seconds", "< 1 s"),
        (41.5, "seconds", "42 s"),
        (0.8765, "coefficient", "0.876"),  # the float lies below the tie
        (12.5, "percent_difference", "+12.5"),
        (-0.031, "rate_difference", "−3.1 pp"),
        (0.031, "of_full_marks", "+3.1 %"),
    ],
)
def test_numbers(value: float, kind: str, text: str) -> None:
    assert number_text(value, kind) == text


@pytest.mark.parametrize(
    ("value", "text"), [(7000, "7,000"), (2.25, "2.25"), (2.5, "2.5"), (0, "0"), (100, "100")]
)
def test_points_have_no_needless_zeros(value: float, text: str) -> None:
    assert plain_points(value) == text


@pytest.mark.parametrize(
    ("figure", "kind", "text"),
    [
        (Figure(447, 9, 438, 456), "points", "±9.0"),
        (Figure(0.5, 9, 0.25, 0.75), "rate", "±25.0"),
        (Figure(0.01, 9, 0, 0.06), "rate", "0.0–6.0"),
        # released 466.1, computed 465.998: the half widths 16.606 and 16.402 are one interval
        (Figure(466.1, 9, 449.494, 482.502), "points", "±16.5"),
        (Figure(0.5, 9), "rate", ""),
        (missing("no_data"), "rate", ""),
    ],
)
def test_intervals(figure: Figure, kind: str, text: str) -> None:
    assert interval_text(figure, kind) == text

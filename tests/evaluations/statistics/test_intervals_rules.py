"""Intervals against scipy and against examples worked by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import stdtrit

from evaluations.statistics.intervals import (
    effective_number,
    ratio_interval,
    ratio_variance,
    share,
    sum_half_width,
    t_quantile,
    uniform_interval,
    uniform_variance,
    wilson,
)
from evaluations.statistics.student import t_quantile_of


@pytest.mark.parametrize(("k", "n"), [(0, 1), (0, 10), (1, 10), (5, 10), (10, 10), (121, 150)])
def test_wilson_is_scipys(k: int, n: int) -> None:
    expected = stats.binomtest(k, n).proportion_ci(confidence_level=0.95, method="wilson")
    assert wilson(k, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("n", [1, 3, 7, 29, 150])
def test_a_share_lies_in_its_interval(n: int) -> None:
    for k in range(n + 1):
        figure = share(k, n)
        assert figure.value is not None
        assert figure.low is not None
        assert figure.high is not None
        assert 0 <= figure.low <= figure.value <= figure.high <= 1


def test_a_share_of_nothing_has_a_reason() -> None:
    assert share(0, 0).reason == "no_data"
    assert wilson(0, 0) is None


def test_ratio_by_hand() -> None:
    # Points 2, 3, 7 of 4, 6, 10: R = 12/20 = 0.6; residuals -0.4, -0.6, 1.0;
    # squares 0.16 + 0.36 + 1.00 = 1.52; mean full 20/3;
    # variance = 1.52 / (2 * 3 * (20/3)^2) = 1.52 / 266.67 = 0.0057.
    points, full = [2.0, 3.0, 7.0], [4.0, 6.0, 10.0]
    assert ratio_variance(points, full) == pytest.approx(0.0057)
    # t(2) at 97.5 % = 4.302653; half = 4.302653 * sqrt(0.0057) = 0.324843
    assert ratio_interval(points, full) == pytest.approx((0.275157, 0.924843), abs=1e-6)


def test_ratio_with_equal_full_marks_is_the_t_interval_of_the_mean() -> None:
    points = [1.0, 2.0, 2.0, 5.0, 4.0]
    low, high = stats.t.interval(
        0.95, df=4, loc=sum(points) / 25, scale=stats.sem([p / 5 for p in points])
    )
    assert ratio_interval(points, [5.0] * 5) == pytest.approx((max(0, low), high))


@pytest.mark.parametrize(
    ("points", "full"),
    [([], []), ([3.0], [5.0]), ([0.0, 0.0], [0.0, 0.0]), ([5.0, 10.0], [5.0, 10.0])],
    ids=["no cluster", "one cluster", "no full marks", "no spread"],
)
def test_no_interval(points: list[float], full: list[float]) -> None:
    assert ratio_interval(points, full) is None


def test_a_rate_of_all_questions_is_wilsons_over_them() -> None:
    # (4 + 2)^2 / (16 + 4) = 1.8 questions of equal weight; at rate 0 the bound is z^2 / (n + z^2).
    assert effective_number([4.0, 2.0]) == pytest.approx(1.8)
    assert effective_number([5.0] * 7) == pytest.approx(7)
    assert effective_number([]) == 0
    square = stats.norm.ppf(0.975) ** 2
    assert uniform_interval(0.0, 1.8) == pytest.approx((0.0, square / (1.8 + square)))
    assert uniform_interval(1.0, 1.8) == pytest.approx((1.8 / (1.8 + square), 1.0))
    assert uniform_interval(0.5, 4) is None
    assert uniform_interval(12 / 11, 4) is None
    assert uniform_interval(0.0, 0) is None


def test_the_variance_of_a_rate_without_spread_by_hand() -> None:
    # One of 8 summands: 4/8 observations more, half of them right.
    # 25 of 25: p = 25.25 / 25.5; 3 questions of half the marks each: p = 1.75 / 3.5.
    assert uniform_variance(1.0, 25, 8) == pytest.approx(25.25 * 0.25 / 25.5**3)
    assert uniform_variance(0.0, 25, 8) == pytest.approx(25.25 * 0.25 / 25.5**3)
    assert uniform_variance(0.5, 3, 8) == pytest.approx(0.25 / 3.5)
    # Of one rate: 2 right and 2 wrong more, as Agresti and Coull.
    assert uniform_variance(1.0, 10, 1) == pytest.approx(12 / 14 * 2 / 14 / 14)
    assert uniform_variance(12 / 11, 4, 8) is None
    assert uniform_variance(1.0, 0, 8) is None


def test_equal_rates_have_no_variance_whatever_they_are_rounded_to() -> None:
    full = [3.0, 7.0, 11.0, 0.7]
    assert ratio_variance([0.1 * f for f in full], full) == 0
    assert ratio_interval([0.1 * f for f in full], full) is None


def test_a_rate_above_one_stays_in_its_interval() -> None:
    interval = ratio_interval([12.0, 11.0], [11.0, 11.0])
    assert interval is not None
    assert interval[1] >= 23 / 22


def test_t_quantile() -> None:
    assert t_quantile(9) == pytest.approx(stats.t.ppf(0.975, 9))
    assert t_quantile(7.5) == pytest.approx(stats.t.ppf(0.975, 7.5))


@given(st.floats(0.2, 1e6), st.floats(0.1, 0.99))
@example(4.999999, 0.95)  # by bisection up to here
@example(5.0, 0.95)
@example(100.0, 0.99)  # by Newton's method up to here
@example(100.000001, 0.99)
def test_quantiles_of_t_are_scipys(degrees: float, level: float) -> None:
    expected = float(stdtrit(degrees, 0.5 + level / 2))
    assert t_quantile_of(degrees, level) == pytest.approx(expected, rel=1e-9)


def test_sum_of_independent_estimates_by_hand() -> None:
    # Variances 4 and 9 with 10 and 20 degrees: total 13, df = 169 / (1.6 + 4.05) = 29.911504
    expected = stats.t.ppf(0.975, 169 / 5.65) * math.sqrt(13)
    assert sum_half_width([4.0, 9.0], [10, 20]) == pytest.approx(expected)
    assert sum_half_width([0.0, 0.0], [10, 20]) is None

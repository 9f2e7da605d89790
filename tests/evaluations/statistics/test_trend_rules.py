"""Totals by year, the leakage check, and what prompt settings gain."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest
from scipy.stats import t as student

from evaluations.statistics.gaokao_750 import STREAMS
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.settings import gains, side_by_side
from evaluations.statistics.tally import ALL
from evaluations.statistics.trend import leakage, trend
from questions.rules.vocabulary import Part, Stream, Subject
from tests.evaluations.statistics.statistics_frames import asked, frame

pytestmark = pytest.mark.once


def paper(year: int, share: float, *, without: tuple[str, str] | None = None) -> list[dict]:
    """Two questions of each part of each subject of the sciences, of which *share* was earned."""
    return [
        asked(100 * year + 10 * n + two, 10 * share, 10.0, subject=subject, part=part, year=year)
        for n, (subject, part) in enumerate(
            (subject, part) for subject in STREAMS[Stream.SCIENCES] for part in Part
        )
        for two in (0, 1)
        if (subject, part) != without
    ]


def test_each_year_has_its_total_or_says_what_is_missing() -> None:
    made = frame(
        *paper(2010, 0.5),
        *paper(2022, 0.25, without=(Subject.PHYSICS, Part.SUBJECTIVE)),
        *paper(2023, 1.0),
        asked(1, 1.0, subject=Subject.PHYSICS, year=None),
    )
    report = trend(made, policy="strict")
    totals = {(row.key["year"], row.key["stream"]): row.figures["total"] for row in report.rows}
    assert (totals["2010", "sciences"].value, totals["2010", "sciences"].n) == (375.0, 24)
    assert totals["2023", "sciences"].value == 750.0
    assert totals["2022", "sciences"].value is None
    assert totals["2022", "sciences"].reason == "missing:Physics/subjective"
    assert str(totals["2010", "humanities"].reason).startswith("missing:Humanities Mathematics/")
    assert len(totals) == 6
    assert trend(frame(), policy="strict").rows == []


def test_leakage_compares_the_newest_years_with_all_others() -> None:
    old = [asked(n, p, 10.0, year=2010 + n) for n, p in enumerate((5.0, 6.0, 7.0, 6.0, 6.0))]
    new = [asked(9 + n, p, 10.0, year=2023) for n, p in enumerate((4.0, 5.0, 3.0, 4.0, 4.0))]
    marked = asked(99, 1.0, part="subjective", year=2012)
    objective, subjective = leakage(frame(*old, *new, marked), {2023}).rows
    figures = objective.figures
    assert (figures["base"].value, figures["newest"].value) == (0.6, 0.4)
    # Both variances are 5 x 2 / (4 x 50^2) = 0.001, so there are 8 degrees of freedom.
    half = student.ppf(0.975, 8) * 0.002**0.5
    difference = figures["difference"]
    assert difference.value == pytest.approx(-0.2)
    assert (difference.low, difference.high) == pytest.approx((-0.2 - half, -0.2 + half))
    assert subjective.key["part"] == "subjective"
    assert subjective.figures["difference"].reason == "no_data"


def test_a_year_in_which_all_is_right_is_no_certainty_of_the_difference() -> None:
    old = [asked(n, n % 2, year=2010 + n) for n in range(8)]
    new = [asked(20 + n, 1.0, year=2023) for n in range(3)]
    (row,) = leakage(frame(*old, *new), {2023}).rows
    newest, difference = row.figures["newest"], row.figures["difference"]
    expected = binomtest(3, 3).proportion_ci(method="wilson")
    assert (newest.low, newest.high) == pytest.approx((expected.low, expected.high))
    # Half of 8 right: variance 8 x 2 / (7 x 8^2) = 1/28 with 7 degrees. All of 3, one of two rates:
    # (3 + 1) / (3 + 2) of 5 observations with 2 degrees.
    old_variance, new_variance = 1 / 28, 0.8 * 0.2 / 5
    both = old_variance + new_variance
    half = student.ppf(0.975, both**2 / (old_variance**2 / 7 + new_variance**2 / 2)) * both**0.5
    assert (difference.value, difference.low) == (0.5, pytest.approx(0.5 - half))
    assert difference.high == 1.0, "no difference is above 1"


ZERO, FEW = ModelCondition("m", "zero-shot"), ModelCondition("m", "few")
SETTINGS = {ZERO: "zero-shot", FEW: "few-shot"}


def test_a_gain_is_over_the_questions_of_both_settings() -> None:
    before = [asked(n, p) for n, p in enumerate((0.0, 1.0, 0.0, 1.0))]
    after = [asked(n, p, condition="few") for n, p in enumerate((1.0, 1.0, 0.0, 1.0))]
    only_before = asked(7, 0.0, task="math")
    made = frame(*before, only_before, *after)
    report = gains(made, SETTINGS)
    assert [row.key["task"] for row in report.rows] == ["lsat-ar", ALL, "MACRO"]
    row = report.rows[0]
    assert (row.key["before"], row.key["after"]) == ("zero-shot", "few-shot")
    assert (row.figures["rate_before"].value, row.figures["rate_after"].value) == (0.5, 0.75)
    # The differences are 1, 0, 0, 0 with residuals 0.75 and three of -0.25: variance 0.0625.
    half = student.ppf(0.975, 3) * 0.25
    assert row.figures["gain"].value == 0.25
    assert (row.figures["gain"].low, row.figures["gain"].high) == (pytest.approx(0.25 - half), 1.0)
    # Without an answer in one of the settings there is no row, and without a pair no comparison.
    beside = {row.key["task"]: row.figures for row in side_by_side(made, SETTINGS).rows}
    assert list(beside) == ["lsat-ar", "math", ALL, "MACRO"]
    assert list(beside["math"]) == ["zero-shot"]
    assert beside["lsat-ar"]["few-shot"].value == 0.75
    assert gains(frame(*before), SETTINGS).rows == []


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_rate_has_the_same_interval_beside_gains(repeats: int) -> None:
    """Right in 2 of 11 questions before, in none after."""
    before = [asked(n, repeats * (n < 2), float(repeats), n=repeats) for n in range(11)]
    after = [asked(n, 0.0, float(repeats), n=repeats, condition="few") for n in range(11)]
    made = frame(*before, *after)
    beside = {row.key["task"]: row.figures for row in side_by_side(made, SETTINGS).rows}
    compared = {row.key["task"]: row.figures for row in gains(made, SETTINGS).rows}
    for task in ("lsat-ar", ALL, "MACRO"):
        for setting, name in (("zero-shot", "rate_before"), ("few-shot", "rate_after")):
            alone, paired = beside[task][setting], compared[task][name]
            found = paired.value, paired.low, paired.high
            assert found == pytest.approx((alone.value, alone.low, alone.high))
    expected = binomtest(2, 11).proportion_ci(method="wilson")
    row = compared["lsat-ar"]
    assert (row["rate_before"].n, row["rate_after"].n) == (11, 11)
    if repeats == 1:
        found = row["rate_before"].low, row["rate_before"].high
        assert found == pytest.approx((expected.low, expected.high))


def test_two_conditions_of_one_setting_are_refused() -> None:
    with pytest.raises(ValueError, match="two conditions with zero-shot"):
        gains(frame(asked(1, 1.0)), dict.fromkeys((ZERO, FEW), "zero-shot"))

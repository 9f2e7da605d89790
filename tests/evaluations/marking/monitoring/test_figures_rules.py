"""What is watched of a teacher: every expected value is worked out beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluations.marking.monitoring.rules.figures import (
    WatchedMark,
    against,
    line,
    mean_figure,
    teacher_figures,
)

# Marks of 10 points with a tolerance of 1.
MARK = WatchedMark(mark=1, total=5, full=10, tolerance=1)
FIVE = [
    replace(MARK, mark=1, total=4, partner=5, called=False, final=4.5, seconds=20),
    replace(MARK, mark=2, total=7, partner=5, called=True, final=5, seconds=30),
    replace(MARK, mark=3, total=8, partner=7, called=False, final=7.5, seconds=1000),
    replace(MARK, mark=4, total=6, seconds=None),
    replace(MARK, mark=5, total=6, full=20, partner=9, called=True, final=7, seconds=10),
]
CHECKS = [
    replace(MARK, mark=6, checks=True, total=3, reference=4),  # 1 apart: within
    replace(MARK, mark=7, checks=True, total=3, reference=4.5),
    replace(MARK, mark=8, checks=True, total=5, before=5),
]


def test_every_figure_of_five_marks() -> None:
    figures = teacher_figures(FIVE)
    values = {name: (figure.value, figure.n) for name, figure in figures.items()}
    assert values["marks"] == (5, 5)
    # 20, 30, 1000 cut to 300, 10: the median is 25, the mean 90
    assert values["seconds_median"] == (25, 4)
    assert values["seconds_mean"] == (90, 4)
    # -1, +2, +1, -3
    assert values["partner_points"] == (-0.25, 4)
    # -0.1, +0.2, +0.1, -0.15
    assert values["partner_share"] == (pytest.approx(0.0125), 4)
    # -0.5, +2, +0.5, -1
    assert values["final_points"] == (0.25, 4)
    # -0.05, +0.2, +0.05, -0.05
    assert values["severity"] == (pytest.approx(0.0375), 4)
    # differences 1, 2, 1, 3 against 1
    assert values["within_tolerance"] == (0.5, 4)
    assert values["third_rate"] == (0.5, 4)
    # shares of full marks 0.4, 0.7, 0.8, 0.6, 0.3: the first and the fourth are safe
    assert values["safe_share"] == (0.4, 5)


def test_checks_have_their_own_figures_and_count_for_nothing_else() -> None:
    figures = teacher_figures(FIVE + CHECKS)
    assert (figures["seed_hits"].value, figures["seed_hits"].n) == (0.5, 2)
    assert (figures["self_consistency"].value, figures["self_consistency"].n) == (1, 1)
    assert (figures["marks"].value, figures["safe_share"].n) == (5, 5)


def test_what_nothing_shows_has_a_reason() -> None:
    reasons = {name: figure.reason for name, figure in teacher_figures([MARK]).items()}
    assert reasons == {
        "marks": None,
        "seconds_median": "no_times",
        "seconds_mean": "no_times",
        "partner_points": "no_partner",
        "partner_share": "no_partner",
        "final_points": "no_final",
        "severity": "no_final",
        "within_tolerance": "no_partner",
        "third_rate": "no_third",
        "seed_hits": "no_seeds",
        "self_consistency": "no_repeats",
        "safe_share": None,
    }
    assert teacher_figures([])["safe_share"].reason == "no_marks"


def test_a_mean_has_a_t_interval_where_there_is_spread() -> None:
    # mean 2, s = 1, t(2) = 4.302653, so the half width is 4.302653 / sqrt(3) = 2.484138
    figure = mean_figure([1, 2, 3], "no_final")
    assert (figure.value, figure.n) == (2, 3)
    assert (figure.low, figure.high) == (pytest.approx(-0.484138), pytest.approx(4.484138))
    assert mean_figure([2, 2], "no_final").low is None
    assert mean_figure([2], "no_final").low is None


def test_a_teacher_beside_the_round() -> None:
    slow = [replace(MARK, total=9, seconds=80), replace(MARK, total=1, seconds=80)]
    quick = [replace(MARK, total=5, seconds=20), replace(MARK, total=5, seconds=20)]
    # medians 20 and 50 seconds; safe shares 1 and 0.5
    beside = against(teacher_figures(quick), teacher_figures(slow + quick))
    assert (beside["pace"].value, beside["pace"].n) == (0.4, 2)
    assert (beside["safe_excess"].value, beside["safe_excess"].n) == (0.5, 2)
    nothing = against(teacher_figures([]), teacher_figures([]))
    assert (nothing["pace"].reason, nothing["safe_excess"].reason) == ("no_times", "no_marks")


def test_a_round_marked_in_no_time_has_no_pace() -> None:
    figures = teacher_figures([replace(MARK, seconds=0)])
    assert against(figures, figures)["pace"].reason == "no_times"


def test_a_line_begins_at_the_tenth_and_looks_at_the_window_only() -> None:
    # twelve pairs: the first two beyond the tolerance, then within; one mark without a partner
    far, near = replace(MARK, partner=9), replace(MARK, partner=5)
    marks = [far, far, MARK, *[near] * 10]
    points = line(marks, "within_tolerance", window=11)
    assert [(p.marks, p.n) for p in points] == [(11, 10), (12, 11), (13, 11)]
    # 8 of 10, 9 of 11, then the first one leaves: 10 of 11
    assert [p.value for p in points] == pytest.approx([0.8, 9 / 11, 10 / 11])
    assert line(marks[:11], "within_tolerance") == points[:1]
    assert line(marks[:10], "within_tolerance") == []


def test_a_long_line_is_thinned_and_keeps_its_ends() -> None:
    marks = [replace(MARK, final=5, total=float(n % 10)) for n in range(1000)]
    points = line(marks, "severity", most=5)
    assert [p.marks for p in points] == [10, 258, 505, 752, 1000]
    # over any fifty of them the mean of 0 to 9, 4.5, less 5, of 10
    assert points[-1].value == pytest.approx(-0.05)

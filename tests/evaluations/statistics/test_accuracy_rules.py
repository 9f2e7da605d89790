"""Reports rates and converted on small tables worked by hand."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from evaluations.statistics.accuracy import converted_report, rates
from evaluations.statistics.figure import Figure, Report
from evaluations.statistics.gaokao_750 import WEIGHTS
from evaluations.statistics.rows import ScoredAnswer
from questions.rules.vocabulary import Subject
from tests.evaluations.statistics.statistics_rows import answered, marked


def figures(report: Report, **key: str) -> dict[str, Figure]:
    found = [row.figures for row in report.rows if key.items() <= row.key.items()]
    assert len(found) == 1, f"{len(found)} rows for {key}"
    return found[0]


def test_rates_by_subject_part_and_all() -> None:
    report = rates(
        [
            answered(subject="Biology", points=6.0),
            answered(subject="Biology", points=0.0),
            answered(subject="Physics", points=9.0, full=12.0, subs=2),
            marked(subject="Biology", points=2.5),
            marked(subject="Biology", points=6.0),
        ],
        params={"policy": "strict"},
    )
    assert [tuple(row.key.values()) for row in report.rows] == [
        ("m", "zero-shot", "Physics", "objective"),
        ("m", "zero-shot", "Biology", "objective"),
        ("m", "zero-shot", "Biology", "subjective"),
        ("m", "zero-shot", "ALL", "objective"),
        ("m", "zero-shot", "ALL", "subjective"),
    ]
    everything = figures(report, subject="ALL", part="objective")
    assert (everything["points"].value, everything["full"].value) == (15.0, 24.0)
    assert everything["rate"].value == 15 / 24
    assert everything["rate"].n == 4  # sub-answers: 1 + 1 + 2
    subjective = figures(report, subject="Biology", part="subjective")
    assert (subjective["rate"].value, subjective["rate"].n) == (8.5 / 20, 2)
    assert report.params == {"policy": "strict"}


def test_rate_of_all_or_nothing_items_has_wilsons_interval() -> None:
    report = rates([answered(points=6.0 if k < 3 else 0.0) for k in range(10)])
    rate = figures(report, subject="Biology")["rate"]
    expected = stats.binomtest(3, 10).proportion_ci(method="wilson")
    assert (rate.low, rate.high) == pytest.approx((expected.low, expected.high))


def test_rate_of_marked_items_has_the_ratio_interval() -> None:
    # The example of test_ratio_by_hand.
    items = [(2.0, 4.0), (3.0, 6.0), (7.0, 10.0)]
    rate = figures(rates([marked(points=p, full=f) for p, f in items]), subject="Biology")["rate"]
    assert (rate.value, rate.low, rate.high) == pytest.approx((0.6, 0.275157, 0.924843), abs=1e-6)


def test_repeats_are_pooled_and_clustered_by_question() -> None:
    # Points per question over both repeats: 6, 9 and 3 of 12: R = 0.5; residuals 0, 3, -3;
    # variance = 3 * 18 / (2 * 36^2) = 0.0208333; half = t(2) * 0.1443376 = 0.621034 -> cut.
    table = {1: (6.0, 0.0), 2: (3.0, 6.0), 3: (0.0, 3.0)}
    rows = [
        answered(question=question, repeat=repeat, points=points, subject="Physics")
        for question, pair in table.items()
        for repeat, points in enumerate(pair, 1)
    ]
    rate = figures(rates(rows), subject="Physics")["rate"]
    assert (rate.value, rate.n) == (0.5, 6)
    assert (rate.low, rate.high) == (0.0, 1.0)
    wide = stats.t.ppf(0.975, 2) * math.sqrt(54 / (2 * 36**2))
    assert wide == pytest.approx(0.621034, abs=1e-5)


@pytest.mark.parametrize("right", [0, 1])
def test_all_or_none_right_in_all_repeats_is_wilsons_over_questions(right: int) -> None:
    rows = [
        answered(question=question, repeat=repeat, points=6.0 * right)
        for question in range(4)
        for repeat in range(3)
    ]
    expected = stats.binomtest(4 * right, 4).proportion_ci(method="wilson")
    rate = figures(rates(rows), subject="Biology")["rate"]
    assert (rate.value, rate.n) == (right, 12)
    assert (rate.low, rate.high) == pytest.approx((expected.low, expected.high))
    marks = [marked(points=10.0 * right) for _question in range(4)]
    parts = [answered(points=6.0 * right, subs=2) for _question in range(4)]
    for rows in (marks, parts):
        rate = figures(rates(rows), subject="Biology")["rate"]
        assert (rate.low, rate.high) == pytest.approx((expected.low, expected.high))


def test_unscored_rows_are_counted_and_left_out() -> None:
    report = rates([marked(points=5.0), marked(points=None, reason="two_totals")])
    row = figures(report, subject="Biology")
    assert (row["full"].value, row["rate"].value, row["rate"].n) == (10.0, 0.5, 1)
    assert (row["unscored"].value, row["unscored"].n) == (1, 2)


def test_unscored_objective_rows_count_their_sub_answers() -> None:
    report = rates([answered(full=12.0, subs=2), answered(points=None, full=18.0, subs=3)])
    row = figures(report, subject="Biology")
    assert (row["unscored"].value, row["unscored"].n, row["rate"].n) == (3, 5, 2)


def test_nothing_scored_has_a_reason_and_no_zero() -> None:
    row = figures(rates([marked(points=None)]), subject="Biology")
    for name in ("points", "full", "rate"):
        assert row[name].value is None
        assert row[name].reason == "no_data"
    assert row["unscored"].value == 1
    assert rates([]).rows == []


def test_two_markers_of_one_response_are_never_pooled() -> None:
    twice = [marked(response=7), marked(response=7, marker="judge:j")]
    with pytest.raises(ValueError, match="response 7 would count twice"):
        rates(twice)


def whole_exam(rate: float, **changes: object) -> list[ScoredAnswer]:
    """Two items per subject and part with points 10 * (rate -+ 0.1) of 10: every rate is *rate*."""
    return [
        make(subject=subject.value, points=10 * (rate + shift), full=10.0, **changes)
        for subject in Subject
        for make in (answered, marked)
        for shift in (-0.1, 0.1)
    ]


def test_converted_totals_and_subjects() -> None:
    report = converted_report(whole_exam(0.5))
    for stream in ("sciences", "humanities"):
        row = figures(report, stream=stream, subject="ALL")
        assert row["total"].value == pytest.approx(375.0)
        assert row["total"].n == 24
        assert "total_full_precision" not in row
    physics = figures(report, stream="sciences", subject="Physics")
    values = {name: physics[name].value for name in ("objective", "subjective", "total")}
    assert values == pytest.approx({"objective": 22.0, "subjective": 33.0, "total": 55.0})
    assert report.rows[0].key == {
        "model": "m",
        "condition": "zero-shot",
        "stream": "sciences",
        "subject": "Chinese",
        "marker": "teachers",
        "policy": "strict",
    }
    assert len(report.rows) == 14


def test_converted_interval_by_hand() -> None:
    # Each part: R = 0.5, residuals -1 and 1, variance 2 * 2 / (1 * 20^2) = 0.01, 1 degree.
    # Total: sum of 0.01 w^2 over the parts; df = S^2 / sum of (0.01 w^2)^2.
    subjects = ("Chinese", "English", "Sciences Mathematics", "Physics", "Chemistry", "Biology")
    weights = [
        w
        for s in Subject
        if s.value in subjects
        for w in (WEIGHTS[s].objective, WEIGHTS[s].subjective)
    ]
    variances = [0.01 * w * w for w in weights]
    df = sum(variances) ** 2 / sum(v * v for v in variances)
    half = stats.t.ppf(0.975, df) * math.sqrt(sum(variances))
    total = figures(converted_report(whole_exam(0.5)), stream="sciences", subject="ALL")["total"]
    assert (total.low, total.high) == pytest.approx((375 - half, 375 + half))


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_a_part_without_spread_is_no_certainty_of_a_total(right: float) -> None:
    """10 questions of objective Physics are all right or all wrong; the rest is as above."""
    rows = [row for row in whole_exam(0.5) if (row.subject, row.part) != ("Physics", "objective")]
    rows += [answered(subject="Physics", points=10 * right, full=10.0) for _ in range(10)]
    report = converted_report(rows)
    physics = figures(report, stream="sciences", subject="Physics")
    wilson = stats.binomtest(int(10 * right), 10).proportion_ci(method="wilson")
    found = physics["objective"].low, physics["objective"].high
    assert found == pytest.approx((44 * wilson.low, 44 * wilson.high)), "that of the rate"
    # One of two rates: 2 observations more, one of them right. Else one residual of -1 and one of 1
    # of 20 points, variance 0.01 with 1 degree.
    variances = [44**2 * (11 / 12 * 1 / 12 / 12), 66**2 * 0.01]
    degrees = sum(variances) ** 2 / (variances[0] ** 2 / 9 + variances[1] ** 2)
    half = stats.t.ppf(0.975, degrees) * math.sqrt(sum(variances))
    value = 44 * right + 33
    found = physics["total"].low, physics["total"].high
    assert physics["total"].value == pytest.approx(value)
    assert found == pytest.approx((max(0, value - half), min(110, value + half)))
    total = figures(report, stream="sciences", subject="ALL")["total"]
    assert total.value == pytest.approx(375 - 22 + 44 * right)
    # One of 12 rates: a third of an observation more.
    n = 10 + 1 / 3
    own = 44**2 * (n - 1 / 6) / n * (1 / 6) / n / n
    weights = [*(45, 105, 105, 45, 60, 90, 66, 50, 50, 27, 63)]
    others = [0.01 * w * w for w in weights]
    both = own + sum(others)
    degrees = both**2 / (own**2 / 9 + sum(v * v for v in others))
    half = stats.t.ppf(0.975, degrees) * math.sqrt(both)
    assert total.high == pytest.approx(total.value + half)


def test_published_carries_both_precisions() -> None:
    third = [
        make(subject=s.value, points=1.0, full=3.0, policy="published")
        for s in Subject
        for make in (answered, marked)
    ]
    row = figures(converted_report(third), stream="sciences", subject="ALL")
    # Rate 0.333 everywhere: 750 * 0.333 = 249.75; the released script adds floats and rounds
    # to one decimal, 249.8 by round-half-even (249.75 is exact in binary).
    assert row["total"].value == pytest.approx(249.8)
    assert row["total_full_precision"].value == pytest.approx(250.0)
    chinese = figures(converted_report(third), stream="sciences", subject="Chinese")
    assert chinese["subjective"].value == 34.965  # 105 * 0.333
    assert chinese["total"].value == 49.95
    assert chinese["total_full_precision"].value == pytest.approx(50.0)


def test_a_missing_part_is_named_and_not_summed() -> None:
    rows = [r for r in whole_exam(0.5) if (r.subject, r.part) != ("Physics", "subjective")]
    report = converted_report(rows)
    total = figures(report, stream="sciences", subject="ALL")["total"]
    assert (total.value, total.reason) == (None, "missing:Physics/subjective")
    physics = figures(report, stream="sciences", subject="Physics")
    assert physics["objective"].value == pytest.approx(22.0)
    assert physics["subjective"].reason == "missing:Physics/subjective"
    assert physics["total"].reason == "missing:Physics/subjective"
    assert figures(report, stream="humanities", subject="ALL")["total"].value is not None


def test_a_part_that_is_only_unscored_is_missing_too() -> None:
    rows = [r for r in whole_exam(0.5) if (r.subject, r.part) != ("Physics", "subjective")]
    rows.append(marked(subject="Physics", points=None, reason="unreadable"))
    row = figures(converted_report(rows), stream="sciences", subject="ALL")
    assert row["total"].reason == "missing:Physics/subjective"
    assert (row["unscored"].value, row["unscored"].n) == (1, 23)


def test_each_marker_and_policy_stands_alone() -> None:
    objective = [r for r in whole_exam(0.5) if r.part == "objective"]
    judged = [r for r in whole_exam(0.7, marker="judge:j") if r.part == "subjective"]
    taught = [r for r in whole_exam(0.3) if r.part == "subjective"]
    report = converted_report(objective + judged + taught)
    # Sciences: 331 objective points, 419 subjective ones.
    judge = figures(report, stream="sciences", subject="ALL", marker="judge:j")["total"]
    assert judge.value == pytest.approx(331 * 0.5 + 419 * 0.7)
    teachers = figures(report, stream="sciences", subject="ALL", marker="teachers")["total"]
    assert teachers.value == pytest.approx(331 * 0.5 + 419 * 0.3)
    assert {row.key["policy"] for row in report.rows} == {"strict"}
    one = converted_report(objective + judged + taught, marker="judge:j")
    assert {row.key["marker"] for row in one.rows} == {"judge:j"}


@pytest.mark.parametrize(("marker", "shown"), [(None, "none"), ("teachers", "teachers")])
def test_nothing_marked_yet_gives_reasons(marker: str | None, shown: str) -> None:
    objective = [r for r in whole_exam(0.5) if r.part == "objective"]
    total = figures(converted_report(objective, marker=marker), subject="ALL", stream="humanities")
    assert total["total"].reason == (
        "missing:Chinese/subjective,English/subjective,Humanities Mathematics/subjective,"
        "Politics/subjective,History/subjective,Geography/subjective"
    )
    assert {r.key["marker"] for r in converted_report(objective, marker=marker).rows} == {shown}


def test_subjects_outside_the_examination_have_no_points_in_it() -> None:
    rows = [*whole_exam(0.5), answered(subject="", task="lsat-ar", points=1.0, full=1.0)]
    total = figures(converted_report(rows), stream="sciences", subject="ALL")["total"]
    assert total.value == pytest.approx(375.0)
    subjects = {row.key["subject"] for row in rates(rows).rows}
    assert len(subjects) == 11, "ten and ALL: no row for those without a subject"
    assert figures(rates(rows), subject="ALL", part="objective")["full"].n == 1 + sum(
        row.part == "objective" for row in whole_exam(0.5)
    )

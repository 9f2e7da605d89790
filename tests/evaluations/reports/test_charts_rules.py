"""Charts show the figures of their table, and never a 0 for a value that is missing."""

from __future__ import annotations

import pytest

from evaluations.reports.rules.charts import (
    Spread,
    five_numbers,
    pair_places,
    pairs_scatter,
    rates_chart,
    spreads,
    spreads_box,
    totals_bar,
)
from evaluations.statistics.accuracy import converted_report, rates
from evaluations.statistics.agreement import MarkPair, pairs_frame
from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from questions.rules.vocabulary import Subject
from tests.evaluations.statistics.statistics_rows import answered, marked, under

STREAMS = {"sciences": "理科", "humanities": "Humanities"}


def total(model: str, stream: str, figure: Figure, subject: str = "ALL") -> ReportRow:
    key = under(model)._asdict() | {"stream": stream, "subject": subject}
    return ReportRow(key, {"total": figure})


def pair(x: float, y: float, *, full: float = 10, subject: str = "Physics") -> MarkPair:
    return MarkPair("m", "zero-shot", subject, "teacher-teacher", x, y, full, 1)


def test_bars_are_the_totals_with_their_intervals() -> None:
    report = Report(
        "converted",
        {},
        [
            total("a", "sciences", Figure(447.0, 90, 438.0, 456.0)),
            total("a", "sciences", Figure(60.0, 9), subject="Physics"),
            total("a", "humanities", missing("missing:History/subjective", 9)),
            total("b", "sciences", Figure(300.0, 90)),
            total("b", "humanities", Figure(368.0, 90, 360.0, 376.0)),
        ],
    )
    chart = totals_bar(report, {under("a"): 4, under("b"): 1}, STREAMS)
    assert chart.kind == "bar"
    assert chart.data["categories"] == ["a · zero-shot", "b · zero-shot"]
    sciences, humanities = chart.data["series"]  # type: ignore[misc]
    assert sciences["name"] == "理科"
    assert sciences["values"] == [447.0, 300.0]
    assert sciences["intervals"] == [[438.0, 456.0], None]
    assert humanities["values"] == [None, 368.0]
    assert (sciences["soft"], humanities["soft"]) == (False, True)
    assert chart.data["colours"] == [4, 1], "a bar has the colour of its condition"


def test_who_has_no_total_has_no_bar_and_is_named() -> None:
    chart = totals_bar(converted_report([answered()]), {under("m"): 0, under("n"): 1}, STREAMS)
    assert chart.data["categories"] == []
    assert chart.empty
    assert chart.left_out == ("m · zero-shot", "n · zero-shot")


def rows(model: str, *subjects: str) -> list[object]:
    return [answered(model=model, subject=subject, points=3.0) for subject in subjects]


def test_a_bar_of_some_answers_only_has_a_star_at_its_name() -> None:
    rows = [
        make(model=model, subject=subject.value, points=3.0, full=6.0)
        for model in ("a", "b")
        for subject in Subject
        for make in (answered, marked)
    ]
    colours = {under("a"): 0, under("b"): 1}
    chart = totals_bar(converted_report(rows), colours, STREAMS, gaps={under("b")})
    assert chart.data["categories"] == ["a · zero-shot", "b · zero-shot *"]
    assert chart.unfinished == ("b · zero-shot",)


def test_a_radar_has_the_subjects_in_their_order_in_per_cent() -> None:
    report = rates(rows("a", "Physics", "Chinese", "Biology"))  # type: ignore[arg-type]
    chart = rates_chart(report, "objective", {under("a"): 2}, {"Chinese": "语文"})
    assert chart.kind == "radar"
    assert [axis["name"] for axis in chart.data["axes"]] == ["语文", "Physics", "Biology"]  # type: ignore[attr-defined]
    assert chart.data["series"] == [{"name": "a · zero-shot", "values": [50.0] * 3, "colour": 2}]


def test_a_radar_leaves_out_who_lacks_a_subject_and_names_them() -> None:
    answers = rows("a", "Physics", "Chinese", "Biology") + rows("b", "Physics")
    report = rates(answers)  # type: ignore[arg-type]
    chart = rates_chart(report, "objective", {under("a"): 0, under("b"): 1, under("c"): 2}, {})
    assert [series["name"] for series in chart.data["series"]] == ["a · zero-shot"]  # type: ignore[attr-defined]
    assert chart.left_out == ("b · zero-shot", "c · zero-shot")


def test_two_subjects_are_bars_with_gaps() -> None:
    answers = rows("a", "Physics", "Chinese") + rows("b", "Physics")
    chart = rates_chart(rates(answers), "objective", {under("a"): 0, under("b"): 1}, {})  # type: ignore[arg-type]
    assert chart.kind == "bar"
    assert [series["values"] for series in chart.data["series"]] == [[50.0, 50.0], [None, 50.0]]  # type: ignore[attr-defined]


def test_a_model_that_is_not_chosen_gives_no_axis() -> None:
    answers = rows("a", "Physics", "Chinese", "Biology") + rows("b", "History")
    chart = rates_chart(rates(answers), "objective", {under("a"): 0}, {})  # type: ignore[arg-type]
    assert len(chart.data["axes"]) == 3  # type: ignore[arg-type]
    assert chart.left_out == ()


def test_equal_points_become_one_with_their_number() -> None:
    found = [pair(5, 6), pair(5, 6), pair(10, 12, full=20), pair(0, 10)]
    found.append(MarkPair("m", "few-shot", "Physics", "teacher-teacher", 5, 6, 10, 1))
    colours = {under("m"): 3, under("m", "few-shot"): 0, under("n"): 1}
    chart = pairs_scatter(pair_places(pairs_frame(found)), "first", "second", colours)
    points = [[0.0, 100.0, 1], [50.0, 60.0, 3]]
    assert chart.data["series"] == [
        {"name": "m · zero-shot", "points": points, "colour": 3},
        {"name": "m · few-shot", "points": [[50.0, 60.0, 1]], "colour": 0},
    ]
    assert chart.data["x"] == {"label": "first", "min": 0, "max": 100}


@pytest.mark.parametrize(
    ("values", "five"),
    [
        ([], None),
        ([1, 2, 3, 4], None),
        # 1..5: quartiles at places 1, 2, 3 of 0..4; nothing beyond 2 - 3 or 4 + 3
        ([5, 3, 1, 2, 4], (1, 2, 3, 4, 5)),
        # the same with 40 instead of 5: 40 > 4 + 1.5 x 2 = 7, so the whisker ends at 4
        ([40, 3, 1, 2, 4], (1, 2, 3, 4, 4)),
        ([2, 2, 2, 2, 2], (2, 2, 2, 2, 2)),
        # n = 6: the upper quartile lies at place 3.75, a quarter below 4 and far above the
        # last value inside: 3 + 0.75 x (100 - 3) = 75.75; reach 1.5 x (75.75 - 1.25) keeps 100
        ([0, 1, 2, 3, 100, 100], (0, 1.25, 2.5, 75.75, 100)),
        # n = 8: the lower quartile lies at place 1.75, -100 + 0.75 x 110 = -17.5; reach
        # 1.5 x 27.5 = 41.25 leaves out -100, and the first value inside is above the quartile
        ([-100, -100, 10, 10, 10, 10, 10, 10], (-17.5, -17.5, 10, 10, 10)),
    ],
)
def test_five_numbers(values: list[float], five: tuple[float, ...] | None) -> None:
    assert five_numbers(values) == (None if five is None else pytest.approx(five))


def test_spreads_are_shares_of_full_marks_by_subject() -> None:
    given = [pair(0, y, full=20) for y in (1, 2, 3, 4, 5)] + [pair(9, 4, subject="Chinese")]
    found = spreads(pairs_frame(given))
    assert found == [
        Spread(under("m"), "Chinese", 1, None),
        Spread(under("m"), "Physics", 5, (5, 10, 15, 20, 25)),
        # -50, 5, 10, 15, 20, 25: quartiles at places 1.25 and 3.75, reach 1.5 x 12.5
        Spread(under("m"), "ALL", 6, (5, 6.25, 12.5, 18.75, 25)),
    ]
    chart = spreads_box(found, {"Physics": "物理"}, "difference", {under("m"): 2})
    assert chart.data["categories"] == ["Chinese", "物理"]
    assert chart.data["boxes"] == [None, [5, 10, 15, 20, 25]]
    assert chart.data["axis"] == {"label": "difference", "min": -30, "max": 30}


def test_two_conditions_are_two_boxes_and_two_bars() -> None:
    """Ten pairs under each condition: one box over all of them would be from 0 to 50."""
    few = MarkPair("m", "few-shot", "Physics", "teacher-teacher", 0, 5, 10, 1)
    found = spreads(pairs_frame([pair(0, 0) for _ in range(5)] + [few] * 5))
    colours = {under("m"): 0, under("m", "few-shot"): 1}
    chart = spreads_box(found, {}, "difference", colours)
    assert chart.data["categories"] == ["m · few-shot", "m · zero-shot"]
    assert chart.data["boxes"] == [[50] * 5, [0] * 5]
    assert chart.data["colours"] == [1, 0]
    answers = [
        answered(condition=condition, subject="Physics", points=points)
        for condition, points in (("few-shot", 6.0), ("zero-shot", 0.0))
    ]
    drawn = rates_chart(rates(answers), "objective", colours, {}).data["series"]
    assert drawn == [
        {"name": "m · zero-shot", "values": [0.0], "colour": 0},
        {"name": "m · few-shot", "values": [100.0], "colour": 1},
    ]

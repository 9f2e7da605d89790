"""Coverage: from which share of marked answers on a figure is drawn."""

from __future__ import annotations

import pytest

from evaluations.reports.rules.charts import rates_chart, totals_bar
from evaluations.reports.rules.page_tables import model_lines, ranked
from evaluations.statistics.accuracy import converted_report, rates
from evaluations.statistics.coverage import Coverage, shortfalls
from evaluations.statistics.rows import ScoredAnswer
from questions.rules.vocabulary import Subject
from tests.evaluations.statistics.statistics_rows import answered, marked, under

STREAMS = {"sciences": "Sciences", "humanities": "Humanities"}


def paper(model: str, marked_of: dict[str, tuple[int, int]]) -> list[ScoredAnswer]:
    """One objective item a subject, and so many marked ones of all (10 of 10 if not named)."""
    rows = []
    for subject in map(str, Subject):
        rows.append(answered(model=model, subject=subject, points=3.0, full=6.0))
        done, everything = marked_of.get(subject, (10, 10))
        rows += [
            marked(model=model, subject=subject, points=3.0 if n < done else None, full=6.0)
            for n in range(everything)
        ]
    return rows


@pytest.mark.parametrize(
    ("done", "everything", "percent", "below"),
    [
        (79, 100, 80, True),
        (80, 100, 80, False),
        (38, 654, 80, True),
        (523, 654, 80, True),  # 79.97 %
        (524, 654, 80, False),  # 80.12 %
        (0, 5, 0, False),  # a share of 0 draws everything
        (0, 0, 80, False),  # nothing to mark: there is no figure anyway
        (99, 100, 100, True),
    ],
)
def test_the_share_itself_is_enough(done: int, everything: int, percent: int, below: bool) -> None:
    assert Coverage(done, everything).is_below(percent) is below


def test_a_stream_needs_enough_marks_together_and_in_each_subject() -> None:
    physics, history = "Physics", "History"
    rows = paper("few", {str(subject): (1, 10) for subject in Subject})
    rows += paper("gap", {physics: (7, 10), "Chemistry": (6, 10), history: (8, 10)})
    rows += paper("all", {})
    short = shortfalls(rates(rows), 80)
    assert short[under("all")] == {}
    # 6 subjects of 10 answers each, 1 marked: together far below.
    assert short[under("few")]["sciences"] == Coverage(6, 60)
    assert short[under("few")]["ALL"] == Coverage(10, 100)
    # 53 of 60 are enough together (88 %); the lowest subject is named.
    assert short[under("gap")] == {
        physics: Coverage(7, 10),
        "Chemistry": Coverage(6, 10),
        "sciences": Coverage(6, 10, "Chemistry"),
    }
    assert shortfalls(rates(rows), 60)[under("gap")] == {}


def test_what_is_short_is_not_drawn_and_ranks_nobody() -> None:
    rows = paper("few", {str(subject): (1, 10) for subject in Subject}) + paper("all", {})
    rows += paper("gap", {"Physics": (7, 10)})
    made, totals = rates(rows), converted_report(rows)
    short = shortfalls(made, 80)
    assert totals.rows[-1].figures["total"].value == 375.0, "the report itself has every figure"
    drawn = {under(name): place for place, name in enumerate(("few", "gap", "all"))}
    chart = totals_bar(totals, drawn, STREAMS, short=short)
    assert (chart.data["categories"], chart.left_out) == (
        ["gap · zero-shot", "all · zero-shot"],
        ("few · zero-shot",),
    )
    assert [one["values"] for one in chart.data["series"]] == [[None, 375], [375, 375]]  # type: ignore[attr-defined]
    assert ranked(totals, map(under, ("few", "gap", "all")), short) == [
        *map(under, ("all", "gap", "few"))
    ]
    assert {
        line.asked.model: bool(line.short)
        for line in model_lines(totals, made, [under("all"), under("gap")], short)
    } == {
        "all": False,
        "gap": True,
    }
    colours = {under("few"): 0, under("all"): 1}
    subjective = rates_chart(made, "subjective", colours, {}, short)
    assert [one["name"] for one in subjective.data["series"]] == ["all · zero-shot"]  # type: ignore[attr-defined]
    objective = rates_chart(made, "objective", colours, {}, short)
    assert [one["name"] for one in objective.data["series"]] == [
        "few · zero-shot",
        "all · zero-shot",
    ]  # type: ignore[attr-defined]

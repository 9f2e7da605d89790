"""Reports by name: what was left out is told, what there is not is refused in one sentence."""

from __future__ import annotations

from decimal import Decimal as D

import pytest

from evaluations.facts.answer_facts import record_judgements
from evaluations.facts.params import (
    ReportParams,
    markers_of,
    models_with_answers,
)
from evaluations.models import Judge, Judgement
from evaluations.reading.services.scoring import score_responses
from evaluations.reports.selectors.reports import REPORTS, build_report
from gradeapp.common.refusals import Refusal
from questions.models import HumanRate, Question
from questions.rules.vocabulary import QuestionType
from tests.factories import make_dataset, make_question, make_response, make_run, make_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def exam() -> None:
    """Two choice items of 6 points, one right and one wrong, and a judged item of 10."""
    task = make_task(make_dataset("exam"))
    run = make_run(task.dataset, model="m")
    right = make_response(make_question(task, key=("A",), year=2020), run)
    wrong = make_response(make_question(task, key=("B",), year=2021), run)
    score_responses([right, wrong])
    marked = make_task(task.dataset, question_type=QuestionType.OPEN_ENDED)
    judged = make_response(make_question(marked, marks=("10",)), run)
    Judgement.objects.create(
        response=judged, judge=Judge.objects.create(name="j"), total=8, full=10, status="scored"
    )
    record_judgements([judged.pk])


def test_rates_take_the_teachers_unless_another_marker_is_named(exam: None) -> None:
    report = build_report("rates", ReportParams("exam"))
    assert report.params == {
        "dataset": "exam",
        "marker": "teachers",
        "policy": "strict",
        "items": 3,
        "left_out": {},
        "excluded": 0,
        "unscored": {"unmarked": 1},
    }
    rates = {row.key["part"]: row.figures["rate"] for row in report.rows}
    assert (rates["objective"].value, rates["objective"].n) == (0.5, 2)  # 6 of 12 points
    assert (rates["subjective"].value, rates["subjective"].reason) == (None, "no_data")
    by_judge = build_report("rates", ReportParams("exam", marker="judge:j"))
    rates = {row.key["part"]: row.figures["rate"] for row in by_judge.rows}
    assert rates["subjective"].value == 0.8


def test_several_rates_of_people_of_a_task_are_joined(exam: None) -> None:
    task = Question.objects.get(year=2021).task
    for kind, value, size in (("average", "0.4", 1000), ("average", "0.8", 10), ("top", "0.9", 1)):
        rate = {"kind": kind, "value": D(value), "sample_size": size, "source": value}
        HumanRate.objects.create(task=task, **rate)
    report = build_report("cuts", ReportParams("exam", by="task"))
    (row,) = (row for row in report.rows if row.key["task"] == task.slug)
    assert row.figures["human"].value == pytest.approx((1000 * 0.4 + 10 * 0.8) / 1010)
    assert row.figures["human_top"].value == 0.9


def test_what_is_excluded_is_counted_and_takes_no_part(exam: None) -> None:
    Question.objects.filter(year=2021).update(status="quarantined")
    report = build_report("rates", ReportParams("exam"))
    assert report.params["excluded"] == 1
    (rate,) = [
        row.figures["rate"]
        for row in report.rows
        if (row.key["subject"], row.key["part"]) == ("ALL", "objective")
    ]
    assert (rate.value, rate.n) == (1.0, 1)
    ledger = build_report("ledger", ReportParams("exam"))
    assert sum(row.figures["excluded"].value or 0 for row in ledger.rows) == 1
    told = {name: report.params[name] for name in ("items", "left_out")}
    assert told == {"items": 3, "left_out": {"quarantined": 1}}
    as_published = build_report("rates", ReportParams("exam", policy="published"))
    assert as_published.params["left_out"] == {}


def test_every_report_says_how_many_items_are_left_out_and_why(exam: None) -> None:
    Question.objects.filter(year=2021).update(status="excluded")
    for name in ("rates", "converted", "repeats", "ledger"):
        for policy in ("strict", "published"):
            params = build_report(name, ReportParams("exam", policy=policy)).params
            assert (params["items"], params["left_out"]) == (3, {"excluded": 1}), name


def test_converted_has_rows_for_every_marker_there_is(exam: None) -> None:
    report = build_report("converted", ReportParams("exam"))
    assert {row.key["marker"] for row in report.rows} == {"judge:j"}
    named = build_report("converted", ReportParams("exam", marker="teachers"))
    assert {row.key["marker"] for row in named.rows} == {"teachers"}


@pytest.mark.parametrize("name", ["repeats", "agreement", "ledger", "trend"])
def test_every_other_report_is_made(exam: None, name: str) -> None:
    report = build_report(name, ReportParams("exam"))
    assert report.name == name
    assert report.params["dataset"] == "exam"


def test_without_answers_a_report_is_empty_and_not_an_error() -> None:
    make_dataset("exam")
    for name in REPORTS:
        assert build_report(name, ReportParams("exam", by="task")).rows == []


@pytest.mark.parametrize(
    ("name", "params", "sentence"),
    [
        ("rate", ReportParams("exam"), "no report “rate”; choose one of: rates, converted"),
        ("cuts", ReportParams("exam"), "Cut by one key or by two different ones .*: task, subject"),
        ("cuts", ReportParams("exam", by="year,year"), "two different ones"),
        ("cuts", ReportParams("exam", by="year, hue"), "no “hue”; choose one of: task, subject"),
        ("rates", ReportParams("exma"), "no dataset “exma”. Available: exam"),
        ("rates", ReportParams("exam", policy="kind"), "“kind”; choose one of: published, strict"),
        (
            "rates",
            ReportParams("exam", models=("x",)),
            "“x” has no responses in exam. Available: m",
        ),
        (
            "rates",
            ReportParams("exam", marker="j"),
            "“j” has not marked anything in exam. .*judge:j",
        ),
        ("rates", ReportParams("exam", marker="judge:x"), "“judge:x” has not marked anything"),
        ("rates", ReportParams("exam", year=1999), "no questions from 1999. .*2020, 2021"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(
    exam: None, name: str, params: ReportParams, sentence: str
) -> None:
    with pytest.raises(Refusal, match=sentence):
        build_report(name, params)


def test_what_can_be_chosen_is_listed(exam: None) -> None:
    make_dataset("empty")
    assert models_with_answers("exam") == ["m"]
    assert markers_of("exam") == ["judge:j"]
    assert markers_of("empty") == models_with_answers("empty") == []


def test_what_was_never_answered_is_in_no_count_and_no_rate() -> None:
    """A model whose file of one task is missing: its other task stands alone, and is no zero."""
    answered, missing = make_task(make_dataset("exam")), make_task(make_dataset("exam"))
    run = make_run(answered.dataset)
    score_responses([make_response(make_question(answered), run, "【答案】A")])
    make_question(missing)
    rates = build_report("rates", ReportParams("exam"))
    assert {(row.figures["rate"].value, row.figures["rate"].n) for row in rates.rows} == {(1.0, 1)}
    (line,) = build_report("ledger", ReportParams("exam")).rows
    assert line.key["task"] == answered.slug
    assert sum(figure.value or 0 for figure in line.figures.values()) == 1


def test_where_no_rules_are_published_answers_are_not_scored_and_the_reason_is_told() -> None:
    task = make_task(make_dataset("exam"), question_type=QuestionType.EXACT_ANSWER)
    run = make_run(task.dataset)
    exact = make_question(task, key=("5",), letters="")
    score_responses([make_response(exact, run, "答案是 5")])
    (line,) = build_report("ledger", ReportParams("exam", policy="published")).rows
    assert line.figures["not_scored"].value == 1
    rates = build_report("rates", ReportParams("exam", policy="published"))
    assert rates.params["unscored"] == {"no_published_rules": 1}
    assert {row.figures["rate"].reason for row in rates.rows} == {"no_data"}
    strict = build_report("rates", ReportParams("exam"))
    assert {row.figures["rate"].value for row in strict.rows} == {1.0}

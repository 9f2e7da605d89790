"""Rows of reports: the newest score counts, nothing is lost, nobody counts twice."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pytest_django import DjangoAssertNumQueries

from evaluations.facts.params import ReportParams
from evaluations.judging.services import ensure_judge
from evaluations.models import (
    BlindAnswer,
    Extraction,
    FinalMark,
    Job,
    Judge,
    Judgement,
    LanguageModel,
    MarkingRound,
    ObjectiveScore,
    Response,
    Run,
)
from evaluations.reading.services import scoring
from evaluations.reading.services.scoring import score_responses
from evaluations.reports.selectors.reports import SCORE_COLUMNS, score_rows
from evaluations.reports.selectors.scored_answers import included, scored_answers
from evaluations.statistics.rows import ScoredAnswer
from questions.models import Question
from questions.rules.vocabulary import QuestionType, Subject
from tests.factories import (
    final_mark,
    make_dataset,
    make_endpoint,
    make_question,
    make_response,
    make_run,
    make_task,
)

pytestmark = pytest.mark.django_db

PARAMS = ReportParams("exam")
JUDGED = ReportParams("exam", marker="judge:j")


def marked_question(full: str = "10") -> Question:
    return make_question(make_task(question_type=QuestionType.OPEN_ENDED), marks=(full,))


def only(params: ReportParams = PARAMS) -> ScoredAnswer:
    (row,) = scored_answers(params)
    return row


def final(response: Response, value: str, name: str = "round") -> FinalMark:
    round_ = MarkingRound.objects.create(
        name=name, dataset=response.run.dataset, scheme="mean", random_seed=1
    )
    answer = BlindAnswer.objects.create(
        round=round_,
        response=response,
        question=response.question,
        revision=response.revision,
        alias="P1",
        full_marks=10,
        tolerance=1,
    )
    return final_mark(answer, value=value, full=10, rule="mean of two")


def judgement(response: Response, total: str | None, status: str, *released: float) -> Judgement:
    judge = Judge.objects.get_or_create(name="j")[0]
    before = Judgement.objects.filter(response=response, followed_by=None).first()
    return Judgement.objects.create(
        response=response,
        judge=judge,
        number=before.number + 1 if before else 1,
        follows=before,
        total=total,
        full=10,
        status=status,
        released=list(released),
    )


def test_an_objective_answer_carries_its_score_and_what_was_read() -> None:
    task = make_task(subject=Subject.GEOGRAPHY, question_type=QuestionType.SEVERAL_QUESTIONS)
    question = make_question(task, key=("A", "B", "C"), marks=("4", "4", "4"), year=2019)
    text = "（1）【答案】A <eoa>\n（2）【答案】D <eoa>"
    response = make_response(question, text=text)
    score_responses([response])
    assert only() == ScoredAnswer(
        response=response.pk,
        question=question.pk,
        run=response.run_id,
        model="canary-gpt-7f3a",
        condition="as published",
        dataset="exam",
        task=task.slug,
        subject="Geography",
        part="objective",
        year=2019,
        repeat=1,
        marker="key",
        policy="strict",
        points=4.0,
        full=12.0,
        subs=3,
        outcome="partial",
        reason="",
        answer="A D -",
    )


def test_the_newest_score_of_the_policy_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    response = make_response(make_question())
    score_responses([response])
    monkeypatch.setattr(scoring, "SCORER_VERSION", "later")
    score_responses([response])
    ObjectiveScore.objects.filter(scorer_version="later", policy="strict").update(points=3)
    assert only().points == 3
    assert only(ReportParams("exam", policy="published")).points == 6


def test_an_answer_without_a_score_says_so() -> None:
    make_response(make_question())
    row = only()
    assert (row.points, row.outcome, row.reason) == (None, "not_scored", "not_scored")


def test_the_newest_final_mark_counts_whichever_round_made_it() -> None:
    response = make_response(marked_question())
    final(response, "7.25")
    assert (only().points, only().marker, only().full) == (7.25, "teachers", 10)
    final(response, "8", name="later round")
    assert only().points == 8


def test_an_unmarked_and_an_unjudged_answer_say_so() -> None:
    make_response(marked_question())
    assert (only().points, only().reason) == (None, "unmarked")
    row = only(JUDGED)
    assert (row.points, row.reason, row.marker) == (None, "not_judged", "judge:j")


@pytest.mark.parametrize(
    ("total", "status", "released", "strict", "published"),
    [
        ("8", "scored", [8.0], 8.0, 8.0),
        ("8", "scored", [], 8.0, 8.0),
        (None, "several_totals", [12.0, 11.0], None, 11.5),  # (12 + 11) / 2
        (None, "over_full_marks", [25.0], None, 25.0),
        (None, "no_total", [], None, None),
        ("7", "scored", [None], 7.0, 7.0),
    ],
)
def test_a_judges_total_under_both_policies(
    total: str | None,
    status: str,
    released: list[float],
    strict: float | None,
    published: float | None,
) -> None:
    judgement(make_response(marked_question()), total, status, *released)
    row = only(JUDGED)
    assert row.points == strict
    assert row.reason == ("" if strict is not None else status)
    assert only(ReportParams("exam", marker="judge:j", policy="published")).points == published


def test_the_newest_judgement_counts() -> None:
    response = make_response(marked_question())
    judgement(response, None, "no_total")
    judgement(response, "6", "scored")
    assert only(JUDGED).points == 6


@pytest.mark.parametrize("status", ["quarantined", "excluded"])
def test_an_item_under_doubt_takes_no_part_but_is_there(status: str) -> None:
    response = make_response(make_question())
    score_responses([response])
    Question.objects.update(status=status)
    row = only()
    assert (row.points, row.outcome, row.reason) == (None, "excluded", status)
    assert list(included([row])) == []


@pytest.mark.parametrize(("status", "points"), [("quarantined", 6), ("excluded", None)])
def test_as_published_only_a_persons_decision_leaves_an_item_out(
    status: str, points: float | None
) -> None:
    response = make_response(make_question())
    score_responses([response])
    Question.objects.update(status=status)
    row = only(ReportParams("exam", policy="published"))
    assert row.points == points
    assert len(list(included([row]))) == (points is not None)


def test_a_call_that_failed_for_good_is_an_answer_without_points() -> None:
    question = make_question()
    run = make_run(question.task.dataset)
    places = {"run": run, "question": question, "revision": question.current}
    job = Job.objects.create(**places, status="failed")
    Job.objects.create(**places, repeat=2, status="pending")
    Job.objects.create(**places, repeat=3, status="failed")
    Response.objects.create(**places, repeat=3, text="【答案】A")  # it came late and was kept
    rows = scored_answers(PARAMS)
    failed = [row for row in rows if row.outcome == "api_error"]
    assert [(row.response, row.points, row.reason) for row in failed] == [
        (-job.pk, None, "api_error")
    ]
    assert len(rows) == 2


@pytest.mark.parametrize(("policy", "points"), [("strict", None), ("published", 0)])
def test_a_programs_message_counts_only_as_published(policy: str, points: float | None) -> None:
    question = make_question()
    response = make_response(question, text="Internal Server Error")
    marked = make_response(marked_question(), response.run, "IndexError")
    final(marked, "4")
    Response.objects.update(is_error_text=True)
    score_responses(Response.objects.all())
    rows = {row.response: row for row in scored_answers(ReportParams("exam", policy=policy))}
    objective = rows[response.pk]
    assert (objective.points, objective.full, objective.outcome) == (points, 6, "api_error")
    assert rows[marked.pk].points == (4 if policy == "published" else None)
    # A person who finds an answer in it decides.
    Extraction.objects.filter(policy=policy).update(method="person")
    ObjectiveScore.objects.filter(policy=policy).update(points=6, outcome="correct")
    again = {row.response: row for row in scored_answers(ReportParams("exam", policy=policy))}
    assert again[response.pk].points == 6


def test_repeats_of_a_later_run_count_on() -> None:
    question = make_question()
    first = make_run(question.task.dataset, repeats=2)
    second = make_run(question.task.dataset)
    other = make_run(question.task.dataset, model="other")
    for run, repeat in ((first, 1), (first, 2), (second, 1), (other, 1)):
        Response.objects.create(
            run=run, question=question, revision=question.current, repeat=repeat
        )
    assert [(row.model, row.repeat) for row in scored_answers(PARAMS)] == [
        ("canary-gpt-7f3a", 1),
        ("canary-gpt-7f3a", 2),
        ("canary-gpt-7f3a", 3),
        ("other", 1),
    ]


def test_a_run_without_any_answer_takes_no_repeat() -> None:
    question = make_question()
    places = {"question": question, "revision": question.current}
    for repeats in (1, 2):  # stopped before its first response
        make_run(question.task.dataset, repeats=repeats)
    failed = make_run(question.task.dataset)
    Job.objects.create(**places, run=failed, status="failed")
    last = make_run(question.task.dataset)
    make_response(question, last)
    assert {(row.run, row.repeat) for row in scored_answers(PARAMS)} == {
        (failed.pk, 1),
        (last.pk, 2),
    }
    assert {(row[-1], row[SCORE_COLUMNS.index("repeat")]) for row in score_rows(PARAMS)} == {
        (failed.pk, 1),
        (last.pk, 2),
    }


def test_the_filters_pick_dataset_model_and_year() -> None:
    task = make_task(make_dataset("exam"))
    old, new = make_question(task, year=2019), make_question(task, year=2022)
    make_response(old, make_run(task.dataset, model="a"))
    make_response(new, make_run(task.dataset, model="b"))
    make_response(make_question(make_task(make_dataset("elsewhere"))))
    assert {row.model for row in scored_answers(PARAMS)} == {"a", "b"}
    assert {row.model for row in scored_answers(ReportParams("exam", models=("b",)))} == {"b"}
    assert {row.year for row in scored_answers(ReportParams("exam", year=2019))} == {2019}


def test_judge_runs_are_no_answers() -> None:
    question = make_question()
    judge = ensure_judge(make_endpoint())
    judged = make_run(question.task.dataset)
    run = make_run(question.task.dataset, model="judge", endpoint=judge.endpoint)
    rows = Run.objects.filter(pk=run.pk)
    rows.update(purpose="judge", judge=judge, judged_run=judged, condition=None)
    Job.objects.create(run=run, question=question, revision=question.current, status="failed")
    assert scored_answers(PARAMS) == []


def test_the_number_of_queries_does_not_grow(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    run = make_run(make_dataset("exam"))
    task = make_task(run.dataset)
    score_responses([make_response(make_question(task), run) for _ in range(30)])
    with django_assert_num_queries(11):
        rows = scored_answers(PARAMS)
    assert len(rows) == 30
    assert LanguageModel.objects.count() == 1
    assert sum(Decimal(row.points or 0) for row in rows) == 180

"""Scores stand side by side per policy, are added once, and leave marked items alone."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluations.models import Extraction, ObjectiveScore, Response
from evaluations.reading.kinds import ScoredAnswerKind
from evaluations.reading.services import scoring
from evaluations.reading.services.scoring import score_responses
from evaluations.statistics.policies import Policy
from questions.rules.vocabulary import QuestionType
from tests.factories import make_question, make_response, make_run, make_task

pytestmark = pytest.mark.django_db


def objective_response(text: str, **fields: object) -> Response:
    response = make_response(make_question(), text=text)
    for name, value in fields.items():
        setattr(response, name, value)
    response.save()
    return response


def test_a_response_is_read_and_scored_under_both_policies() -> None:
    text = "【解析】略<eoe>\n【答案】A <eoa>\n选项D错误"
    response = objective_response(text)
    counts = score_responses([response])
    assert counts == {(Policy.PUBLISHED, "wrong"): 1, (Policy.STRICT, "correct"): 1}
    strict = ObjectiveScore.objects.get(response=response, policy="strict")
    assert (strict.points, strict.full, strict.sub_points) == (Decimal(6), Decimal(6), ["6"])
    assert strict.extraction.answers == ["A"]
    start, end = strict.extraction.spans[0]
    assert "A" in text[start:end]
    published = ObjectiveScore.objects.get(response=response, policy="published")
    assert published.extraction.reader_version == "gaokao-bench-1"
    assert published.reader_version == "gaokao-bench-1"
    assert published.published_rules == "gaokao-bench"
    assert not score_responses([response]), "scoring again adds nothing"
    assert ObjectiveScore.objects.count() == Extraction.objects.count() == 2


def test_a_new_scorer_adds_a_score_and_keeps_the_old(monkeypatch: pytest.MonkeyPatch) -> None:
    response = objective_response("【答案】A")
    score_responses([response], policies=[Policy.STRICT])
    monkeypatch.setattr(scoring, "SCORER_VERSION", "later")
    assert score_responses([response], policies=[Policy.STRICT]) == {(Policy.STRICT, "correct"): 1}
    assert ObjectiveScore.objects.filter(response=response).count() == 2
    assert Extraction.objects.filter(response=response).count() == 1


def test_a_cut_off_response_is_named_so_under_strict() -> None:
    response = objective_response("Let me think about this at length", finish_reason="length")
    counts = score_responses([response], policies=[Policy.STRICT])
    assert counts == {(Policy.STRICT, "truncated"): 1}


def test_marked_items_and_contradictory_keys_have_no_score() -> None:
    marked = make_question(make_task(question_type=QuestionType.OPEN_ENDED))
    two_keys = make_question(key=("A", "B"), marks=("2",))
    two_marks = make_question(key=("A", "B"), marks=("2", "2"))
    responses = [make_response(question) for question in (marked, two_keys, two_marks)]
    assert not score_responses(responses)
    assert not ObjectiveScore.objects.exists()


def test_batches_cost_the_same_few_queries(django_assert_max_num_queries: object) -> None:
    run = make_run()
    task = make_task(run.dataset)
    made = [make_response(make_question(task), run) for _ in range(20)]
    with django_assert_max_num_queries(35):  # type: ignore[operator]
        score_responses(Response.objects.filter(pk__in=[response.pk for response in made]))
    assert ObjectiveScore.objects.count() == 40


def test_the_end_of_a_run_reads_no_answer_that_is_scored(
    django_assert_num_queries: object,
) -> None:
    """A run of a hundred thousand answers ends as soon as one of ten."""
    run = make_run()
    task = make_task(run.dataset)
    made = [make_response(make_question(task), run) for _ in range(3)]
    score_responses(made[:2])
    ScoredAnswerKind().catch_up(run)
    assert ObjectiveScore.objects.count() == 6
    with django_assert_num_queries(len(Policy) + 1):  # type: ignore[operator]
        ScoredAnswerKind().catch_up(run)

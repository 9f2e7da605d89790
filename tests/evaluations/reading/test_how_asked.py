"""Published rules: only for answers to the benchmark's own prompts, and by the rules of those."""

from __future__ import annotations

import pytest

from evaluations.conditions import Asking
from evaluations.facts.params import ReportParams
from evaluations.facts.published import HowAsked, how_asked
from evaluations.models import Condition, LanguageModel, Run
from evaluations.reading.rules.extraction.published_agieval import read_agieval
from evaluations.reading.services.scoring import score_responses
from evaluations.reports.selectors.scored_answers import scored_answers
from evaluations.runs.services.conditions import condition_for
from questions.rules.vocabulary import QuestionType
from tests.factories import make_dataset, make_endpoint, make_question, make_response, make_run
from tests.factories import make_task as task_of

SINGLE, EXACT = QuestionType.SINGLE_CHOICE, QuestionType.EXACT_ANSWER


@pytest.mark.parametrize(
    ("asked", "dataset", "kind", "rules"),
    [
        (HowAsked(), "agieval", SINGLE, "agieval"),
        (HowAsked(), "exam", SINGLE, "gaokao-bench"),
        (HowAsked(), "exam", EXACT, None),
        (HowAsked("gradeapp"), "gaokao-bench", SINGLE, None),
        (HowAsked("agibench:reason"), "agibench", SINGLE, "agibench"),
        (HowAsked("agibench:none"), "gaokao-bench", SINGLE, "agibench"),
        (HowAsked("gaokao-bench"), "exam", EXACT, None),
        (HowAsked("agieval"), "gaokao-bench", SINGLE, None),
        (HowAsked("agieval", options_moved=True), "agieval", SINGLE, None),
    ],
)
def test_the_rules_are_those_of_the_prompts(
    asked: HowAsked, dataset: str, kind: QuestionType, rules: str | None
) -> None:
    assert asked.rules(dataset, kind) == rules


def test_agieval_reads_by_the_setting_of_the_condition() -> None:
    reply = "A and C are wrong.\nTherefore the answer is D"
    few_shot = HowAsked("agieval", "few-shot-cot").agieval_setting
    assert read_agieval(reply, "sat-en", setting=few_shot).answers == ("D",)
    zero_shot = HowAsked("agieval", "zero-shot").agieval_setting
    assert read_agieval(reply, "sat-en", setting=zero_shot).answers == ("A",)


def asked_by(condition: Condition, model: LanguageModel) -> Run:
    return make_run(make_dataset("agibench"), model.name, condition=condition)


@pytest.mark.django_db
def test_other_prompts_have_no_published_points_and_say_why() -> None:
    endpoint = make_endpoint("one")
    model = endpoint.language_model
    own = asked_by(condition_for(endpoint, Asking()), model)
    published = asked_by(condition_for(endpoint, Asking(prompt_set="agibench:answer")), model)
    question = make_question(task_of(make_dataset("agibench")), key=("B",))
    responses = [make_response(question, run, "答案是B。") for run in (own, published)]
    score_responses(responses)
    assert [one.strict_score is not None for one in responses] == [True, True]
    assert responses[0].published_score is None
    score = responses[1].published_score
    assert score is not None
    assert (score.published_rules, score.outcome) == ("agibench", "correct")
    assert how_asked([own.pk])[own.pk].offered is False
    rows = {
        row.response: (row.points, row.reason)
        for row in scored_answers(ReportParams("agibench", policy="published"))
    }
    assert rows[responses[0].pk] == (None, "not_published_prompts")
    assert rows[responses[1].pk] == (6.0, "")

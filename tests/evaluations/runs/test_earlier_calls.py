"""Estimates by earlier calls: prompts by their sizes, replies by their mean."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluations.conditions import Asking, PromptSetting, Sampling
from evaluations.judging.services import ensure_judge, start_judge_run
from evaluations.judging.services.judge_costs import estimate_judging
from evaluations.models import Attempt, Endpoint, Run
from evaluations.models.vocabulary import RunPurpose, UsageState
from evaluations.runs.kinds import Cost
from evaluations.runs.services.earlier_calls import earlier_calls
from evaluations.runs.services.run_estimates import estimate
from evaluations.runs.services.runs import start_run
from questions.models import Dataset
from questions.rules.vocabulary import QuestionType
from tests.evaluations.judging.test_canaries import judge_that
from tests.evaluations.run_world import scripted_endpoint, worked
from tests.factories import make_dataset, make_question, make_response, make_run, make_task
from tests.scripted_server import ScriptedServer

pytestmark = pytest.mark.django_db
COT = Asking(setting=PromptSetting.ZERO_SHOT_COT, sampling=Sampling(max_tokens=2048))
# The language of the instructions: the scripted endpoint counts characters, not bytes.
PASSAGE = "阅读这份测量报告，判断下列哪一项说法能够由报告得出，并说明理由。" * 60


@pytest.fixture
def priced(server: ScriptedServer) -> Endpoint:
    return scripted_endpoint(server, price_input=Decimal(2), price_output=Decimal(8))


def exam(passage: str = "", question_type: QuestionType = QuestionType.SINGLE_CHOICE) -> Dataset:
    """A dataset of its own with ten questions whose keys differ.

    Canaries are made from the questions and keys of the dataset, of all classes where keys differ.
    """
    task = make_task(make_dataset("long" if passage else "short"), question_type=question_type)
    for n in range(10):
        stem = f"{passage}第{n}题哪一项正确？\nA. 甲\nB. 乙\nC. 丙\nD. 丁"
        make_question(task, stem=stem, reference_answer=f"由报告可知，长度为 {n + 3} 米")
    return task.dataset


def assert_near(made: Cost, run: Run) -> None:
    """Assert that *run* cost what *made* expected, within a quarter."""
    calls = Attempt.objects.filter(job__run=run)
    assert made.earlier_calls >= 10
    sums = [(one.prompt_tokens + one.completion_tokens, one.cost) for one in calls]
    tokens, cost = (sum(column) for column in zip(*sums, strict=True))
    assert made.tokens == pytest.approx(tokens, rel=0.25)
    assert float(made.expected) == pytest.approx(float(cost), rel=0.25)
    assert cost <= made.at_most


@pytest.mark.parametrize("asking", [Asking(), COT], ids=["one step", "two steps"])
def test_long_questions_are_estimated_after_short_ones(priced: Endpoint, asking: Asking) -> None:
    short, long = exam(), exam(PASSAGE)
    worked(start_run(endpoint=priced, dataset=short, acting_user=None, asking=asking))
    made = estimate(endpoint=priced, dataset=long, repeats=1, asking=asking).answering
    run = worked(start_run(endpoint=priced, dataset=long, acting_user=None, asking=asking))
    assert_near(made, run)
    assert made.calls == run.jobs.count()
    assert run.expected_cost == made.expected


def test_long_questions_are_judged_after_short_ones(
    server: ScriptedServer, priced: Endpoint
) -> None:
    server.endpoint.faults = judge_that(lambda key, response: "【总分】1分")
    runs, made = [], None
    for passage in ("", PASSAGE):
        dataset = exam(passage, QuestionType.OPEN_ENDED)
        items = [q for task in dataset.tasks.all() for q in task.questions.all()]
        answered = make_run(dataset)
        for question in items:
            make_response(question, run=answered, text="我的答案是" * 120)
        made = estimate_judging(priced, items, 1)
        judging = start_judge_run(answered, ensure_judge(priced), acting_user=None)
        runs.append(worked(judging))
    assert made is not None
    assert_near(made, runs[-1])


def test_replies_are_those_of_the_same_setting(priced: Endpoint) -> None:
    """With ten calls in the setting those alone count; the size of a prompt is stored with it."""
    dataset = exam()
    plain = worked(start_run(endpoint=priced, dataset=dataset, acting_user=None))
    worked(start_run(endpoint=priced, dataset=dataset, acting_user=None, asking=COT, repeats=2))
    of_plain = {"job__run__condition__setting": plain.condition.setting}
    found = earlier_calls(priced, RunPurpose.ANSWER, nearest=of_plain)
    calls = list(plain.jobs.values_list("attempts__prompt_tokens", "attempts__prompt_bytes"))
    read, size = (sum(column) for column in zip(*calls, strict=True))
    assert (found.n, found.tokens_a_byte) == (10, pytest.approx(read / size))
    assert earlier_calls(priced, RunPurpose.ANSWER).n == 50
    odd = Attempt.objects.filter(job__run=plain).earliest("pk")
    kept = (odd.prompt_tokens, odd.completion_tokens, odd.prompt_bytes)
    Attempt.objects.filter(pk=odd.pk).update(
        prompt_tokens=10**9, completion_tokens=10**9, usage=UsageState.ODD
    )
    found = earlier_calls(priced, RunPurpose.ANSWER, nearest=of_plain)
    assert found.tokens_a_byte == pytest.approx((read - kept[0]) / (size - kept[2]))
    assert found.written < 600
    assert earlier_calls(priced, RunPurpose.JUDGE).n == 0

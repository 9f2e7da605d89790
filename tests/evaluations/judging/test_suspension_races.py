"""A judge is suspended or released while a judgement of it is stored: the facts know of both."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from evaluations.facts.answer_facts import rebuild_facts
from evaluations.judging.services import ensure_judge, start_judge_run
from evaluations.judging.services.checks import check_judge
from evaluations.judging.services.judge_runs import add_judge_jobs
from evaluations.models import CanaryReply, Endpoint, Judge, Judgement, Run
from evaluations.runs.services.job_queue import Claimed
from evaluations.statistics.outcomes import CanaryKind
from questions.rules.vocabulary import QuestionType
from tests.evaluations.runs.test_job_queue import answered, claim, store
from tests.factories import make_dataset, make_question, make_response, make_run, make_task
from tests.waiting import after

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("postgresql"),
]


@pytest.fixture
def judge_run(endpoint: Endpoint) -> Run:
    """A run of a judge over two responses, with three canaries of each class."""
    task = make_task(make_dataset(), question_type=QuestionType.OPEN_ENDED)
    run = make_run(task.dataset)
    for number in range(1, 5):
        key = f"By the law it is {number * 7}"
        question = make_question(task, marks=("4", "6"), stem=f"{number}?", reference_answer=key)
        if number < 3:
            make_response(question, run=run, text=f"my answer is {number}")
    return start_judge_run(run, ensure_judge(endpoint), acting_user=None, canaries=3)


def canaries_answered(run: Run) -> list[Claimed]:
    """Answer the canaries of *run* as a careful judge does; return the calls of the responses."""
    worth = {CanaryKind.KEY: 10, CanaryKind.DUPLICATE: 6}
    kinds = dict(run.canaries.values_list("job", "kind"))
    calls: list[Claimed] = []
    for one in claim(run, "w", 100):
        if kind := kinds.get(one.attempt.job_id):
            store(answered(one, f"【总分】{worth.get(CanaryKind(kind), 0)}分"))
        else:
            calls.append(one)
    return calls


def withhold(judge_run: Run, repeat: int) -> None:
    """Store a judgement of a response without content, which no judge is asked about."""
    run = judge_run.judged_run
    assert run is not None
    make_response(run.responses.earliest("pk").question, run, "", repeat)
    add_judge_jobs(judge_run)


@pytest.mark.parametrize("checked_first", [True, False])
def test_a_judgement_and_a_check_at_one_moment_know_of_each_other(
    judge_run: Run, checked_first: bool
) -> None:
    calls = canaries_answered(judge_run)
    check_judge(judge_run)
    empty = CanaryReply.objects.filter(canary__kind=CanaryKind.EMPTY)
    check = partial(check_judge, judge_run)
    judgements: list[Callable[[], None]] = [
        *(partial(store, answered(call, "【总分】6分")) for call in calls),
        *(partial(withhold, judge_run, repeat) for repeat in (2, 3)),
    ]
    for judgement, suspended in zip(judgements, (True, False, True, False), strict=True):
        empty.update(total=10 if suspended else 0)  # past the services
        after(*((check, judgement) if checked_first else (judgement, check)))
        assert Judge.objects.exclude(suspended_at=None).exists() is suspended
        assert rebuild_facts(check=True)[1] == 0
    assert Judgement.objects.count() == 4

"""Studies: a shared budget, a matrix of runs, and trials that go on with all questions."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from evaluations.conditions import Asking, Sampling
from evaluations.llm.budget import Budget
from evaluations.models import Attempt, Endpoint, Job, Run, Study
from evaluations.runs.rules.question_choice import QuestionChoice
from evaluations.runs.selectors.runs import money
from evaluations.runs.services.calls import call_for
from evaluations.runs.services.job_queue import claim_jobs
from evaluations.runs.services.run_estimates import estimate, study_cost
from evaluations.runs.services.runs import extend_run, start_run
from evaluations.runs.services.studies import resume_study, start_study, stop_study
from evaluations.runs.services.study_budgets import reserve
from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput, Conflict, OtherRequest
from questions.models import Dataset
from tests.evaluations.marking.desk.test_marking_races import at_once
from tests.evaluations.run_world import scripted_endpoint, worked
from tests.factories import make_dataset, make_question, make_task
from tests.scripted_server import ScriptedServer

pytestmark = pytest.mark.django_db
WARM = Asking(sampling=Sampling(temperature=0.3, max_tokens=50))
COLD = Asking(sampling=Sampling(max_tokens=50))


@pytest.fixture
def exam(db: None) -> Dataset:
    dataset = make_dataset()
    for slug, n in (("physics", 9), ("history", 3)):
        task = make_task(dataset, slug=slug)
        for _ in range(n):
            make_question(task)
    return dataset


def exposed(study: Study) -> Decimal:
    return sum((money(run).exposed for run in study.runs.all()), Decimal(0))


def test_the_runs_of_a_study_never_reserve_beyond_its_budget(
    exam: Dataset, endpoint: Endpoint, admin: User
) -> None:
    """At 12 per million output tokens, a call may cost about 0.005; the 24 calls cost more."""
    study = start_study(
        name="Temperature",
        dataset=exam,
        choice=QuestionChoice(),
        pairs=[(endpoint, COLD), (endpoint, WARM)],
        budget=Decimal("0.0100"),
        acting_user=admin,
        idempotency_key="once",
    )
    runs = [worked(run) for run in study.runs.order_by("pk")]
    study.refresh_from_db()
    assert {run.condition.name for run in runs} == {"zero-shot", "zero-shot · T 0.3"}
    assert runs[1].status == "paused"
    assert runs[1].pause_reason == "study_budget"
    assert Job.objects.filter(status="done").count() < 24
    assert study.committed * Study.UNIT == exposed(study) <= Decimal("0.01")
    left = study.committed
    assert not reserve(study.pk, 10**6 - left + 1), "one unit more than is left"
    assert reserve(study.pk, 10**6 - left), "all that is left"
    Study.objects.update(committed=left)
    with pytest.raises(BadInput, match="higher budget"):
        resume_study(study, acting_user=admin)
    with pytest.raises(BadInput, match="higher than"):
        resume_study(study, acting_user=admin, budget=Decimal("0.0001"))
    for run in resume_study(study, acting_user=admin, budget=Decimal(1)):
        assert worked(run).status == "finished"
    study.refresh_from_db()
    assert study.committed * Study.UNIT == exposed(study)
    assert not Attempt.objects.filter(status="sent").exists()
    with pytest.raises(Conflict, match="in progress"):
        stop_study(study, acting_user=admin)


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_reserve_no_more_than_the_study_has(
    exam: Dataset, endpoint: Endpoint, admin: User
) -> None:
    """Four workers claim one call after the other; the budget is that of fewer than all want."""
    pairs = [(endpoint, replace(COLD, max_prompt_tokens=n)) for n in range(4)]
    study = start_study(
        name="At once",
        dataset=exam,
        choice=QuestionChoice(),
        pairs=pairs,
        budget=Decimal("0.0300"),
        acting_user=admin,
    )
    runs = list(study.runs.select_related("endpoint", "condition").order_by("pk"))

    def claims(run: Run) -> int:
        now, n = timezone.now(), 0
        prepare = partial(call_for, run)
        while claim_jobs(run, f"w{run.pk}", 1, now, prepare=prepare, budget=Budget(None)):
            n += 1
        return n

    claimed = sum(at_once(*(partial(claims, run) for run in runs)))
    study.refresh_from_db()
    reserved = sum(Attempt.objects.values_list("reserved", flat=True))
    assert study.spent_or_reserved == reserved <= Decimal("0.03")
    assert claimed == Attempt.objects.count() < 48
    dearest = max(Attempt.objects.values_list("reserved", flat=True))
    assert reserved > Decimal("0.03") - dearest, "nothing is left for one more"


def test_a_study_is_checked_and_started_once(
    exam: Dataset, endpoint: Endpoint, server: ScriptedServer, admin: User
) -> None:
    dear = scripted_endpoint(server, name="other", currency="USD")
    spelled_out = Asking(sampling=Sampling(max_tokens=endpoint.max_tokens))
    good = {
        "name": "One",
        "dataset": exam,
        "choice": QuestionChoice(limit=2),
        "pairs": [(endpoint, COLD)],
        "acting_user": admin,
        "idempotency_key": "twice",
    }
    for changes, words in (
        ({"name": " "}, "name"),
        ({"pairs": []}, "at least one"),
        ({"pairs": [(endpoint, COLD), (dear, COLD)]}, "same currency"),
        ({"pairs": [(endpoint, COLD)] * 2}, "the same"),
        ({"pairs": [(endpoint, Asking()), (endpoint, spelled_out)]}, "the same"),
        ({"pairs": [(endpoint, COLD)] * 61}, "at most 60"),
        ({"budget": Decimal(0)}, "above zero"),
    ):
        with pytest.raises(BadInput, match=words):
            start_study(**{**good, **changes})
    assert not Study.objects.exists()
    study = start_study(**good)
    assert start_study(**good) == study
    assert Run.objects.count() == 1
    assert stop_study(study, acting_user=admin) == 1
    assert [run.status for run in resume_study(study, acting_user=admin)] == ["queued"]


def test_a_trial_goes_on_with_all_and_asks_nothing_twice(
    exam: Dataset, endpoint: Endpoint, admin: User
) -> None:
    run = start_run(endpoint=endpoint, dataset=exam, acting_user=admin, trial=True, repeats=2)
    with pytest.raises(Conflict, match="in progress"):
        extend_run(run, acting_user=admin)
    assert run.jobs.count() == 20
    worked(run)
    assert extend_run(run, acting_user=admin) == 4
    assert worked(run).status == "finished"
    assert run.run_settings["choice"] == {}
    assert Attempt.objects.count() == 24
    assert run.jobs.values("question", "repeat").distinct().count() == 24
    with pytest.raises(Conflict, match="not a trial"):
        extend_run(run, acting_user=admin)


def test_a_run_or_study_of_too_many_calls_is_refused_before_it_is_planned(
    exam: Dataset, endpoint: Endpoint, admin: User, settings: Any
) -> None:
    """Twelve questions: 12 × 2 repeats × 2 runs are 48 calls."""
    settings.RUN_MOST_CALLS = 47
    given: dict[str, Any] = {"dataset": exam, "choice": QuestionChoice(), "repeats": 2}
    pairs = [(endpoint, COLD), (endpoint, WARM)]
    for refused in (
        lambda: start_study(name="Big", pairs=pairs, acting_user=admin, **given),
        lambda: study_cost(pairs, **given),
        lambda: start_run(endpoint=endpoint, acting_user=admin, **{**given, "repeats": 4}),
        lambda: estimate(endpoint=endpoint, **{**given, "repeats": 4}),
    ):
        with pytest.raises(BadInput, match=r"48 calls.*At most 47"):
            refused()
    assert not Run.objects.exists()
    settings.RUN_MOST_CALLS = 48
    assert start_study(name="Big", pairs=pairs, acting_user=admin, **given).runs.count() == 2


def test_a_key_is_of_one_request_for_a_study(
    exam: Dataset, endpoint: Endpoint, admin: User
) -> None:
    """Another request with it is refused, also where the key is that of a run alone."""
    asked: dict[str, Any] = {
        "name": "Temperature",
        "dataset": exam,
        "choice": QuestionChoice(),
        "pairs": [(endpoint, COLD), (endpoint, WARM)],
        "budget": Decimal(1),
        "acting_user": admin,
        "idempotency_key": "once",
    }
    study = start_study(**asked)
    assert start_study(**asked) == study
    others: list[dict[str, Any]] = [{"name": "Other"}, {"budget": None}, {"repeats": 2}]
    others += [{"pairs": asked["pairs"][:1]}, {"pairs": asked["pairs"][::-1]}]
    for other in others:
        with pytest.raises(OtherRequest):
            start_study(**asked | other)
    start_run(endpoint=endpoint, dataset=exam, acting_user=admin, idempotency_key="alone:0")
    with pytest.raises(OtherRequest):
        start_study(**asked | {"idempotency_key": "alone"})
    assert list(Study.objects.all()) == [study]
    assert study.runs.count() == 2

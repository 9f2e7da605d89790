"""Start, stop, resume: what is planned, what is refused, and that a request counts once."""

from __future__ import annotations

import threading
from decimal import Decimal

import pytest
from django.db import connection

from evaluations.conditions import Asking, PromptSetting
from evaluations.models import Endpoint, Job, LanguageModel, Run
from evaluations.runs.rules.question_choice import QuestionChoice
from evaluations.runs.services.runs import resume_run, retry_failed, start_run, stop_run
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import Dataset, Question
from questions.rules.vocabulary import ItemStatus
from tests.factories import make_dataset, make_question, make_task


def make_endpoint() -> Endpoint:
    return Endpoint.objects.create(
        name="here",
        base_url="http://127.0.0.1:8000/v1",
        model="small",
        language_model=LanguageModel.objects.create(name="small"),
        price_input=Decimal(2),
        price_output=Decimal(8),
        max_tokens=512,
    )


def make_exam(items: int = 4) -> Dataset:
    dataset = make_dataset()
    for _ in range(2):
        task = make_task(dataset)
        for _ in range(items // 2):
            make_question(task)
    return dataset


@pytest.mark.django_db
def test_the_plan(admin: User) -> None:
    dataset, endpoint = make_exam(), make_endpoint()
    Question.objects.filter(pk=dataset.tasks.first().questions.first().pk).update(
        status=ItemStatus.QUARANTINED
    )
    out = make_question(make_task(dataset))
    out.status = ItemStatus.EXCLUDED
    out.save()
    run = start_run(
        endpoint=endpoint, dataset=dataset, repeats=3, budget=Decimal("1.5"), acting_user=admin
    )
    jobs = Job.objects.filter(run=run)
    assert jobs.count() == 12, "four items, also the quarantined one, three times"
    assert [job.repeat for job in jobs] == [1] * 4 + [2] * 4 + [3] * 4
    assert all(job.revision == job.question.current for job in jobs)
    assert (run.status, run.created_by, run.budget) == ("queued", admin, Decimal("1.5"))
    frozen = run.run_settings
    assert (frozen["model"], frozen["base_url"]) == ("small", "http://127.0.0.1:8000/v1")
    assert (frozen["setting"], frozen["sampling"]["temperature"]) == ("zero-shot", 0)
    assert frozen["sampling"]["max_tokens"] == 512
    assert run.condition
    assert run.fingerprint == run.condition.fingerprint
    assert AuditEntry.objects.get(tag="run.started").detail == {"planned": 12, "budget": "1.5"}


@pytest.mark.django_db
def test_a_limit_takes_from_every_task() -> None:
    run = start_run(
        endpoint=make_endpoint(),
        dataset=make_exam(8),
        choice=QuestionChoice(limit=4),
        acting_user=None,
    )
    tasks = list(Job.objects.filter(run=run).values_list("question__task", flat=True))
    assert sorted(tasks.count(task) for task in set(tasks)) == [2, 2]


@pytest.mark.django_db
def test_equal_settings_have_one_fingerprint() -> None:
    dataset, endpoint = make_exam(), make_endpoint()
    first, second = (
        start_run(endpoint=endpoint, dataset=dataset, acting_user=None) for _ in range(2)
    )
    assert first.pk != second.pk
    assert first.fingerprint == second.fingerprint
    endpoint.max_tokens = 100
    third = start_run(endpoint=endpoint, dataset=dataset, acting_user=None)
    assert third.fingerprint != first.fingerprint


@pytest.mark.django_db
def test_the_same_key_gives_the_same_run() -> None:
    dataset, endpoint = make_exam(), make_endpoint()
    runs = {
        start_run(endpoint=endpoint, dataset=dataset, acting_user=None, idempotency_key="once").pk
        for _ in range(5)
    }
    assert len(runs) == 1
    assert Job.objects.count() == 4


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"asking": Asking(setting=PromptSetting.FEW_SHOT)}, "worked examples"),
        ({"repeats": 0}, "repeats"),
        ({"repeats": 101}, "repeats"),
        ({"choice": QuestionChoice(limit=0)}, "limit"),
        ({"budget": Decimal(0)}, "above zero"),
        ({"budget": Decimal(-1)}, "above zero"),
        ({"budget": Decimal("NaN")}, "above zero"),
        ({"budget": Decimal("Infinity")}, "above zero"),
    ],
)
def test_refusals_leave_nothing_behind(options: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        start_run(endpoint=make_endpoint(), dataset=make_exam(), acting_user=None, **options)
    assert not Run.objects.exists()
    assert not Job.objects.exists()


@pytest.mark.django_db
def test_no_items_no_key_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = make_endpoint()
    with pytest.raises(BadInput, match="no questions that can be asked"):
        start_run(endpoint=endpoint, dataset=make_dataset("empty"), acting_user=None)
    endpoint.key_variable = "SOMEBODYS_API_KEY"
    with pytest.raises(BadInput, match="SOMEBODYS_API_KEY"):
        start_run(endpoint=endpoint, dataset=make_exam(), acting_user=None)
    monkeypatch.setenv("SOMEBODYS_API_KEY", "sk-sentinel")
    run = start_run(endpoint=endpoint, dataset=make_dataset(), acting_user=None)
    assert "sk-sentinel" not in str(run.run_settings)


@pytest.mark.django_db
def test_stop_and_resume(admin: User) -> None:
    run = start_run(endpoint=make_endpoint(), dataset=make_exam(), acting_user=None)
    assert stop_run(run, acting_user=admin).status == "stopped", "nothing was in flight"
    assert stop_run(run, acting_user=admin).status == "stopped"
    assert resume_run(run, acting_user=admin).status == "queued"
    with pytest.raises(Conflict):
        resume_run(run, acting_user=admin)
    tags = list(AuditEntry.objects.order_by("id").values_list("tag", flat=True))
    assert tags == ["run.started", "run.stopped", "run.resumed"]


@pytest.mark.django_db
def test_what_is_over_stays_over() -> None:
    run = start_run(endpoint=make_endpoint(), dataset=make_exam(), acting_user=None)
    Run.objects.update(status="finished")
    with pytest.raises(Conflict):
        stop_run(run, acting_user=None)
    with pytest.raises(Conflict):
        retry_failed(run, acting_user=None)


@pytest.mark.django_db
def test_a_reached_budget_needs_a_higher_one() -> None:
    run = start_run(
        endpoint=make_endpoint(), dataset=make_exam(), budget=Decimal(1), acting_user=None
    )
    Run.objects.update(status="paused", pause_reason="budget")
    with pytest.raises(BadInput, match="higher"):
        resume_run(run, acting_user=None)
    assert resume_run(run, acting_user=None, budget=Decimal(2)).budget == Decimal(2)


@pytest.mark.django_db(transaction=True)
def test_a_double_click_makes_one_run() -> None:
    dataset, endpoint = make_exam(), make_endpoint()
    start = threading.Barrier(4)
    runs: list[int] = []
    errors: list[Exception] = []

    def press() -> None:
        try:
            start.wait()
            run = start_run(
                endpoint=endpoint, dataset=dataset, acting_user=None, idempotency_key="k"
            )
            runs.append(run.pk)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=press) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(runs) == 4
    assert len(set(runs)) == 1
    assert Job.objects.count() == 4

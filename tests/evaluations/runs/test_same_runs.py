"""Going on with a run that is over, while another run that makes the same calls is not."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from evaluations.conditions import Asking
from evaluations.models import Endpoint, Run
from evaluations.runs.rules.question_choice import QuestionChoice
from evaluations.runs.services.runs import (
    extend_run,
    pause_run,
    resume_run,
    retry_failed,
    start_run,
    stop_run,
)
from evaluations.runs.services.sampling import sampling_for
from evaluations.runs.services.studies import start_study, stop_study
from gradeapp.accounts.models import User
from gradeapp.common.refusals import Conflict
from questions.models import Dataset
from tests.evaluations.run_world import planned, worked
from tests.factories import make_dataset, make_question, make_task
from tests.waiting import after

pytestmark = pytest.mark.django_db
ANYWAY = {"start_anyway": True}


@pytest.fixture
def client(admin: User) -> Client:
    client = Client()
    client.force_login(admin)
    return client


@pytest.fixture
def exam(db: None) -> Dataset:
    task = make_task(make_dataset())
    for _ in range(12):
        make_question(task)
    return task.dataset


def twin_of(run: Run, **options: Any) -> Run:
    """Start the same calls as those of *run* once more."""
    assert run.endpoint is not None
    return start_run(endpoint=run.endpoint, dataset=run.dataset, acting_user=None, **options)


def with_a_twin(run: Run, how: str) -> Run:
    """Stop *run*, or let it finish with failed calls, and start its twin; return that."""
    if how == "resume":
        stop_run(run, acting_user=None)
    else:
        worked(run)
        run.jobs.update(status="failed", error="server")
    return twin_of(run, unless_running=True)


def asked(client: Client, how: str, run: Run, **body: object) -> Any:
    """Go on with *run* by the API."""
    address = reverse(f"api-run-{how}", args=[run.pk])
    return client.post(address, body, content_type="application/json")


@pytest.mark.parametrize("how", ["resume", "retry"])
def test_a_run_that_is_over_does_not_go_on_beside_its_twin(
    client: Client, endpoint: Endpoint, how: str
) -> None:
    run = planned(endpoint, 2)
    twin = with_a_twin(run, how)
    for status in ("queued", "running", "stopping", "paused"):
        Run.objects.filter(pk=twin.pk).update(status=status)
        refused = asked(client, how, run)
        assert (refused.status_code, refused.json()["code"]) == (409, "same_run")
        assert refused.json()["run"] == twin.pk
    run.refresh_from_db()
    assert run.status == ("stopped" if how == "resume" else "finished")
    assert asked(client, how, run, **ANYWAY).status_code == 200
    run.refresh_from_db()
    assert run.status == "queued"


@pytest.mark.parametrize("how", ["resume", "retry"])
def test_a_run_goes_on_when_its_twin_is_over(client: Client, endpoint: Endpoint, how: str) -> None:
    run = planned(endpoint, 2)
    twin = with_a_twin(run, how)
    Run.objects.filter(pk=twin.pk).update(status="stopped")
    assert asked(client, how, run).status_code == 200


def test_the_page_offers_to_go_on_anyway(client: Client, endpoint: Endpoint) -> None:
    run = planned(endpoint, 2)
    twin = with_a_twin(run, "resume")
    address = reverse("runs:resume", args=[run.pk])
    refused = client.post(address, {"budget": "12.5"})
    page = refused.content.decode()
    assert refused.status_code == 409
    assert f"Run {twin.pk} asks the same questions" in page
    assert reverse("runs:run", args=[twin.pk]) in page
    assert "Go on anyway" in page
    assert 'name="budget" value="12.5"' in page, "what was entered is sent again"
    again = client.post(address, {"budget": "12.5", "anyway": "1"})
    assert (again.status_code, again["Location"]) == (302, reverse("runs:run", args=[run.pk]))
    run.refresh_from_db()
    assert (run.status, run.budget) == ("queued", 12.5)


def test_the_page_of_retry_is_refused_too(client: Client, endpoint: Endpoint) -> None:
    run = planned(endpoint, 2)
    with_a_twin(run, "retry")
    address = reverse("runs:retry", args=[run.pk])
    assert client.post(address).status_code == 409
    assert client.post(address, {"anyway": "1"}).status_code == 302


def test_two_paused_runs_can_be_resumed(client: Client, endpoint: Endpoint) -> None:
    run = planned(endpoint, 2)
    twin = twin_of(run)
    for one in (run, twin):
        pause_run(one, acting_user=None)
    for one in (run, twin):
        assert asked(client, "resume", one).status_code == 200, "it has kept its place"


def test_a_trial_goes_on_beside_no_run_of_all_questions(
    client: Client, exam: Dataset, endpoint: Endpoint
) -> None:
    trial = start_run(endpoint=endpoint, dataset=exam, acting_user=None, trial=True)
    with pytest.raises(Conflict, match=f"Run {trial.pk} asks the same"):
        twin_of(trial, unless_running=True)
    whole = twin_of(trial)
    worked(trial)
    address = reverse("runs:extend", args=[trial.pk])
    refused = client.post(address)
    assert refused.status_code == 409
    assert reverse("runs:run", args=[whole.pk]) in refused.content.decode()
    assert trial.jobs.count() == 10
    assert client.post(address, {"anyway": "1"}).status_code == 302
    assert trial.jobs.count() == 12


def test_no_run_of_all_questions_starts_beside_a_trial_that_went_on(
    exam: Dataset, endpoint: Endpoint
) -> None:
    trial = start_run(endpoint=endpoint, dataset=exam, acting_user=None, trial=True)
    worked(trial)
    extend_run(trial, acting_user=None, unless_running=True)
    with pytest.raises(Conflict, match=f"Run {trial.pk} asks the same"):
        twin_of(trial, unless_running=True)
    with pytest.raises(Conflict, match=f"Run {trial.pk} asks the same"):
        twin_of(trial, unless_running=True, trial=True)


def test_of_two_trials_one_goes_on_with_all_questions(
    client: Client, exam: Dataset, endpoint: Endpoint
) -> None:
    """The calls that a stopped trial has not made yet are those of the same trial beside it."""
    trial = start_run(endpoint=endpoint, dataset=exam, acting_user=None, trial=True)
    stop_run(trial, acting_user=None)
    other = twin_of(trial, unless_running=True, trial=True)
    address = reverse("runs:extend", args=[trial.pk])
    refused = client.post(address)
    assert refused.status_code == 409
    assert reverse("runs:run", args=[other.pk]) in refused.text
    stop_run(other, acting_user=None)
    assert client.post(address).status_code == 302
    refused = asked(client, "resume", other)
    assert (refused.status_code, refused.json()["run"]) == (409, trial.pk)


@pytest.mark.parametrize("first", [True, False])
def test_a_run_by_batch_makes_the_same_calls_as_one_that_calls_one_by_one(
    endpoint: Endpoint, first: bool
) -> None:
    run = planned(endpoint, 2, by_batch=first)
    with pytest.raises(Conflict, match=f"Run {run.pk} asks the same"):
        twin_of(run, unless_running=True, by_batch=not first)


def test_the_command_goes_on_anyway_if_it_is_said(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    run = planned(endpoint, 2)
    with_a_twin(run, "resume")
    with pytest.raises(SystemExit):
        call_command("run_model", "--resume", str(run.pk))
    assert "asks the same questions" in capsys.readouterr().err
    run.refresh_from_db()
    assert run.status == "stopped"
    call_command("run_model", "--resume", str(run.pk), "--anyway")
    run.refresh_from_db()
    assert run.status == "queued"


def test_runs_without_a_plan_are_not_the_same(endpoint: Endpoint) -> None:
    """Runs that judge, read or suggest have none."""
    run = planned(endpoint, 2)
    with_a_twin(run, "retry")
    Run.objects.update(plan_hash="")
    assert retry_failed(run, acting_user=None, unless_running=True) == 2


def test_a_study_does_not_go_on_beside_a_twin_of_its_run(
    client: Client, exam: Dataset, endpoint: Endpoint
) -> None:
    sampling = sampling_for(endpoint, {"temperature": "0.5"})
    study = start_study(
        name="One",
        dataset=exam,
        choice=QuestionChoice(),
        pairs=[(endpoint, Asking()), (endpoint, Asking(sampling=sampling))],
        acting_user=None,
    )
    stop_study(study, acting_user=None)
    _first, second = study.runs.order_by("pk")
    twin = twin_of(second, asking=Asking(sampling=sampling))
    api = reverse("api-study-resume", args=[study.pk])
    refused = client.post(api, {}, content_type="application/json")
    assert (refused.status_code, refused.json()["run"]) == (409, twin.pk)
    page = client.post(reverse("runs:study-resume", args=[study.pk]))
    assert page.status_code == 409
    assert "Go on anyway" in page.text
    assert f'href="{reverse("runs:study", args=[study.pk])}"' in page.text, "the way back"
    assert set(study.runs.values_list("status", flat=True)) == {"stopped"}
    assert client.post(api, ANYWAY, content_type="application/json").status_code == 200
    assert set(study.runs.values_list("status", flat=True)) == {"queued"}


@pytest.mark.django_db(transaction=True)
def test_of_two_that_are_resumed_at_one_moment_one_goes_on(endpoint: Endpoint) -> None:
    run = planned(endpoint, 2)
    twin = with_a_twin(run, "resume")
    stop_run(twin, acting_user=None)
    refused = after(
        lambda: resume_run(run, acting_user=None, unless_running=True),
        lambda: resume_run(twin, acting_user=None, unless_running=True),
    )
    assert getattr(refused, "code", "") == "same_run"

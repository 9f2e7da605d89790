"""Who makes batches: refused, stopped or killed in between, and what is left of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from evaluations.conditions import Asking, PromptSetting
from evaluations.models import Batch, Endpoint, Job, Run
from evaluations.models.vocabulary import BatchState, JobStatus, RunStatus
from evaluations.runs.services import batch_making
from evaluations.runs.services.batch_making import (
    make_batches,
    open_attempts,
    owner_of,
    release_unfinished,
)
from evaluations.runs.services.batch_work import runs_with_batch_work
from evaluations.runs.services.batches import read_replies, request_lines
from evaluations.runs.services.run_estimates import most_cost_of_resume
from evaluations.runs.services.runs import pause_run, resume_run, stop_run
from gradeapp.accounts.models import User
from gradeapp.common.database_clock import database_now
from gradeapp.common.refusals import Conflict
from tests.conftest import logged_in
from tests.evaluations.run_world import planned
from tests.evaluations.runs.batch_world import answered, by_batch, requests_of, silent_endpoint
from tests.evaluations.runs.test_runs_ended_workers import name_of_dead_process, told

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint() -> Endpoint:
    return silent_endpoint()


def facts_of(run: Run) -> dict[str, Any]:
    return Run.objects.values("status", "pause_reason", "batch_api", "started_at").get(pk=run.pk)


def after_first_claim(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Let *do* happen once, between the first claim of two requests and the second one."""
    real = batch_making.prepare_calls
    times: list[int] = []

    def prepared(*args: Any, **options: Any) -> Any:
        times.append(1)
        if len(times) == 2:
            do()
        return real(*args, **options)

    monkeypatch.setattr(batch_making, "TOGETHER", 2)
    monkeypatch.setattr(batch_making, "prepare_calls", prepared)


def test_what_somebody_else_claims_meanwhile_ends_no_making(
    endpoint: Endpoint, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two sessions prepare the same two requests; the other one claims them first."""
    run = by_batch(endpoint, 6)
    real = batch_making.claim_calls
    others: list[Batch] = []

    def claimed(run: Run, owner: str, *args: Any, **options: Any) -> Any:
        if not others:
            others.append(Batch.objects.create(run=run, state=BatchState.WAITING))
            real(run, owner_of(others[0]), *args, **options)
        return real(run, owner, *args, **options)

    monkeypatch.setattr(batch_making, "TOGETHER", 2)
    monkeypatch.setattr(batch_making, "claim_calls", claimed)
    answer = logged_in(admin).post(reverse("runs:batches-make", args=[run.pk]), follow=True)
    assert "4 requests wait." in answer.text
    own = Batch.objects.exclude(pk=others[0].pk).get()
    assert (open_attempts(others[0]).count(), open_attempts(own).count(), own.requests) == (2, 4, 4)
    lines = b"".join(request_lines(own))
    assert len(lines) <= own.size <= len(lines) + 4 * 19, "the size is of what it claimed alone"


@pytest.mark.parametrize("by_api", [True, False])
def test_a_refused_making_changes_nothing(endpoint: Endpoint, admin: User, by_api: bool) -> None:
    """The button of an older page: the run went on in the other way, or no longer at all."""
    run = by_batch(endpoint, 2, asking=Asking(setting=PromptSetting.ZERO_SHOT_COT))
    make_batches(run, acting_user=admin, by_api=by_api)
    resume_run(stop_run(run, acting_user=admin), acting_user=admin)
    before = facts_of(run)
    client, other = logged_in(admin), {} if by_api else {"by_api": "yes"}
    answer = client.post(reverse("runs:batches-make", args=[run.pk]), other)
    assert (answer.status_code, facts_of(run)) == (409, before)
    assert "No request is due" in answer.text
    assert before["batch_api"] is by_api
    assert Batch.objects.count() == 1
    # A worker that looked before a person decided for files makes no batch either.
    if not by_api:
        with pytest.raises(Conflict, match="not in progress"):
            make_batches(run, acting_user=None, by_api=True)


@pytest.mark.parametrize("stop", [stop_run, pause_run])
def test_the_making_ends_where_a_person_stops_or_pauses_the_run(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, stop: Callable[..., Run]
) -> None:
    run = by_batch(endpoint, 4)
    after_first_claim(monkeypatch, lambda: stop(run, acting_user=None))
    (batch,) = make_batches(run, acting_user=None)
    assert (batch.requests, batch.holder, open_attempts(batch).count()) == (2, "", 2)
    assert Job.objects.filter(run=run, status=JobStatus.PENDING).count() == 2
    assert facts_of(run)["status"] != RunStatus.RUNNING
    with pytest.raises(Conflict, match="not in progress"):
        make_batches(run, acting_user=None)


def test_a_run_that_is_stopped_before_the_first_claim_gets_no_batch(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = by_batch(endpoint, 4)
    real = batch_making.prepare_calls

    def prepared(*args: Any, **options: Any) -> Any:
        calls = real(*args, **options)
        stop_run(run, acting_user=None)
        return calls

    monkeypatch.setattr(batch_making, "prepare_calls", prepared)
    with pytest.raises(Conflict, match="not in progress"):
        make_batches(run, acting_user=None)
    run.refresh_from_db()
    assert (run.status, run.committed, Batch.objects.count()) == (RunStatus.STOPPED, 0, 0)
    assert Job.objects.filter(run=run, status=JobStatus.PENDING).count() == 4


@told
@pytest.mark.parametrize("by_api", [True, False])
def test_a_batch_whose_maker_was_killed_is_free_with_what_is_in_it(
    endpoint: Endpoint, admin: User, monkeypatch: pytest.MonkeyPatch, by_api: bool
) -> None:
    """Its requests could be neither taken nor discarded for a quarter of an hour, and were 0."""
    run = by_batch(endpoint, 4)
    dead = name_of_dead_process()
    monkeypatch.setattr(batch_making, "new_name", lambda: dead)
    kept: list[Any] = []

    def look() -> None:
        """What is stored when the process is killed is all that others see later."""
        kept.append(Batch.objects.values().get())
        raise KeyboardInterrupt

    after_first_claim(monkeypatch, look)
    with pytest.raises(KeyboardInterrupt):
        make_batches(run, acting_user=admin, by_api=by_api)
    Batch.objects.update(**kept[0])
    client, batch = logged_in(admin), Batch.objects.get()
    assert (batch.holder, batch.requests, batch.next_at) == (dead, 2, None)
    if by_api:
        release_unfinished()
        assert runs_with_batch_work(database_now()) == [run.pk]
    else:
        file = client.get(reverse("runs:batch-file", args=[run.pk, batch.pk]))
        assert len(b"".join(file.streaming_content).splitlines()) == 2
    batch.refresh_from_db()
    assert (batch.holder, batch.requests, batch.next_at is None) == ("", 2, not by_api)
    client.post(reverse("runs:batch-discard", args=[run.pk, batch.pk]))
    assert Batch.objects.get().state == BatchState.DISCARDED
    assert Job.objects.filter(run=run, status=JobStatus.PENDING).count() == 4


def test_a_run_that_is_stopped_while_a_file_waits_can_be_resumed(
    endpoint: Endpoint, admin: User
) -> None:
    """It was stopping until the file was uploaded or discarded, and counted as perhaps billed."""
    run = by_batch(endpoint, 2, asking=Asking(setting=PromptSetting.ZERO_SHOT_COT))
    (batch,) = make_batches(run, acting_user=admin)
    lines = [answered(one, "I think.") for one in requests_of(batch)]
    run = stop_run(run, acting_user=admin)
    assert run.status == RunStatus.STOPPING
    assert most_cost_of_resume(run, None) > 0, "its second steps do not go on by themselves"
    client, resume = logged_in(admin), reverse("runs:resume", args=[run.pk])
    assert resume in client.get(reverse("runs:run", args=[run.pk])).text
    assert client.post(resume).status_code == 302
    assert facts_of(run)["status"] == RunStatus.QUEUED
    read_replies(run, lines, acting_user=admin)
    (second,) = make_batches(run, acting_user=admin)
    read_replies(run, [answered(one) for one in requests_of(second)], acting_user=admin)
    assert facts_of(run)["status"] == RunStatus.FINISHED
    live = planned(endpoint, 1)
    Run.objects.filter(pk=live.pk).update(status=RunStatus.STOPPING)
    with pytest.raises(Conflict, match="cannot be resumed"):
        resume_run(live, acting_user=admin)

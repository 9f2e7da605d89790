"""Batches through an endpoint's batch API: created once, whatever happens between two steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse

from evaluations.conditions import Asking, PromptSetting
from evaluations.llm import batch_api
from evaluations.llm.client import Limits
from evaluations.models import Batch, Endpoint, Job, Response, Run
from evaluations.models.vocabulary import BatchState, JobStatus, PauseReason, RunStatus
from evaluations.runs import tasks
from evaluations.runs.selectors.run_words import STEP_FAILED
from evaluations.runs.selectors.runs import money
from evaluations.runs.services import batch_work
from evaluations.runs.services.batch_making import make_batches
from evaluations.runs.services.batch_work import runs_with_batch_work, work_on_batches
from evaluations.runs.services.runs import pause_run, resume_run, stop_run
from gradeapp.accounts.models import User
from gradeapp.common.database_clock import database_now
from tests.conftest import logged_in
from tests.evaluations.run_world import planned
from tests.evaluations.runs.batch_world import Killed, batch_endpoint, by_api, done_once, look
from tests.scripted_server import ScriptedServer

pytestmark = pytest.mark.django_db
STEPS = ("upload", "list", "create", "look", "fetch")
WHEN = ("before", "after")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as one:
        yield one


@pytest.fixture
def endpoint(server: ScriptedServer) -> Endpoint:
    return batch_endpoint(server)


def test_a_batch_is_sent_looked_at_and_read(endpoint: Endpoint, server: ScriptedServer) -> None:
    server.batches.looks = 2
    run = by_api(endpoint)
    assert runs_with_batch_work(database_now()) == [run.pk]
    look(run)
    batch = Batch.objects.get()
    assert (batch.remote_id, batch.remote_state, batch.requests) == ("batch_0", "validating", 3)
    assert server.batches.batches[0]["metadata"] == {"gradeapp_batch": batch.public_id.hex}
    # Not due yet: nobody looks.
    assert runs_with_batch_work(database_now()) == []
    look(run)
    batch.refresh_from_db()
    assert (batch.remote_state, batch.holder) == ("in_progress", "")
    assert batch.next_at is not None
    assert batch.next_at > database_now() + timedelta(seconds=5)
    look(run)
    done_once(run, server, 3)
    batch.refresh_from_db()
    assert (batch.state, batch.answered, batch.unanswered) == (BatchState.READ, 3, 0)
    assert runs_with_batch_work(database_now()) == []
    paths = [f"{one.method} {one.path.partition('?')[0]}" for one in server.requests]
    assert paths == [
        *("POST /v1/files", "GET /v1/batches", "POST /v1/batches"),
        *("GET /v1/batches/batch_0", "GET /v1/batches/batch_0", "GET /v1/files/file-1/content"),
    ]


def test_the_page_and_the_api_start_and_show_it(
    admin: User, endpoint: Endpoint, server: ScriptedServer
) -> None:
    first = by_api(endpoint)
    client = logged_in(admin)
    given = {"endpoint": endpoint.name, "dataset": first.dataset.slug, "start_anyway": True}
    asked = {**given, "batch_api": True, "repeats": 2}
    made = client.post("/api/v1/runs/", asked, content_type="application/json").json()
    assert (made["by_batch"], made["batch_api"]) == (True, True)
    query = {"endpoint": endpoint.pk, "dataset": first.dataset.slug, "repeats": 1, "anyway": "on"}
    query |= {"images": "omit", "batches": "api", "key": "one", "setting": "zero-shot"}
    text = client.get(reverse("runs:new"), query).text
    assert "Through the batch API of the endpoint" in text
    run = look(Run.objects.get(pk=made["id"]))
    page = reverse("runs:run", args=[run.pk])
    text = client.get(page).text
    for words in ("At the endpoint: being checked", "next look", "Stop or pause the run to cancel"):
        assert words in text
    assert "No worker is running" in text
    look(run)
    (batch,) = client.get(f"/api/v1/runs/{run.pk}/batches/").json()["results"]
    assert (batch["state"], batch["remote_state"], batch["answered"]) == ("read", "completed", 6)
    # A run by files goes on through the API.
    files = planned(endpoint, 1, by_batch=True)
    client.post(reverse("runs:batches-make", args=[files.pk]), {"by_api": "yes"})
    look(files, 2)
    assert files.status == RunStatus.FINISHED


def test_a_second_step_follows_by_itself(endpoint: Endpoint, server: ScriptedServer) -> None:
    run = by_api(endpoint, 2, asking=Asking(setting=PromptSetting.ZERO_SHOT_COT))
    look(run, 4)
    assert [one["status"] for one in server.batches.batches] == ["completed", "completed"]
    assert (run.status, Response.objects.filter(run=run).count()) == (RunStatus.FINISHED, 2)


@pytest.mark.parametrize("step", [f"{when} {step}" for step in STEPS for when in WHEN])
def test_a_batch_is_created_once(
    endpoint: Endpoint, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A worker ends before or after each step at the endpoint: another one goes on."""
    run = by_api(endpoint)
    other = server.batches
    # Batches of others, so that ours is not on the first page when it is looked for.
    other.batches += [
        {"id": f"other_{n}", "status": "completed", "created_at": 2**40} for n in (1, 2, 3)
    ]
    steps: list[str] = []
    named = {
        "upload": "upload",
        "list": "find",
        "create": "create",
        "look": "state",
        "fetch": "fetch",
    }
    when, _space, name = step.partition(" ")
    real = getattr(batch_work.BatchAPI, named.get(name, name))

    def killed(api: Any, *args: Any) -> Any:
        if not steps:
            if when == "after":
                real(api, *args)
            steps.append(step)
            raise Killed
        return real(api, *args)

    monkeypatch.setattr(batch_work.BatchAPI, named.get(name, name), killed)
    with pytest.raises(Killed):
        look(run, 3)
    look(run, 3)
    done_once(run, server, 3)
    assert len(other.batches) == 4
    uploads = sum(one.method == "POST" and one.path == "/v1/files" for one in server.requests)
    assert uploads == (2 if step == "after upload" else 1)


def test_a_worker_that_ends_while_it_stores_stores_nothing_twice(
    endpoint: Endpoint, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = by_api(endpoint)
    look(run)
    real = batch_work.release_rest

    def killed(*args: Any) -> int:
        monkeypatch.setattr(batch_work, "release_rest", real)
        raise Killed

    monkeypatch.setattr(batch_work, "release_rest", killed)
    with pytest.raises(Killed):
        look(run)
    assert Response.objects.filter(run=run).count() == 3
    look(run)
    done_once(run, server, 3)


def test_a_batch_that_another_worker_holds_is_left_alone(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    run = by_api(endpoint)
    look(run)
    until = database_now() + timedelta(minutes=5)
    Batch.objects.update(holder="elsewhere", held_until=until, next_at=database_now())
    asked = len(server.requests)
    assert runs_with_batch_work(database_now()) == []
    work_on_batches(run.pk)
    assert len(server.requests) == asked
    # Its lease ends, or its process on this machine has ended.
    Batch.objects.update(held_until=database_now())
    look(run)
    done_once(run, server, 3)


def test_an_endpoint_that_says_nothing_holds_one_process(
    endpoint: Endpoint, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process of the worker waited for the batch of another run: nothing else went on."""
    first, second = by_api(endpoint, 2), by_api(endpoint, 2)
    real = (batch_work.open_chat, batch_work.BatchAPI.upload)
    limits: list[Limits] = []
    turned_away: list[bool] = []
    next_ones: list[int] = []

    def opened(endpoint: Endpoint, **given: Any) -> Any:
        limits.append(given["limits"])
        return real[0](endpoint, **given)

    def waits(api: Any, *args: Any) -> Any:
        if not turned_away:
            turned_away.append(not work_on_batches(second.pk))
        return real[1](api, *args)

    monkeypatch.setattr(batch_work, "open_chat", opened)
    monkeypatch.setattr(batch_work.BatchAPI, "upload", waits)
    monkeypatch.setattr(tasks, "send", lambda _task, _work, key: next_ones.append(key))
    tasks.work_on_batches(first.pk)
    assert (turned_away, next_ones) == ([True], [second.pk]), "its turn comes at once"
    look(second)
    assert {one.remote_id for one in Batch.objects.all()} == {"batch_0", "batch_1"}
    look(first, 2)
    assert Response.objects.count() == Job.objects.count()
    assert max(one.deadline for one in limits) < 61, "its files are small"
    monkeypatch.setattr(batch_api, "LISTED_IN", -1)
    look(by_api(endpoint))
    assert Batch.objects.latest("pk").error == "the list of batches takes too long"


def test_a_worker_that_slept_past_its_hold_takes_its_second_batch_back(
    endpoint: Endpoint, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = by_api(endpoint)
    real = batch_work.BatchAPI.create
    slept: list[int] = []

    def slow(api: Any, *args: Any) -> Any:
        """As a process that is stopped before the call, while another one takes over."""
        if not slept:
            slept.append(1)
            Batch.objects.update(held_until=database_now(), next_at=database_now())
            work_on_batches(run.pk)
        return real(api, *args)

    monkeypatch.setattr(batch_work.BatchAPI, "create", slow)
    look(run)
    assert [one["status"] for one in server.batches.batches] == ["validating", "cancelling"]
    assert Batch.objects.get().remote_id == "batch_0"
    look(run, 2)
    done_once(run, server, 3)


def test_a_defect_of_ours_is_no_broken_reply(
    endpoint: Endpoint, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told, and tried again later and later; a file was fetched every ten seconds."""
    run = by_api(endpoint)

    def defect(*batch: Any) -> Any:
        raise TypeError("ours")

    with monkeypatch.context() as broken:
        broken.setattr(batch_api, "_read", defect)
        waits = []
        for failures in (1, 2, 3):
            look(run)
            batch = Batch.objects.get()
            assert (batch.failures, batch.error, batch.holder) == (failures, STEP_FAILED, "")
            assert batch.next_at is not None
            waits.append((batch.next_at - database_now()).total_seconds())
    assert min(waits) > 50
    look(run, 3)
    done_once(run, server, 3)


@pytest.mark.parametrize("error", ["overloaded", ["overloaded"], 5, True])
def test_an_error_that_is_no_object_keeps_no_reply_back(
    error: object, endpoint: Endpoint, server: ScriptedServer
) -> None:
    """The worker died of it at each look, before it stored what else was in the file."""
    run = by_api(endpoint)

    def break_the_first(step: str) -> None:
        if step == "before fetch":
            key = server.batches.batches[0]["output_file_id"]
            first, *others = server.batches.files[key].splitlines()
            line = {"custom_id": json.loads(first)["custom_id"], "error": error}
            server.batches.files[key] = b"\n".join([json.dumps(line).encode(), *others])
            server.batches.meets = lambda step: None

    server.batches.meets = break_the_first
    look(run, 2)
    assert Response.objects.filter(run=run).count() == 2


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<!DOCTYPE html><h1>Log in</h1>", "it is a page of HTML"),
        (b"", "it is empty"),
        (b'{"object": "file"}', "it is not in its format"),
        (b"[]", "it is not in its format"),
        (b'{"id": {"a": 1}}', "it is not in its format"),
        (b"\xff", "it is not in its format"),
    ],
)
def test_what_is_no_batch_is_named(
    endpoint: Endpoint, server: ScriptedServer, body: bytes, words: str
) -> None:
    run = by_api(endpoint)
    server.batches.faults = [(200, body)]
    look(run)
    batch = Batch.objects.get()
    said = (batch.error, batch.error_status)
    assert said == (f"not the reply of a batch API: {words}", 200)


def test_odd_facts_of_a_batch_are_left_out(endpoint: Endpoint, server: ScriptedServer) -> None:
    run = by_api(endpoint)
    look(run)
    odd = {"id": "batch_0", "status": "in_progress", "created_at": 10**400, "metadata": "x"}
    odd |= {"request_counts": [3], "errors": {"data": ["a", {"code": 7}]}}
    server.batches.faults = [(200, odd)]
    look(run)
    batch = Batch.objects.get()
    assert (batch.remote_state, batch.remote_answered, batch.error) == ("in_progress", None, "")


def test_the_page_offers_what_can_be_done_and_follows_the_batches(
    admin: User, endpoint: Endpoint, server: ScriptedServer
) -> None:
    client = logged_in(admin)
    run = by_api(endpoint)
    page, progress = (reverse(f"runs:{one}", args=[run.pk]) for one in ("run", "progress"))
    assert "Make batch files" in client.get(page).text
    look(run)
    first = client.get(page)
    # All requests are on their way: nothing is due.
    assert "Make batch files" not in first.text
    query = {"state": run.status, "notice": first.context["notice_key"]}
    key = first.context["batches"].key
    assert f"batches={key}" in first.text
    assert "batch-rows" not in client.get(progress, {**query, "batches": key}).text
    server.batches.looks = 9
    look(run)
    text = client.get(progress, {**query, "batches": key}).text
    assert 'hx-swap-oob="innerHTML:#batch-rows"' in text
    assert "At the endpoint: in progress" in text
    server.batches.looks = 1
    look(run)
    text = client.get(page).text
    assert run.status == RunStatus.FINISHED
    for words in ("Make batch files", "Send through the batch API", "Read replies"):
        assert words not in text


@pytest.mark.parametrize("stop", [stop_run, pause_run])
def test_stop_and_pause_cancel_at_the_endpoint(
    endpoint: Endpoint, server: ScriptedServer, stop: Any
) -> None:
    server.batches.looks, server.batches.answers = 99, 1
    run = by_api(endpoint)
    look(run)
    stop(run, acting_user=None)
    look(run)
    assert server.batches.batches[0]["status"] == "cancelling"
    look(run)
    ended = RunStatus.STOPPED if stop is stop_run else RunStatus.PAUSED
    # What was answered by then is kept, the rest can be asked again and cost nothing.
    assert (run.status, Response.objects.filter(run=run).count()) == (ended, 1)
    assert money(run).exposed == money(run).spent
    assert Job.objects.filter(run=run, status=JobStatus.PENDING).count() == 2
    server.batches.looks, server.batches.answers = 1, 9
    resume_run(run, acting_user=None)
    look(run, 2)
    done_once(run, server, 3)


def test_a_run_that_is_stopped_before_it_was_sent_sends_nothing(
    endpoint: Endpoint, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = by_api(endpoint)
    make_batches(run, acting_user=None, by_api=True)
    stop_run(run, acting_user=None)
    look(run)
    assert (run.status, server.requests) == (RunStatus.STOPPED, [])
    assert Batch.objects.get().state == BatchState.DISCARDED


def test_failures_are_tried_again_later(endpoint: Endpoint, server: ScriptedServer) -> None:
    busy = (503, {"error": {"message": "busy \ud800\x00"}})
    broken = (200, b"<html>")
    run = by_api(endpoint)
    for fault in (busy, broken):
        server.batches.faults = [fault]
        look(run)
        batch = Batch.objects.get()
        assert (run.status, batch.state) == (RunStatus.RUNNING, BatchState.WAITING)
        assert batch.next_at is not None
        assert batch.next_at > database_now() + timedelta(seconds=5)
    assert batch.failures == 2
    look(run, 2)
    done_once(run, server, 3)
    batch.refresh_from_db()
    assert (batch.failures, batch.error) == (0, "")


def test_a_run_that_goes_on_before_its_batch_is_cancelled_waits_for_nobody(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    """A person paused it, and resumed it while the endpoint was cancelling."""
    run = by_api(endpoint)
    server.batches.looks, server.batches.answers = 9, 0
    look(run, 2)
    pause_run(run, acting_user=None)
    look(run)
    (remote,) = server.batches.batches
    assert remote["status"] == "cancelling"
    resume_run(run, acting_user=None)
    server.batches.looks, server.batches.answers = 0, 9
    server.batches.answered(remote, "cancelled", [], [])
    look(run, 3)
    done_once(run, server, 3)
    assert len(server.batches.batches) == 2


def test_who_goes_on_after_a_kill_gives_the_endpoint_time_to_list_the_batch(
    endpoint: Endpoint, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Created while the worker was killed, and not in the endpoint's list at once."""
    run = by_api(endpoint)
    real = batch_work.BatchAPI.create

    def killed(api: Any, *args: Any) -> Any:
        real(api, *args)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(batch_work.BatchAPI, "create", killed)
        with pytest.raises(Killed):
            look(run)
    now = database_now()
    assert runs_with_batch_work(now + timedelta(seconds=50)) == []
    assert runs_with_batch_work(now + timedelta(seconds=70)) == [run.pk]
    look(run, 2)
    done_once(run, server, 3)
    assert len(server.batches.batches) == 1


@pytest.mark.parametrize("change", ["model", "base_url"])
def test_a_batch_of_a_changed_endpoint_is_cancelled_or_says_why_not(
    endpoint: Endpoint, server: ScriptedServer, change: str
) -> None:
    run = by_api(endpoint)
    server.batches.looks = 9
    look(run, 2)
    before = getattr(endpoint, change)
    Endpoint.objects.update(**{change: f"{before}2"})
    look(run)
    assert (run.status, run.pause_reason) == (RunStatus.PAUSED, PauseReason.ENDPOINT_CHANGED)
    assert server.batches.batches[0]["status"] == "in_progress", "it is not cancelled by that"
    stop_run(run, acting_user=None)
    look(run, 2)
    batch = Batch.objects.get()
    if change == "model":
        assert server.batches.batches[0]["status"] == "cancelled"
        assert run.status == RunStatus.STOPPED
    else:
        assert (batch.state, run.status) == (BatchState.WAITING, RunStatus.STOPPING)
        assert batch.error == "The endpoint has changed. Set it back, or discard the batch."


@pytest.mark.parametrize("asked", ["1e300", "300000000000", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_an_endless_wait_is_a_week(endpoint: Endpoint, server: ScriptedServer, asked: str) -> None:
    """It raised an error in the worker, which uploaded the file again and again."""
    run = by_api(endpoint)
    server.batches.faults = [(503, {"error": {"message": "busy"}})]
    server.batches.headers = (("Retry-After", asked),)
    look(run)
    batch = Batch.objects.get()
    assert batch.next_at is not None
    days = (batch.next_at - database_now()) / timedelta(days=1)
    assert (batch.state, round(days, 2)) == (BatchState.WAITING, 7)


def test_a_created_batch_is_found_although_its_creation_was_not_confirmed(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    """The endpoint creates the batch and answers with an error."""
    run = by_api(endpoint)

    def fail_once(step: str) -> None:
        if step == "after create":
            server.batches.meets = lambda step: None
            raise ConnectionError

    server.batches.meets = fail_once
    look(run)
    batch = Batch.objects.get()
    assert (batch.remote_id, len(server.batches.batches)) == ("", 1)
    # Not at once: the endpoint may need a while until its list has it.
    assert batch.next_at is not None
    assert batch.next_at > database_now() + timedelta(seconds=50)
    look(run, 2)
    done_once(run, server, 3)
    assert len(server.batches.batches) == 1


def test_a_wrong_key_waits_for_a_person(
    endpoint: Endpoint, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONE_API_KEY", "sk-right")
    Endpoint.objects.update(key_variable="ONE_API_KEY")
    run = by_api(Endpoint.objects.get())
    server.batches.faults = [(401, {"error": {"message": "wrong key sk-right"}})]
    look(run)
    assert (run.status, run.pause_reason) == (RunStatus.PAUSED, PauseReason.AUTH)
    assert "sk-right" not in Batch.objects.get().error
    resume_run(run, acting_user=None)
    look(run, 2)
    done_once(run, server, 3)
    assert {one.headers.get("authorization") for one in server.requests} == {"Bearer sk-right"}


def test_the_budget_reserves_half_and_pauses(endpoint: Endpoint, server: ScriptedServer) -> None:
    other = by_api(endpoint, 1)
    look(other)
    most = other.jobs.get().attempts.get().reserved
    look(other)
    run = by_api(endpoint, 3, budget=most * 2)
    look(run, 1)
    assert run.jobs.filter(status=JobStatus.LEASED).count() == 2
    look(run, 3)
    # The real costs are lower, so a third one fits, or the run says why it waits.
    if run.status != RunStatus.FINISHED:
        assert run.pause_reason == PauseReason.BUDGET
    assert money(run).exposed <= most * 2
    poor = by_api(endpoint, 1, budget=most / 2)
    look(poor)
    assert (poor.status, poor.pause_reason) == (RunStatus.PAUSED, PauseReason.BUDGET)

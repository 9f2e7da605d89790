"""Batches through an endpoint's batch API: created once, whatever happens between two steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from evaluations.conditions import Asking, PromptSetting
from evaluations.llm import batch_api
from evaluations.llm.client import Limits
from evaluations.models import Attempt, Batch, Endpoint, Job, Response, Run
from evaluations.models.vocabulary import BatchState, JobStatus, PauseReason, RunStatus
from evaluations.runs import tasks
from evaluations.runs.selectors.runs import money
from evaluations.runs.services import batch_work, batches
from evaluations.runs.services.batch_making import make_batches
from evaluations.runs.services.batch_work import runs_with_batch_work, work_on_batches
from evaluations.runs.services.batches import give_up, read_replies
from evaluations.runs.services.runs import pause_run, resume_run, stop_run
from gradeapp.accounts.models import User
from gradeapp.common.database_clock import database_now
from gradeapp.common.refusals import Conflict
from tests.conftest import logged_in
from tests.evaluations.run_world import planned, scripted_endpoint
from tests.scripted_server import ScriptedServer

pytestmark = pytest.mark.django_db
STEPS = ("upload", "list", "create", "look", "fetch")
WHEN = ("before", "after")


class Killed(BaseException):
    """Stands for ``kill -9``: nothing below catches it. The real one is in ``tests/faults``."""


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as one:
        yield one


@pytest.fixture
def endpoint(server: ScriptedServer) -> Endpoint:
    prices = {"price_input": Decimal(1000), "price_output": Decimal(2000)}
    return scripted_endpoint(server, **prices)


def by_api(endpoint: Endpoint, items: int = 3, **options: Any) -> Run:
    return planned(endpoint, items, batch_api=True, **options)


def look(run: Run, times: int = 1) -> Run:
    """Work on the batches of *run* as the clock does, when they are due."""
    for _time in range(times):
        Batch.objects.filter(next_at__isnull=False).update(next_at=database_now())
        for key in runs_with_batch_work(database_now()):
            work_on_batches(key)
    run.refresh_from_db()
    return run


def done_once(run: Run, server: ScriptedServer, items: int) -> None:
    """Check that every request was answered, stored and billed once, at half the price."""
    assert (run.status, Response.objects.filter(run=run).count()) == (RunStatus.FINISHED, items)
    assert len(server.ledger.prompts) == len(set(server.ledger.prompts)) == items
    tokens = run.responses.values_list("attempt__prompt_tokens", "attempt__completion_tokens")
    cost = sum(Decimal(read) / 1000 + Decimal(written) / 500 for read, written in tokens)
    assert money(run).spent == cost / 2
    assert money(run).exposed == money(run).spent


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


@pytest.mark.parametrize(
    "step", [f"{when} {step}" for step in STEPS for when in ("before", "after")]
)
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
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was stored as what the endpoint had sent, so that nobody looked for it."""
    run = by_api(endpoint)

    def defect(batch: Any) -> Any:
        raise TypeError("ours")

    monkeypatch.setattr(batch_api, "_read", defect)
    with pytest.raises(TypeError, match="ours"):
        look(run)


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


def test_expired_requests_are_sent_again(endpoint: Endpoint, server: ScriptedServer) -> None:
    server.batches.ends_as, server.batches.answers = "expired", 2
    run = by_api(endpoint)
    look(run, 2)
    batch = Batch.objects.order_by("pk").first()
    assert batch is not None
    assert (batch.state, batch.remote_state, batch.answered) == (BatchState.READ, "expired", 2)
    assert run.status == RunStatus.RUNNING
    server.batches.ends_as, server.batches.answers = "completed", 9
    look(run, 2)
    done_once(run, server, 3)
    assert len(server.batches.batches) == 2


def test_replies_that_are_missing_may_have_been_billed(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    server.batches.answers = 2
    run = by_api(endpoint)
    look(run, 2)
    # It is sent again at once: what the first call may have cost stays reserved beside the second.
    lost, again = run.jobs.get(attempts__status="unknown").attempts.all()
    assert money(run).exposed == money(run).spent + lost.reserved + again.reserved
    assert Batch.objects.filter(unanswered=1, answered=2).count() == 1
    server.batches.answers = 9
    look(run, 2)
    assert (run.status, Response.objects.filter(run=run).count()) == (RunStatus.FINISHED, 3)


@pytest.mark.parametrize("state", ["cancelled", "expired"])
def test_answers_that_the_endpoint_counts_and_does_not_send_may_have_been_billed(
    endpoint: Endpoint, server: ScriptedServer, state: str
) -> None:
    run = by_api(endpoint)
    look(run)
    (remote,) = server.batches.batches
    lines = server.batches.requests_of(remote)
    server.batches.answered(remote, state, lines, lines)
    sent = server.batches.files[remote["output_file_id"]].splitlines(keepends=True)
    server.batches.files[remote["output_file_id"]] = sent[0]
    look(run, batch_work.MOST_MISSING)
    assert Batch.objects.get().state == BatchState.WAITING, "the file is fetched again"
    look(run)
    unknown = Attempt.objects.filter(job__run=run, status="unknown")
    assert unknown.count() == 2
    assert money(run).exposed >= money(run).spent + sum(one.reserved for one in unknown)


@pytest.mark.parametrize("ends_as", ["failed", "expired"])
def test_a_batch_without_an_answer_pauses_the_run(
    endpoint: Endpoint, server: ScriptedServer, ends_as: str
) -> None:
    server.batches.ends_as, server.batches.answers = ends_as, 0
    run = by_api(endpoint)
    look(run, 4)
    assert (run.status, run.pause_reason) == (RunStatus.PAUSED, PauseReason.BATCH_REJECTED)
    assert len(server.batches.batches) == 1
    assert Job.objects.filter(run=run, status=JobStatus.PENDING).count() == 3
    assert money(run).exposed == 0
    if ends_as == "failed":
        assert Batch.objects.get().error == "too many"
    server.batches.ends_as, server.batches.answers = "completed", 9
    resume_run(run, acting_user=None)
    look(run, 2)
    done_once(run, server, 3)


@pytest.mark.parametrize("without", ["upload", "list", "create"])
def test_an_endpoint_without_a_batch_api_costs_nothing(
    admin: User, endpoint: Endpoint, server: ScriptedServer, without: str
) -> None:
    server.batches.without = frozenset({without})
    run = by_api(endpoint)
    look(run, 2)
    text = logged_in(admin).get(reverse("runs:run", args=[run.pk])).text
    assert "answered 404 to its batch API: it may have none" in text
    assert "404: There is nothing here" in text
    assert "Make batch files" in text
    assert "Send through the batch API" not in text
    assert (run.status, run.pause_reason) == (RunStatus.PAUSED, PauseReason.BATCH_REJECTED)
    assert (Batch.objects.get().state, money(run).exposed) == (BatchState.FAILED, 0)
    assert (server.batches.batches, server.ledger.billed) == ([], 0)
    # Files are the way out, also without resuming the run, which would send it again.
    with pytest.raises(Conflict, match="Resume it first"):
        make_batches(run, acting_user=None, by_api=True)
    (batch,) = make_batches(run, acting_user=None)
    asked = len(server.requests)
    assert (look(run).status, batch.requests, run.batch_api) == (RunStatus.RUNNING, 3, False)
    assert len(server.requests) == asked


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


@pytest.mark.parametrize("step", ["look", "fetch"])
def test_an_odd_answer_gives_up_no_batch_that_was_created(
    endpoint: Endpoint, server: ScriptedServer, step: str
) -> None:
    """A gateway refuses once what the endpoint has; only what it refuses for long is given up."""
    run = by_api(endpoint)
    look(run)

    def odd(met: str) -> None:
        if met == f"before {step}":
            server.batches.faults = [(400, {"error": {"message": "no"}})]

    server.batches.meets = odd
    look(run)
    assert (run.status, Batch.objects.get().failures) == (RunStatus.RUNNING, 1)
    server.batches.meets = lambda met: None
    look(run, 2)
    done_once(run, server, 3)
    if step == "look":
        other = by_api(endpoint)
        server.batches.looks = 99
        look(other)
        server.batches.meets = odd
        look(other, batch_work.MOST_MISSING + 1)
        assert (other.status, other.pause_reason) == (RunStatus.PAUSED, PauseReason.BATCH_REJECTED)
        assert server.batches.batches[-1]["status"] == "cancelling"


def test_one_refusal_after_an_outage_gives_up_no_batch(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    """A gateway that comes up again may say 404 once."""
    run = by_api(endpoint)
    server.batches.looks = 1
    look(run)
    outage = [503] * batch_work.MOST_MISSING
    for status in (*outage, 404, *outage, 400, 409):
        server.batches.faults = [(status, {"error": {"message": "no"}})]
        look(run)
    batch = Batch.objects.get()
    assert (run.status, batch.failures, batch.refusals) == (RunStatus.RUNNING, 13, 2)
    look(run, 3)
    done_once(run, server, 3)


@pytest.mark.parametrize("body", [b"<!DOCTYPE html><h1>Bad gateway</h1>", b"", "half"])
def test_a_file_with_fewer_replies_than_are_counted_is_fetched_again(
    endpoint: Endpoint, server: ScriptedServer, body: bytes | str
) -> None:
    run = by_api(endpoint)
    look(run)
    (remote,) = server.batches.batches
    server.batches.end(remote, "completed")
    if isinstance(body, str):
        whole = server.batches.files[remote["output_file_id"]]
        body = whole[: len(whole) // 2]
    for _time in range(batch_work.MOST_MISSING):  # an outage before it does not count
        server.batches.faults = [(503, {"error": {"message": "busy"}})]
        look(run)
    server.batches.faults = [(200, remote), (200, body)]
    look(run)
    assert (run.status, Batch.objects.get().refusals) == (RunStatus.RUNNING, 1)
    look(run)
    done_once(run, server, 3)
    assert len(server.batches.batches) == 1
    assert Batch.objects.get().failures == 0


@pytest.mark.parametrize("why", ["unreadable", "stored"])
def test_an_answer_that_cannot_be_read_or_was_stored_before_is_not_missing(
    endpoint: Endpoint, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """A worker was killed after it stored the replies and before it counted them."""
    run = by_api(endpoint)
    look(run)
    (remote,) = server.batches.batches
    lines = server.batches.requests_of(remote)
    server.batches.answered(remote, "cancelled", lines[:2], lines[:2])
    output = remote["output_file_id"]
    if why == "unreadable":
        first, second = server.batches.files[output].splitlines(keepends=True)
        reply = json.loads(first)
        reply["response"]["body"]["choices"] = []
        server.batches.files[output] = json.dumps(reply).encode() + b"\n" + second
    else:
        killed = dict.fromkeys(["process"], _killed)
        with monkeypatch.context() as patched:
            for name, function in killed.items():
                patched.setattr(batches, name, function)
            with pytest.raises(Killed):
                look(run)
    look(run)
    batch = Batch.objects.get(pk=min(Batch.objects.values_list("pk", flat=True)))
    assert (batch.state, batch.failures) == (BatchState.READ, 0)
    assert run.status == RunStatus.RUNNING, "the third request goes out again, by itself"


def test_a_batch_whose_answers_cannot_be_read_is_not_paid_again_by_itself(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    run = by_api(endpoint)
    look(run)
    (remote,) = server.batches.batches
    lines = server.batches.requests_of(remote)
    server.batches.answered(remote, "completed", lines, lines)
    output = remote["output_file_id"]
    replies = [json.loads(line) for line in server.batches.files[output].splitlines()]
    for reply in replies:
        reply["response"]["body"]["choices"] = []
    file = b"".join(json.dumps(reply).encode() + b"\n" for reply in replies)
    server.batches.files[output] = file
    look(run, 2)
    assert (run.status, run.pause_reason) == (RunStatus.PAUSED, PauseReason.BATCH_REJECTED)
    assert len(server.batches.batches) == 1


def _killed(*_args: Any, **_options: Any) -> None:
    raise Killed


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


@pytest.mark.parametrize("how", ["discarded", "stopped", "no list"])
def test_what_was_perhaps_created_may_be_billed(
    endpoint: Endpoint, server: ScriptedServer, how: str
) -> None:
    """The endpoint creates the batch and answers with an error; its list is behind, or gone."""
    run = by_api(endpoint)
    hidden: list[dict[str, Any]] = []

    def fail_once(step: str) -> None:
        if step == "after create":
            server.batches.meets = lambda step: None
            hidden.append(server.batches.batches.pop())
            raise ConnectionError

    server.batches.meets = fail_once
    look(run)
    batch = Batch.objects.get()
    if how == "discarded":
        assert give_up(batch, "gone", BatchState.DISCARDED, acting_user=None) == 3
    elif how == "stopped":
        stop_run(run, acting_user=None)
        assert runs_with_batch_work(database_now()) == [], "not before the list can have it"
        look(run)
    else:
        server.batches.without = frozenset({"list"})
        look(run)
    batch.refresh_from_db()
    assert (len(hidden), batch.state == BatchState.WAITING, batch.unanswered) == (1, False, 3)
    reserved = sum(one.attempts.get().reserved for one in run.jobs.all())
    assert money(run).exposed == reserved > 0


def without_its_file(run: Run, server: ScriptedServer) -> dict[str, Any]:
    """Let a batch of *run* end without its file; the run is resumed."""
    look(run)
    (first,) = server.batches.batches
    first |= {"status": "completed", "output_file_id": None}
    look(run)
    resume_run(run, acting_user=None)
    return first


def read_late(run: Run, server: ScriptedServer, batch: dict[str, Any]) -> int:
    """Read the file of *batch* after all; return how many replies were stored."""
    server.batches.end(batch, "completed")
    lines = server.batches.files[batch["output_file_id"]].splitlines(keepends=True)
    return read_replies(run, lines, acting_user=None).answered


def test_late_replies_belong_to_no_later_batch_and_end_it(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    """The first batch ends without its file, and its requests are at the endpoint once more."""
    run = by_api(endpoint)
    first = without_its_file(run, server)
    server.batches.looks = 99
    look(run)
    assert read_late(run, server, first) == 3
    second = Batch.objects.order_by("pk")[1]
    assert (second.state, second.answered) == (BatchState.WAITING, 0)
    server.batches.answers = 0
    assert look(run).status == RunStatus.FINISHED
    assert server.batches.batches[1]["status"] == "cancelling", "nobody needs it"
    look(run)
    second.refresh_from_db()
    assert (second.state, second.answered) == (BatchState.READ, 0)
    assert set(run.jobs.values_list("lease_owner", flat=True)) == {""}


def test_what_late_replies_answered_is_not_sent_again(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    run = by_api(endpoint)
    first = without_its_file(run, server)
    make_batches(run, acting_user=None, by_api=True)
    server.batches.answers = 2
    assert read_late(run, server, first) == 2
    look(run)
    second = Batch.objects.order_by("pk")[1]
    assert (second.requests, second.unanswered) == (1, 2)
    assert len(server.batches.requests_of(server.batches.batches[1])) == 1
    look(run)
    assert (run.status, server.ledger.billed) == (RunStatus.FINISHED, 3)


def test_a_batch_that_is_discarded_while_it_is_created_is_cancelled(
    endpoint: Endpoint, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = by_api(endpoint)
    real = batch_work.BatchAPI.create

    def meanwhile(api: Any, *args: Any) -> Any:
        created = real(api, *args)
        give_up(Batch.objects.get(), "gone", BatchState.DISCARDED, acting_user=None)
        return created

    monkeypatch.setattr(batch_work.BatchAPI, "create", meanwhile)
    look(run)
    assert [one["status"] for one in server.batches.batches] == ["cancelling"]
    assert money(run).exposed == sum(one.attempts.get().reserved for one in run.jobs.all()) > 0


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


SPELLINGS = ("sk/right", "sk\\/right", "sk/\\u0072ight")


@pytest.mark.parametrize("spelled", SPELLINGS)
@pytest.mark.parametrize("place", ["errors", "status", "id"])
def test_a_key_in_the_facts_of_a_batch_is_not_kept(
    endpoint: Endpoint,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    admin: User,
    spelled: str,
    place: str,
) -> None:
    monkeypatch.setenv("ONE_API_KEY", "sk/right")
    Endpoint.objects.update(key_variable="ONE_API_KEY")
    run = by_api(Endpoint.objects.get())
    look(run)
    said = f"Incorrect API key provided: Bearer {spelled}"
    facts = {
        "errors": '"id": "batch_0", "status": "failed", '
        f'"errors": {{"data": [{{"message": "{said}"}}]}}',
        "status": f'"id": "batch_0", "status": "{spelled}"',
        "id": f'"id": "{spelled}", "status": "in_progress"',
    }
    server.batches.faults = [(200, f"{{{facts[place]}}}".encode())]
    look(run)
    batch = Batch.objects.get()
    kept = f"{batch.error} {batch.remote_state} {batch.remote_id}"
    assert "right" not in kept
    assert spelled not in kept
    client = logged_in(admin)
    for page in (reverse("runs:run", args=[run.pk]), f"/api/v1/runs/{run.pk}/batches/"):
        assert b"right" not in client.get(page).content.replace(b"Copyright", b"")


def test_a_key_in_a_file_of_replies_is_not_kept(
    endpoint: Endpoint, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONE_API_KEY", "sk/right")
    Endpoint.objects.update(key_variable="ONE_API_KEY")
    run = by_api(Endpoint.objects.get())
    look(run)
    server.batches.end(server.batches.batches[0], "completed")
    (name,) = {one for one in server.batches.files if one != "file-0"}
    replies = [json.loads(one) for one in server.batches.files[name].splitlines()]
    for reply, said in zip(replies, SPELLINGS, strict=True):
        reply["response"]["body"]["choices"][0]["message"]["content"] = f"so {said}"
    lines = [json.dumps(one).replace("\\\\", "\\") for one in replies]
    server.batches.files[name] = "\n".join(lines).encode()
    look(run)
    assert [one.text for one in Response.objects.filter(run=run)] == ["so ***"] * 3
    assert not Attempt.objects.filter(body__contains="right").exists()


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


def test_a_discarded_batch_at_the_endpoint_may_be_billed(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    server.batches.looks = 99
    run = by_api(endpoint)
    look(run)
    assert give_up(Batch.objects.get(), "gone", BatchState.DISCARDED, acting_user=None) == 3
    reserved = sum(one.attempts.get().reserved for one in run.jobs.all())
    assert money(run).exposed == reserved > 0

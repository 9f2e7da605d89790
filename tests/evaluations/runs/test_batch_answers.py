"""What comes back of a batch through a batch API: kept, paid once, or perhaps billed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse

from evaluations.models import Attempt, Batch, Endpoint, Job, Response, Run
from evaluations.models.vocabulary import BatchState, JobStatus, PauseReason, RunStatus
from evaluations.runs.selectors.run_words import NO_FILES_YET
from evaluations.runs.selectors.runs import money
from evaluations.runs.services import batch_work, batches
from evaluations.runs.services.batch_making import make_batches
from evaluations.runs.services.batch_work import runs_with_batch_work
from evaluations.runs.services.batches import give_up, read_replies
from evaluations.runs.services.runs import resume_run, stop_run
from gradeapp.accounts.models import User
from gradeapp.common.database_clock import database_now
from gradeapp.common.refusals import Conflict
from tests.conftest import logged_in
from tests.evaluations.runs.batch_world import Killed, batch_endpoint, by_api, done_once, look
from tests.scripted_server import ScriptedServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as one:
        yield one


@pytest.fixture
def endpoint(server: ScriptedServer) -> Endpoint:
    return batch_endpoint(server)


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


def test_a_batch_that_is_completed_before_its_files_exist_is_looked_at_again(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    run = by_api(endpoint)
    look(run)
    (remote,) = server.batches.batches
    counts = {"total": 3, "completed": 0, "failed": 0}
    early = dict(remote) | {"status": "completed", "request_counts": counts}
    uncounted = early | {"request_counts": None}
    server.batches.faults = [(200, early), (200, uncounted)] * 2
    look(run, 4)
    batch = Batch.objects.get()
    assert (batch.state, batch.error) == (BatchState.WAITING, NO_FILES_YET)
    assert run.status == RunStatus.RUNNING
    look(run)
    done_once(run, server, 3)


def test_files_of_a_completed_batch_that_never_come_are_lost_after_some_looks(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    server.batches.answers = 0
    run = by_api(endpoint)
    look(run, 1 + batch_work.MOST_MISSING)
    assert Batch.objects.get().state == BatchState.WAITING
    look(run)
    assert (run.status, run.pause_reason) == (RunStatus.PAUSED, PauseReason.BATCH_REJECTED)
    assert Attempt.objects.filter(job__run=run, status="unknown").count() == 3


@pytest.mark.parametrize("state", ["cancelled", "expired"])
def test_a_request_that_is_in_neither_file_may_have_been_billed(
    admin: User, endpoint: Endpoint, server: ScriptedServer, state: str
) -> None:
    """One is answered, one is lost and not counted, and two are named as not begun."""
    run = by_api(endpoint, 4)
    look(run)
    (remote,) = server.batches.batches
    lines = server.batches.requests_of(remote)
    server.batches.answered(remote, state, lines[:1], [lines[0], *lines[2:]])
    look(run)
    unknown = Attempt.objects.get(job__run=run, status="unknown")
    assert lines[1]["custom_id"].split("-")[1] == str(unknown.pk)
    assert Attempt.objects.filter(job__run=run, error="cancelled", cost=0).count() == 2
    assert (money(run).possibly_billed, Batch.objects.earliest("pk").unanswered) == (1, 1)
    page = logged_in(admin).get(reverse("runs:run", args=[run.pk])).text
    assert "possibly billed: 1, at most" in page


def test_a_batch_that_ends_before_it_is_begun_costs_nothing(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    run = by_api(endpoint)
    look(run)
    server.batches.batches[0] |= {"status": "cancelled"}
    look(run)
    assert (run.pause_reason, money(run).exposed) == (PauseReason.BATCH_REJECTED, 0)


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
    look(run, 1 + batch_work.MOST_MISSING)
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


def test_a_discarded_batch_at_the_endpoint_may_be_billed(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    server.batches.looks = 99
    run = by_api(endpoint)
    look(run)
    assert give_up(Batch.objects.get(), "gone", BatchState.DISCARDED, acting_user=None) == 3
    reserved = sum(one.attempts.get().reserved for one in run.jobs.all())
    assert money(run).exposed == reserved > 0

"""Outages of every kind: no job fails, few calls are made, and the run goes on by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from evaluations.models import Attempt, Endpoint, Job, Response, Run
from evaluations.runs.services.generation import look_for_work, work_on_run
from evaluations.runs.services.job_queue import MOST_ATTEMPTS
from evaluations.runs.services.runs import pause_run, resume_run, retry_failed, stop_run
from gradeapp.common.refusals import Conflict
from tests.evaluations.run_world import planned, scripted_endpoint, worked
from tests.scripted_server import Fault, ScriptedServer, named_fault

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries")]
IN_FLIGHT, ITEMS = 8, 40


@pytest.fixture
def endpoint(server: ScriptedServer, db: None) -> Endpoint:
    return scripted_endpoint(server, max_in_flight=IN_FLIGHT, timeout_seconds=1)


def jobs(run: Run) -> Counter[str]:
    return Counter(Job.objects.filter(run=run).values_list("status", flat=True))


def later(run: Run) -> Run:
    """Work on *run* when its wait is over."""
    at = run.resume_at + timedelta(seconds=1)
    assert look_for_work(lambda: at) == [run.pk]
    begun = timezone.now()
    work_on_run(run.pk, clock=lambda: at + (timezone.now() - begun))
    run.refresh_from_db()
    return run


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (named_fault("server_error", status=529), "endpoint_errors"),
        (named_fault("html"), "broken_replies"),
        (named_fault("malformed"), "broken_replies"),
        (named_fault("event_stream"), "broken_replies"),
        (named_fault("error_object"), "broken_replies"),
        (named_fault("hang_up"), "no_reply"),
        (named_fault("slow", seconds=1.5), "no_reply"),
        (named_fault("bad_request"), "rejected"),
    ],
    ids=["529", "html", "cut", "sse", "error", "reset", "slow", "400"],
)
def test_an_outage_fails_no_job_and_ends_by_itself(
    server: ScriptedServer, endpoint: Endpoint, fault: Fault, reason: str
) -> None:
    ten_answers = iter([None] * 10)
    server.endpoint.faults = lambda _prompt: next(ten_answers, fault)
    run = worked(planned(endpoint, ITEMS))
    assert (run.status, run.pause_reason) == ("paused", reason)
    assert jobs(run) == {"done": 10, "pending": ITEMS - 10}
    sent = len(server.requests)
    # Those in flight, some that followed before the breaker opened, and two probes.
    assert sent <= 10 + 2 * IN_FLIGHT + 2
    asked = Counter(request.body for request in server.requests)
    assert max(asked.values()) <= 3, "the probes are not those of one question"
    first = run.resume_at - timezone.now()
    assert timedelta(seconds=5) < first <= timedelta(seconds=10)
    assert (later(run).status, run.pause_reason) == ("paused", reason)
    assert len(server.requests) == sent + 1, "one probe"
    failed = Attempt.objects.filter(job__run=run).exclude(status="answered")
    assert set(failed.values_list("during_outage", flat=True)) == {True}
    server.endpoint.faults = None
    assert (later(run).status, run.pause_reason) == ("finished", "")
    assert jobs(run) == {"done": ITEMS}
    assert Response.objects.filter(run=run).count() == ITEMS
    unknown = failed.filter(status="unknown").count()
    assert ITEMS <= server.ledger.billed <= ITEMS + unknown


@pytest.mark.parametrize("halt", [pause_run, stop_run], ids=["pause", "stop"])
def test_who_resumes_a_run_in_an_outage_tries_one_call(
    server: ScriptedServer, endpoint: Endpoint, halt: Callable[..., Run]
) -> None:
    """Each resume sent as many calls as may be in flight, which may be billed."""
    ten_answers = iter([None] * 10)
    server.endpoint.faults = lambda _prompt: next(ten_answers, named_fault("html"))
    run = worked(planned(endpoint, ITEMS))
    for _time in range(3):
        sent = len(server.requests)
        run = resume_run(halt(run, acting_user=None), acting_user=None)
        assert run.pause_reason == "broken_replies"
        assert resume_run(run, acting_user=None) == run, "it goes on already"
        with pytest.raises(Conflict):  # a budget that would not count
            resume_run(run, acting_user=None, budget=Decimal(5))
        assert worked(run).status == "paused"
        assert len(server.requests) == sent + 1, "one probe"
    server.endpoint.faults = None
    run = worked(resume_run(halt(run, acting_user=None), acting_user=None))
    assert (run.status, run.pause_reason, jobs(run)) == ("finished", "", {"done": ITEMS})


def test_an_endpoint_that_fails_at_random_is_not_out(
    server: ScriptedServer, endpoint: Endpoint
) -> None:
    """R18: every third call fails; the run is not paused, and none fails for good.

    Which question the third call is for depends on the threads. One is refused three times at
    most, as it would rightly fail at the fourth.
    """
    kinds = ["server_error", "rate_limit"]
    calls: Iterator[int] = iter(range(10**6))
    refused: Counter[str] = Counter()

    def fault(prompt: str) -> Fault | None:
        n = next(calls)
        if n % 3 or refused[prompt] == MOST_ATTEMPTS - 1:
            return None
        refused[prompt] += 1
        return replace(named_fault(kinds[n // 3 % 2]), delay=0.01)

    server.endpoint.faults = fault
    server.endpoint.latency = 0.01
    run = worked(planned(endpoint, ITEMS))
    assert (run.status, jobs(run)) == ("finished", {"done": ITEMS})
    assert len(server.requests) <= 2 * ITEMS


def test_rejected_steps_are_asked_again_after_the_outage(
    server: ScriptedServer, endpoint: Endpoint
) -> None:
    """The first calls with 400 fail their jobs; they are undone when it proves an outage."""
    server.endpoint.faults = lambda _prompt: replace(named_fault("bad_request"), delay=0.0)
    endpoint.max_in_flight = 1
    endpoint.save()
    run = worked(planned(endpoint, 6))
    assert (run.status, run.pause_reason) == ("paused", "rejected")
    assert jobs(run) == {"pending": 6}
    assert set(Job.objects.values_list("attempts_made", flat=True)) == {0}


def test_prompts_that_alone_are_refused_hold_up_no_others(
    server: ScriptedServer, endpoint: Endpoint
) -> None:
    """Eight refused ones come first: they look like an outage until another one is answered."""
    refused: set[str] = set()

    def fault(prompt: str) -> Fault | None:
        if len(refused) < IN_FLIGHT:
            refused.add(prompt)
        return replace(named_fault("bad_request"), delay=0.0) if prompt in refused else None

    server.endpoint.faults = fault
    run = worked(planned(endpoint, ITEMS))
    assert (run.status, run.pause_reason) == ("finished", "")
    assert jobs(run) == {"done": ITEMS - IN_FLIGHT, "failed": IN_FLIGHT}
    asked = Counter(request.body for request in server.requests)
    assert max(asked.values()) <= 3
    sent = len(server.requests)
    assert retry_failed(run, acting_user=None) == IN_FLIGHT
    run = worked(run)
    assert (run.status, jobs(run)["failed"]) == ("finished", IN_FLIGHT), "no outage"
    assert len(server.requests) == sent + IN_FLIGHT, "each is asked once more"
    retry_failed(run, acting_user=None)
    server.endpoint.faults = None
    assert jobs(worked(run)) == {"done": ITEMS}

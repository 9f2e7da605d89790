"""An endpoint that turns every call away: the run waits, says until when, and goes on by itself."""

from __future__ import annotations

import socket
from datetime import timedelta

import pytest
from django.utils import timezone

from evaluations.llm.breaker import BreakerLimits
from evaluations.llm.retry import RetryPolicy
from evaluations.models import Attempt, Endpoint, Job, Run
from evaluations.runs.selectors.runs import waits_for_endpoint
from evaluations.runs.services import call_results, run_states, work_session
from evaluations.runs.services.generation import look_for_work
from evaluations.runs.services.runs import resume_run, stop_run
from tests.evaluations.run_world import planned, scripted_endpoint, worked
from tests.scripted_server import ScriptedServer, named_fault

pytestmark = pytest.mark.django_db
IN_FLIGHT = 4


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is turned away for half a second, and its calls wait as usual: up to a minute."""
    monkeypatch.setattr(run_states, "AT_LEAST", timedelta(seconds=0.5))
    monkeypatch.setattr(
        call_results,
        "UNLIMITED_RETRIES",
        RetryPolicy(attempts=10**6, rate_limit_attempts=10**6, first_wait=0.05),
    )
    monkeypatch.setattr(work_session, "BREAKER", BreakerLimits(first_wait=0.05))


@pytest.fixture
def endpoint(server: ScriptedServer, db: None) -> Endpoint:
    return scripted_endpoint(server, max_in_flight=IN_FLIGHT)


def state(run: Run) -> tuple[str, str]:
    return run.status, run.pause_reason


@pytest.mark.parametrize("items", [1, 20])
def test_429s_only_let_the_run_wait(server: ScriptedServer, endpoint: Endpoint, items: int) -> None:
    server.endpoint.faults = lambda _prompt: named_fault("rate_limit")
    run = planned(endpoint, items)
    before = timezone.now()
    worked(run)
    while state(run) != ("paused", "asked_to_wait"):
        assert timezone.now() - before < timedelta(seconds=20), state(run)
        worked(run)
    assert waits_for_endpoint(run)
    assert run.resume_at - timezone.now() > timedelta(seconds=8)
    assert not run.jobs.exclude(status="pending").exists(), "no call is lost"
    assert len(server.requests) <= 3 * IN_FLIGHT, "and no storm"


def test_after_the_wait_one_call_goes_ahead(server: ScriptedServer, endpoint: Endpoint) -> None:
    server.endpoint.faults = lambda _prompt: named_fault("rate_limit")
    run = worked(planned(endpoint, 12))
    first = run.resume_at
    sent = len(server.requests)
    later = first + timedelta(seconds=1)
    assert look_for_work(lambda: first - timedelta(seconds=1)) == []
    assert look_for_work(lambda: later) == [run.pk]
    run.refresh_from_db()
    assert (run.status, waits_for_endpoint(run)) == ("queued", True), "it still only waits"
    worked(run, later)
    assert state(run) == ("paused", "asked_to_wait")
    assert len(server.requests) == sent + 1
    assert run.resume_at - later > first - timezone.now(), "the longer it lasts the longer it waits"


def test_it_goes_on_by_itself_and_forgets(server: ScriptedServer, endpoint: Endpoint) -> None:
    server.endpoint.faults = lambda _prompt: named_fault("rate_limit")
    run = worked(planned(endpoint, 12))
    server.endpoint.faults = None
    later = run.resume_at + timedelta(seconds=1)
    assert look_for_work(lambda: later) == [run.pk]
    worked(run, later)
    assert state(run) == ("finished", "")
    assert set(Job.objects.filter(run=run).values_list("status", flat=True)) == {"done"}


def test_the_endpoints_own_wait_is_kept(server: ScriptedServer, endpoint: Endpoint) -> None:
    server.endpoint.faults = lambda _prompt: named_fault("rate_limit", retry_after="0.4")
    run = planned(endpoint, 2)
    worked(run)
    server.endpoint.faults = lambda _prompt: named_fault("rate_limit", retry_after="90")
    later = run.resume_at + timedelta(seconds=1)
    look_for_work(lambda: later)
    worked(run, later)
    assert run.resume_at == later + timedelta(seconds=90)


def test_a_few_429s_are_no_reason_to_wait(server: ScriptedServer, endpoint: Endpoint) -> None:
    answers = iter([named_fault("rate_limit")] * 4)
    server.endpoint.faults = lambda _prompt: next(answers, None)
    run = worked(planned(endpoint, 12))
    assert state(run) == ("finished", "")


def test_another_error_ends_the_wait(server: ScriptedServer, endpoint: Endpoint) -> None:
    server.endpoint.faults = lambda _prompt: named_fault("rate_limit")
    run = worked(planned(endpoint, 2))
    server.endpoint.faults = lambda _prompt: named_fault("bad_request")
    later = run.resume_at + timedelta(seconds=1)
    look_for_work(lambda: later)
    worked(run, later)
    assert state(run) == ("finished", ""), "it takes calls, and refuses these"


def test_a_person_may_try_at_once_or_stop(server: ScriptedServer, endpoint: Endpoint) -> None:
    server.endpoint.faults = lambda _prompt: named_fault("rate_limit")
    run = worked(planned(endpoint, 8))
    sent = len(server.requests)
    resume_run(run, acting_user=None)
    assert resume_run(run, acting_user=None).status == "queued", "a second click is no conflict"
    worked(run)
    assert state(run) == ("paused", "asked_to_wait")
    assert len(server.requests) == sent + 1
    assert stop_run(run, acting_user=None).status == "stopped"
    assert look_for_work(lambda: timezone.now() + timedelta(hours=1)) == []


def test_a_small_run_notices_a_dead_endpoint(endpoint: Endpoint) -> None:
    run = planned(endpoint, 1)
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        Endpoint.objects.update(base_url=address)
        Run.objects.update(run_settings={**run.run_settings, "base_url": address})
        run.refresh_from_db()
        worked(run)
        assert state(run) == ("paused", "endpoint_down")
        assert Attempt.objects.filter(job__run=run).count() == 5 + run_states.FAILED_PROBES
        later = timezone.now() + timedelta(seconds=61)
        look_for_work(lambda: later)
        run.refresh_from_db()
        assert waits_for_endpoint(run)
        worked(run, later)
        assert state(run) == ("paused", "endpoint_down")

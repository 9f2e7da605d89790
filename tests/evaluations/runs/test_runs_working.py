"""A run against a real HTTP server: everything is asked once, and every fault has its answer."""

from __future__ import annotations

import json
import socket
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone
from kombu.exceptions import OperationalError

from evaluations.models import Attempt, Endpoint, Job, ObjectiveScore, Response, Run
from evaluations.runs import tasks
from evaluations.runs.selectors.runs import money
from evaluations.runs.services import call_results, work_session
from evaluations.runs.services.generation import look_for_work, work_on_run
from evaluations.runs.services.runs import resume_run, retry_failed, stop_run
from gradeapp.common.refusals import BadInput
from tests.evaluations.run_world import planned, scripted_endpoint, worked
from tests.scripted_server import Fault, ScriptedServer, named_fault, script_from

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries")]


@pytest.fixture
def endpoint(server: ScriptedServer, db: None) -> Endpoint:
    return scripted_endpoint(
        server, max_in_flight=4, timeout_seconds=1, price_input=Decimal(1), price_output=Decimal(2)
    )


def jobs(run: Run) -> Counter[str]:
    return Counter(Job.objects.filter(run=run).values_list("status", flat=True))


def attempts(run: Run) -> Counter[tuple[str, str]]:
    found = Attempt.objects.filter(job__run=run)
    return Counter(found.values_list("status", "error"))


def test_every_item_is_asked_once_and_scored(server: ScriptedServer, endpoint: Endpoint) -> None:
    run = worked(planned(endpoint, 5, repeats=2))
    assert run.status == "finished"
    assert Response.objects.filter(run=run).count() == 10
    assert server.ledger.billed == 10
    scores = ObjectiveScore.objects.filter(response__run=run)
    assert list(scores.values_list("policy", flat=True)) == ["strict"] * 10, "our own prompts"
    assert work_on_run(run.pk) == [], "a message that comes again finds nothing"
    assert server.ledger.billed == 10


def test_an_attempt_keeps_what_came_back(server: ScriptedServer, endpoint: Endpoint) -> None:
    run = worked(planned(endpoint, 1))
    attempt = Attempt.objects.get(job__run=run)
    said = json.loads(attempt.body)["choices"][0]["message"]["content"]
    assert attempt.answer.text == said
    assert attempt.response_model == "scripted-demo"
    tokens = (attempt.prompt_tokens, attempt.completion_tokens)
    assert None not in tokens
    # 1 per million read, 2 per million written
    assert attempt.cost == Decimal(tokens[0] + 2 * tokens[1]) / 1_000_000
    assert money(run).spent == attempt.cost
    assert attempt.cost < attempt.reserved


CASES = [
    ("429s", [{"fault": "rate_limit", "times": 3, "retry_after": "0"}], "rate_limit", 3),
    ("500 for nearly all", [{"fault": "server_error", "times": 4}], "server_error", 4),
    ("503", [{"fault": "server_error", "status": 503, "times": 2}], "server_error", 2),
    ("hang up", [{"fault": "hang_up", "times": 2}], "interrupted", 2),
    ("reset", [{"fault": "reset", "times": 2}], "interrupted", 2),
    ("half a body", [{"fault": "short_body", "times": 1}], "interrupted", 1),
    ("half JSON", [{"fault": "malformed", "times": 2}], "malformed", 2),
]
KINDS = {"server_error": "server"}


@pytest.mark.parametrize(("name", "script", "kind", "failures"), CASES, ids=[c[0] for c in CASES])
def test_what_passes_is_tried_again(
    server: ScriptedServer,
    endpoint: Endpoint,
    name: str,
    script: list[dict[str, Any]],
    kind: str,
    failures: int,
) -> None:
    server.endpoint.faults = script_from(script)
    run = worked(planned(endpoint, 5))
    assert run.status == "finished"
    assert jobs(run) == {"done": 5}
    counted = attempts(run)
    assert counted["answered", ""] == 5
    wanted = KINDS.get(kind, kind)
    assert sum(n for (_status, error), n in counted.items() if error == wanted) == failures
    assert Response.objects.filter(run=run).count() == 5


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("auth", "auth"),
        ("quota", "quota"),
        ("payment", "quota"),
        ("not_found", "not_found"),
        ("redirect", "redirect"),
    ],
)
def test_a_wall_pauses_the_run_and_fails_nothing(
    server: ScriptedServer, endpoint: Endpoint, fault: str, reason: str
) -> None:
    server.endpoint.faults = script_from(
        [{"fault": "ok", "times": 2}, {"fault": fault, "times": 99}]
    )
    run = worked(planned(endpoint, 20))
    assert (run.status, run.pause_reason) == ("paused", reason)
    assert jobs(run) == {"done": 2, "pending": 18}
    assert len(server.requests) <= 2 + endpoint.max_in_flight + 1, "no storm against a wall"
    server.endpoint.faults = None
    resume_run(run, acting_user=None)
    assert worked(run).status == "finished"
    assert jobs(run) == {"done": 20}


@pytest.mark.parametrize("fault", ["bad_request", "context_length", "huge"])
def test_a_hopeless_call_fails_alone(
    server: ScriptedServer, endpoint: Endpoint, fault: str
) -> None:
    server.endpoint.faults = script_from([{"fault": fault}])
    run = worked(planned(endpoint, 4))
    assert run.status == "finished"
    assert jobs(run) == {"done": 3, "failed": 1}
    assert Attempt.objects.filter(job__run=run).count() == 4, "it is not sent a second time"
    server.endpoint.faults = None
    assert retry_failed(run, acting_user=None) == 1
    assert worked(run).status == "finished"
    assert jobs(run) == {"done": 4}


def test_a_job_fails_after_four_attempts(server: ScriptedServer, endpoint: Endpoint) -> None:
    """R04, R51: its own failure, because the endpoint answers others in between."""
    run = planned(endpoint, 30)
    broken = named_fault("server_error")
    server.endpoint.latency = 0.05
    server.endpoint.faults = lambda prompt: broken if "item 1?" in prompt else None
    worked(run)
    assert (run.status, jobs(run)) == ("finished", {"done": 29, "failed": 1})
    assert attempts(run) == {("error", "server"): 4, ("answered", ""): 29}


def test_an_answer_that_never_comes_is_asked_for_once_more(
    server: ScriptedServer, endpoint: Endpoint
) -> None:
    """R19: the calls of one job may be billed twice, and not more often."""
    run = planned(endpoint, 6)
    slow = named_fault("slow", seconds=3.0)
    server.endpoint.latency = 0.5
    server.endpoint.faults = lambda prompt: slow if "item 1?" in prompt else None
    worked(run)
    assert jobs(run) == {"failed": 1, "done": 5}
    assert attempts(run) == {("unknown", "timeout"): 2, ("answered", ""): 5}
    assert server.ledger.billed == 7, "every one of them may have been billed, and is counted"
    cost = money(run)
    assert (cost.spent > 0, cost.possibly_billed) == (True, 2)
    assert cost.possible > 0


def test_an_endpoint_that_is_down_is_waited_for(server: ScriptedServer, endpoint: Endpoint) -> None:
    run = planned(endpoint, 6)
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        move(run, f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        worked(run)
        check_down_and_probe(run)
    move(run, server.base_url)
    later = timezone.now() + timedelta(minutes=5)
    assert look_for_work(lambda: later) == [run.pk]
    work_on_run(run.pk, clock=lambda: later)
    run.refresh_from_db()
    assert (run.status, run.pause_reason) == ("finished", "")
    assert jobs(run) == {"done": 6}


def move(run: Run, base_url: str) -> None:
    Endpoint.objects.update(base_url=base_url)
    run.refresh_from_db()
    run.run_settings["base_url"] = base_url
    run.save()


def check_down_and_probe(run: Run) -> None:
    assert (run.status, run.pause_reason) == ("paused", "endpoint_down")
    assert run.resume_at > timezone.now()
    assert jobs(run) == {"pending": 6}
    before = Attempt.objects.filter(job__run=run).count()
    later = timezone.now() + timedelta(seconds=61)
    assert look_for_work(lambda: later) == [run.pk]
    worked(run)
    assert (run.status, run.pause_reason) == ("paused", "endpoint_down")
    assert Attempt.objects.filter(job__run=run).count() == before + 1, "one probe, and back"


def test_the_budget_is_a_hard_stop(server: ScriptedServer, endpoint: Endpoint) -> None:
    run = planned(endpoint, 12)
    one = work_session.call_for(run, Job.objects.filter(run=run).first()).most
    run.budget = one * Decimal("1.05")
    run.save()
    worked(run)
    assert (run.status, run.pause_reason) == ("paused", "budget")
    done = jobs(run)["done"]
    assert 1 <= done < 12
    assert money(run).exposed <= run.budget
    resume_run(run, acting_user=None, budget=one * 50)
    assert worked(run).status == "finished"
    assert server.ledger.billed == 12


def test_a_stop_lets_in_what_is_in_flight(server: ScriptedServer, endpoint: Endpoint) -> None:
    server.endpoint.latency = 0.2
    run = planned(endpoint, 40)
    work_on_run(run.pk, on_progress=lambda: stop_run(run, acting_user=None))
    run.refresh_from_db()
    assert run.status == "stopped"
    done = jobs(run)["done"]
    assert done == server.ledger.billed
    assert jobs(run) == {"done": done, "pending": 40 - done}
    resume_run(run, acting_user=None)
    assert worked(run).status == "finished"
    assert server.ledger.billed == 40


def test_a_shift_hands_over(server: ScriptedServer, endpoint: Endpoint) -> None:
    server.endpoint.latency = 0.05
    run = planned(endpoint, 30)
    assert work_on_run(run.pk, seconds=0.1) == [run.pk]
    assert jobs(run)["leased"] == 0
    worked(run)
    assert server.ledger.billed == 30


def test_a_changed_endpoint_pauses_the_run(server: ScriptedServer, endpoint: Endpoint) -> None:
    run = planned(endpoint, 2)
    Endpoint.objects.update(model="another")
    worked(run)
    assert (run.status, run.pause_reason) == ("paused", "endpoint_changed")
    assert server.requests == []


def test_a_missing_key_pauses_the_run(
    server: ScriptedServer, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = planned(endpoint, 2)
    Endpoint.objects.update(key_variable="GRADEAPP_TEST_KEY")
    worked(run)
    assert (run.status, run.pause_reason) == ("paused", "no_key")
    monkeypatch.setenv("GRADEAPP_TEST_KEY", "sk-sentinel")
    resume_run(run, acting_user=None)
    assert worked(run).status == "finished"
    assert server.requests[-1].headers["authorization"] == "Bearer sk-sentinel"


def test_a_broker_that_is_down_stops_nothing(
    server: ScriptedServer, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_args: object, **_kwargs: object) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr(tasks.work_on_run, "apply_async", down)
    run = planned(endpoint, 1)
    tasks.ask_for_work(run.pk)
    tasks.look_for_work()
    assert look_for_work() == [run.pk], "the clock finds it once the broker is back"


def test_tasks_pass_work_on(
    server: ScriptedServer, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = planned(endpoint, 3)
    asked: list[int] = []
    monkeypatch.setattr(tasks, "ask_for_work", asked.append)
    tasks.look_for_work()
    assert asked == [run.pk]
    tasks.work_on_run(run.pk)
    run.refresh_from_db()
    assert run.status == "finished"


@pytest.mark.parametrize(("tokens", "most"), [(10**12, 0), (2**31 - 1, 0), (2**31 - 1, 1000)])
def test_an_absurd_count_of_tokens_blocks_nothing(
    server: ScriptedServer,
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    tokens: int,
    most: int,
) -> None:
    """One reply in the batch has a number that no column holds, as a count or as its cost."""
    if most:  # the most that the column holds, so that what is believed is too much for it
        monkeypatch.setattr(call_results, "MOST_COST", Decimal(most))
    endpoint.price_input = Decimal(900_000)
    endpoint.save()
    run = planned(endpoint, 6)
    usage = {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1}
    absurd = Fault(change=lambda completion: {**completion, "usage": usage})
    server.endpoint.latency = 0.1
    server.endpoint.faults = lambda prompt: absurd if "item 1?" in prompt else None
    worked(run)
    assert run.status == "finished"
    assert jobs(run) == {"done": 6}
    assert attempts(run) == {("answered", ""): 6}, "its answer was paid"
    assert 0 < Attempt.objects.get(job__run=run, usage="odd").cost < 10**6


def test_a_reply_far_beyond_its_tokens_is_too_large(
    server: ScriptedServer, endpoint: Endpoint
) -> None:
    """Pages and sheets read its text again and again: 40 of 19 MB took gigabytes."""
    run, huge = planned(endpoint, 3), named_fault("huge", size=1_500_000)
    server.endpoint.faults = lambda prompt: huge if "item 1?" in prompt else None
    worked(run)
    assert jobs(run) == {"done": 2, "failed": 1}
    assert attempts(run) == {("answered", ""): 2, ("unknown", "oversize"): 1}, "asked once"


@pytest.mark.parametrize("budget", ["1e30", "100000000", "NaN", "0"])
def test_a_budget_that_no_column_holds_is_refused(endpoint: Endpoint, budget: str) -> None:
    with pytest.raises(BadInput, match="budget"):
        planned(endpoint, 1, budget=Decimal(budget))
    assert not Run.objects.exists()

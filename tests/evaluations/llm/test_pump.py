"""The pump against a real endpoint: nothing lost, nothing sent twice, never too many at once."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from evaluations.llm import spool
from evaluations.llm.callbacks import Callbacks
from evaluations.llm.client import CallResult, ChatReply, ChatRequest, FailureKind, Limits
from evaluations.llm.openai_client import OpenAIChat
from evaluations.llm.pump import Pace, PumpError, PumpResult, StopReason, pump
from evaluations.llm.rate_limit import SharedSlowdown
from evaluations.llm.retry import RetryPolicy
from tests.evaluations.llm.conftest import KEY, QueueOfRecord
from tests.scripted_server import LOOPBACK, Fault, ScriptedServer, named_fault

QUICK = Pace(tick=0.02, grace=5.0)


def run(
    server: ScriptedServer,
    callbacks: Callbacks,
    spool_path: Path,
    *,
    in_flight: int = 8,
    pace: Pace = QUICK,
    **options: Any,
) -> PumpResult:
    async def pumping() -> PumpResult:
        limits = Limits(connect=5.0, read=10.0, deadline=20.0)
        async with OpenAIChat(
            server.base_url,
            "scripted-demo",
            KEY,
            max_in_flight=in_flight,
            limits=limits,
            networks=LOOPBACK,
        ) as chat:
            return await pump(
                callbacks,
                chat,
                in_flight=in_flight,
                spool_path=spool_path,
                random=Random(0),
                pace=pace,
                **options,
            )

    return asyncio.run(pumping())


@pytest.fixture
def spool_path(tmp_path: Path) -> Path:
    return tmp_path / "spool.jsonl"


def billed(server: ScriptedServer) -> Counter[str]:
    return Counter(server.ledger.prompts)


def test_every_job_is_answered_once(server: ScriptedServer, spool_path: Path) -> None:
    queue = QueueOfRecord(100)
    result = run(server, queue.callbacks, spool_path)
    assert result == PumpResult(100, 100, 0, 0, StopReason.DRAINED)
    assert queue.answered == list(range(100))
    assert set(billed(server).values()) == {1}
    assert len(server.requests) == 100
    assert not spool_path.exists()


def test_nothing_to_do(server: ScriptedServer, spool_path: Path) -> None:
    result = run(server, QueueOfRecord(0).callbacks, spool_path)
    assert result == PumpResult(0, 0, 0, 0, StopReason.DRAINED)


@pytest.mark.parametrize("in_flight", [1, 3, 16])
def test_never_more_in_flight_than_allowed(
    server: ScriptedServer, spool_path: Path, in_flight: int
) -> None:
    server.endpoint.latency = 0.01
    run(server, QueueOfRecord(60).callbacks, spool_path, in_flight=in_flight)
    assert server.endpoint.most_in_flight == in_flight


def test_the_places_are_kept_filled(server: ScriptedServer, spool_path: Path) -> None:
    """One call that never ends holds one place, not the others."""
    server.endpoint.faults = lambda prompt: (
        named_fault("slow", seconds=60) if "第0题" in prompt else None
    )
    queue = QueueOfRecord(50, RetryPolicy(after_possible_billing=0))
    queue.stop_after = 49
    run(server, queue.callbacks, spool_path, in_flight=2, pace=Pace(tick=0.02, grace=0.05))
    assert queue.answered == list(range(1, 50))


def test_the_desk_is_visited_in_one_thread_that_is_not_the_loops(
    server: ScriptedServer, spool_path: Path
) -> None:
    queue, threads = QueueOfRecord(30), set[str]()

    def seen(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            threads.add(threading.current_thread().name)
            return function(*arguments)

        return call

    callbacks = Callbacks(seen(queue.claim), seen(queue.deliver), seen(queue.should_stop))
    run(server, callbacks, spool_path)
    assert len(threads) == 1
    assert threading.current_thread().name not in threads


def test_the_next_calls_are_prepared_while_those_in_flight_are_answered(
    server: ScriptedServer, spool_path: Path
) -> None:
    queue, prepared = QueueOfRecord(20), list[tuple[int, int]]()

    def prepare() -> None:
        prepared.append((len(queue.attempts), len(queue.results)))

    callbacks = Callbacks(queue.claim, queue.deliver, queue.should_stop, prepare=prepare)
    run(server, callbacks, spool_path, in_flight=4)
    assert prepared
    assert all(claimed > delivered for claimed, delivered in prepared), "something is in flight"


def test_what_cannot_be_prepared_ends_the_pump_and_loses_nothing(
    server: ScriptedServer, spool_path: Path
) -> None:
    queue = QueueOfRecord(20)

    def prepare() -> None:
        raise OSError("the database is down")

    callbacks = Callbacks(queue.claim, queue.deliver, queue.should_stop, prepare=prepare)
    with pytest.raises(PumpError) as raised:
        run(server, callbacks, spool_path, in_flight=4)
    assert isinstance(raised.value.__cause__, OSError)
    assert raised.value.result.spooled == 0
    assert queue.answered == sorted(queue.attempts)


def test_outcomes_that_arrive_during_a_visit_are_delivered_together(
    server: ScriptedServer, spool_path: Path
) -> None:
    queue = QueueOfRecord(64)

    def deliver(batch: Sequence[CallResult]) -> None:
        if not queue.batches:  # the first visit lasts until the endpoint has answered the rest
            while server.ledger.billed < 32 or server.endpoint.in_flight:
                time.sleep(0.01)
            time.sleep(0.2)
        queue.deliver(batch)

    run(server, Callbacks(queue.claim, deliver, queue.should_stop), spool_path, in_flight=32)
    assert queue.answered == list(range(64))
    assert max(queue.batches) > 1


def test_under_random_faults_no_outcome_is_lost(server: ScriptedServer, spool_path: Path) -> None:
    random = Random(11)
    names = ["server_error", "reset", "hang_up", "malformed", "short_body", "rate_limit"]

    def faults(prompt: str) -> Fault | None:
        return named_fault(random.choice(names)) if random.random() < 0.3 else None

    server.endpoint.faults = faults
    queue = QueueOfRecord(150)
    gate = SharedSlowdown(16, random=Random(0), first_wait=0.01, longest_wait=0.05)
    result = run(server, queue.callbacks, spool_path, in_flight=16, gate=gate)

    assert queue.answered == list(range(150))
    attempts = sum(queue.attempts.values())
    assert len(queue.results) == attempts == result.sent == len(server.requests)
    assert result.answered == 150
    # what the provider billed is what we have answers for, or know to be possibly billed
    possibly = [o for o in queue.results if o.failure and o.failure.may_have_been_billed]
    assert server.ledger.billed == 150 + len(possibly)
    assert server.endpoint.most_in_flight <= 16


def test_a_storm_of_429_slows_all_requests_down(server: ScriptedServer, spool_path: Path) -> None:
    storm, concurrent = 20, list[int]()

    def faults(prompt: str) -> Fault | None:
        if len(concurrent) >= storm:
            return None
        concurrent.append(server.endpoint.in_flight)
        return replace(named_fault("rate_limit"), delay=0.03)

    server.endpoint.faults = faults
    queue = QueueOfRecord(60)
    gate = SharedSlowdown(8, random=Random(0), first_wait=0.01, longest_wait=0.05)
    result = run(server, queue.callbacks, spool_path, gate=gate)
    assert queue.answered == list(range(60))
    assert result.sent == len(server.requests) == 60 + storm
    # The first volley of 8, perhaps half as many more; then one at a time, although 8 are allowed.
    assert max(concurrent[:8]) > 1
    assert set(concurrent[12:]) == {1}


def test_a_wait_beyond_two_minutes_ends_the_pump(server: ScriptedServer, spool_path: Path) -> None:
    server.endpoint.faults = lambda prompt: named_fault("rate_limit", retry_after="86400")
    queue = QueueOfRecord(50)
    result = run(server, queue.callbacks, spool_path)
    assert result.stopped_because is StopReason.ASKED_TO_WAIT
    assert result.failure is not None
    assert result.failure.retry_after == 86400
    assert len(server.requests) <= 16
    assert sorted(queue.due) == list(range(50)), "every job is due again when the run resumes"


@pytest.mark.parametrize(
    ("fault", "reason"), [("auth", StopReason.AUTH), ("payment", StopReason.QUOTA)]
)
def test_a_wrong_key_or_an_empty_account_stops_at_once(
    server: ScriptedServer, spool_path: Path, fault: str, reason: StopReason
) -> None:
    server.endpoint.faults = lambda prompt: (
        None if len(server.requests) <= 20 else named_fault(fault)
    )
    queue = QueueOfRecord(400)
    result = run(server, queue.callbacks, spool_path)
    assert result.stopped_because is reason
    assert len(server.requests) <= 20 + 8 + 1
    assert sorted(queue.due + queue.answered) == list(range(400))


def test_a_stop_waits_for_what_is_in_flight(server: ScriptedServer, spool_path: Path) -> None:
    server.endpoint.latency = 0.1
    queue = QueueOfRecord(100)
    queue.stop_after = 1
    result = run(server, queue.callbacks, spool_path)
    assert result.stopped_because is StopReason.ASKED
    assert result.failed == 0
    assert len(queue.answered) == result.sent == server.ledger.billed
    assert len(queue.answered) < 100


def test_after_the_grace_time_what_is_in_flight_is_given_up(
    server: ScriptedServer, spool_path: Path
) -> None:
    server.endpoint.faults = lambda prompt: (
        None if "第0题" in prompt else named_fault("slow", seconds=9.0)
    )
    queue = QueueOfRecord(4, RetryPolicy(after_possible_billing=0))
    queue.stop_after = 1
    result = run(server, queue.callbacks, spool_path, in_flight=4, pace=Pace(tick=0.02, grace=0.05))
    given_up = [o.failure for o in queue.results if o.failure]
    assert {failure.kind for failure in given_up} == {FailureKind.CANCELLED}
    assert all(failure.may_have_been_billed for failure in given_up)
    assert (result.sent, result.answered, result.failed) == (4, 1, 3)
    assert server.ledger.billed == 4


def test_the_pump_can_be_cancelled_and_loses_nothing(
    server: ScriptedServer, spool_path: Path
) -> None:
    server.endpoint.latency = 0.2
    queue = QueueOfRecord(50, RetryPolicy(after_possible_billing=0))

    async def cancelled() -> None:
        async with OpenAIChat(
            server.base_url, "m", KEY, max_in_flight=5, networks=LOOPBACK
        ) as chat:
            task = asyncio.create_task(
                pump(queue.callbacks, chat, in_flight=5, spool_path=spool_path, random=Random(0))
            )
            while server.ledger.billed < 8:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(cancelled())
    assert len(queue.results) == sum(queue.attempts.values())
    assert {outcome.key for outcome in queue.results} == set(queue.attempts)


@pytest.mark.parametrize("during", ["claim", "deliver"])
def test_a_cancellation_during_a_visit_loses_nothing(
    server: ScriptedServer, spool_path: Path, during: str
) -> None:
    queue = QueueOfRecord(50, RetryPolicy(after_possible_billing=0))
    visiting, go_on = threading.Event(), threading.Event()

    def interrupted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            result = function(*arguments)
            if len(queue.attempts) >= 10:
                visiting.set()
                go_on.wait(timeout=10)
            return result

        return call

    async def cancelled() -> None:
        claim = interrupted(queue.claim) if during == "claim" else queue.claim
        deliver = interrupted(queue.deliver) if during == "deliver" else queue.deliver
        callbacks = Callbacks(claim, deliver, queue.should_stop)
        async with OpenAIChat(
            server.base_url, "m", KEY, max_in_flight=5, networks=LOOPBACK
        ) as chat:
            task = asyncio.create_task(
                pump(callbacks, chat, in_flight=5, spool_path=spool_path, random=Random(0))
            )
            await asyncio.to_thread(visiting.wait)
            task.cancel()
            await asyncio.sleep(0.05)
            go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(cancelled())
    assert Counter(o.key for o in queue.results) == queue.attempts
    assert not spool_path.exists()


def test_when_delivery_fails_the_outcomes_are_spooled(
    server: ScriptedServer, spool_path: Path
) -> None:
    server.endpoint.latency = 0.02
    queue = QueueOfRecord(200)

    def deliver(batch: Sequence[CallResult]) -> None:
        if len(queue.results) >= 20:
            raise OSError("the database is down")
        queue.deliver(batch)

    with pytest.raises(PumpError) as raised:
        run(server, Callbacks(queue.claim, deliver, queue.should_stop), spool_path)
    assert isinstance(raised.value.__cause__, OSError)
    result = raised.value.result
    assert result.stopped_because is StopReason.BROKEN

    spooled, unreadable = spool.read(spool_path)
    assert not unreadable
    assert len(spooled) == result.spooled > 0
    assert result.sent == len(queue.results) + len(spooled) == server.ledger.billed
    assert spool.replay(spool_path, queue.deliver) == result.spooled
    assert {outcome.key for outcome in queue.results} == set(queue.attempts)


def test_when_claiming_fails_what_is_in_flight_is_delivered(
    server: ScriptedServer, spool_path: Path
) -> None:
    server.endpoint.latency = 0.02
    queue = QueueOfRecord(200)

    def claim(most: int) -> list[ChatRequest]:
        if len(queue.attempts) >= 20:
            raise OSError("the database is down")
        return queue.claim(most)

    with pytest.raises(PumpError) as raised:
        run(server, Callbacks(claim, queue.deliver, queue.should_stop), spool_path)
    assert raised.value.result.spooled == 0
    assert queue.answered == sorted(queue.attempts)
    assert not spool_path.exists()


def test_a_defect_in_the_client_is_an_outcome_and_an_error(
    server: ScriptedServer, spool_path: Path
) -> None:
    class Defective:
        async def complete(self, request: ChatRequest) -> ChatReply:
            raise KeyError("a defect")

    queue = QueueOfRecord(10, RetryPolicy(after_possible_billing=0))
    with pytest.raises(PumpError) as raised:
        asyncio.run(
            pump(queue.callbacks, Defective(), in_flight=1, spool_path=spool_path, random=Random(0))
        )
    assert isinstance(raised.value.__cause__, KeyError)
    (outcome,) = queue.results
    assert outcome.failure is not None
    assert outcome.failure.may_have_been_billed


def test_retries_that_are_due_later_are_found(server: ScriptedServer, spool_path: Path) -> None:
    """An empty claim does not end the pump while a call is in flight."""
    server.endpoint.latency = 0.1
    queue = QueueOfRecord(1)
    late = QueueOfRecord(0)
    late.due = [7]

    def claim(most: int) -> list[ChatRequest]:
        claimed = queue.claim(most)
        return claimed or (late.claim(most) if queue.results == [] and queue.attempts else [])

    run(server, Callbacks(claim, queue.deliver, queue.should_stop), spool_path)
    assert queue.answered == [0, 7]

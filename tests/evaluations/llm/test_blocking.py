"""The pump from synchronous code: the callbacks stays in the caller's thread."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from evaluations.llm import spool
from evaluations.llm.blocking import run_pump
from evaluations.llm.callbacks import Callbacks
from evaluations.llm.client import CallResult, ChatRequest
from evaluations.llm.openai_client import OpenAIChat
from evaluations.llm.pump import Pace, PumpError, PumpResult
from evaluations.llm.rate_limit import SharedSlowdown
from evaluations.llm.retry import RetryPolicy
from tests.evaluations.llm.conftest import KEY, QueueOfRecord
from tests.scripted_server import LOOPBACK, ScriptedServer


def run(
    server: ScriptedServer, callbacks: Callbacks, tmp_path: Path, gate: SharedSlowdown | None = None
) -> PumpResult:
    return run_pump(
        callbacks,
        OpenAIChat(server.base_url, "scripted-demo", KEY, max_in_flight=8, networks=LOOPBACK),
        in_flight=8,
        spool_path=tmp_path / "spool.jsonl",
        random=Random(0),
        pace=Pace(tick=0.02, grace=5.0),
        gate=gate,
    )


def test_the_desk_is_visited_in_the_callers_thread(server: ScriptedServer, tmp_path: Path) -> None:
    queue, threads = QueueOfRecord(40), set[threading.Thread]()

    def deliver(batch: Sequence[CallResult]) -> None:
        threads.add(threading.current_thread())
        queue.deliver(batch)

    result = run(server, Callbacks(queue.claim, deliver, queue.should_stop), tmp_path)
    assert result.answered == 40
    assert queue.answered == list(range(40))
    assert threads == {threading.current_thread()}
    assert not [thread for thread in threading.enumerate() if thread.name == "pump-loop"]


def test_a_slow_down_outlasts_the_pump_that_met_it(server: ScriptedServer, tmp_path: Path) -> None:
    gate = SharedSlowdown(8, random=Random(0), first_wait=0.01)
    gate.slowed(gate.sent(), time.monotonic(), None)
    queue, rooms = QueueOfRecord(40), list[int]()

    def claim(most: int) -> list[ChatRequest]:
        rooms.append(most)
        return queue.claim(most)

    run(server, Callbacks(claim, queue.deliver, queue.should_stop), tmp_path, gate)
    assert rooms[0] == 1
    assert queue.answered == list(range(40))


def test_an_error_of_the_desk_reaches_the_caller(server: ScriptedServer, tmp_path: Path) -> None:
    def claim(most: int) -> list[ChatRequest]:
        raise ZeroDivisionError

    queue = QueueOfRecord(1)
    with pytest.raises(PumpError) as raised:
        run(server, Callbacks(claim, queue.deliver, queue.should_stop), tmp_path)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("where", ["waiting", "delivering"])
def test_ctrl_c_loses_no_outcome(server: ScriptedServer, tmp_path: Path, where: str) -> None:
    server.endpoint.latency = 0.5
    queue = QueueOfRecord(500, RetryPolicy(after_possible_billing=0))
    sent = threading.Event()

    def interrupt() -> None:
        if not sent.is_set():
            sent.set()
            os.kill(os.getpid(), signal.SIGINT)

    def deliver(batch: Sequence[CallResult]) -> None:
        queue.deliver(batch)
        if where == "waiting":
            threading.Timer(0.2, interrupt).start()
        else:
            interrupt()

    with pytest.raises(KeyboardInterrupt):
        run(server, Callbacks(queue.claim, deliver, queue.should_stop), tmp_path)
    spooled, _ = spool.read(tmp_path / "spool.jsonl")
    assert {outcome.key for outcome in [*queue.results, *spooled]} == set(queue.attempts)
    assert len(queue.attempts) < 500

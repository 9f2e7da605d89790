"""The caller's side of the pump: synchronous functions, all called in one thread."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from pathlib import Path

from evaluations.llm import spool
from evaluations.llm.client import CallResult, ChatRequest


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Functions that the pump calls.

    ``claim(n)`` returns at most n requests; the pump sends them at once, so the caller stores their
    attempts first. An empty list means that nothing is due. ``deliver(batch)`` stores results; if
    it raises, the pump writes the batch to the spool. ``should_stop()`` is called before each claim
    and at least once per tick, so it may renew a lease. ``arrived(n)`` is called before n results
    are delivered. ``prepare()`` is called after a delivery, while the calls claimed before it are
    in flight: what is prepared then need not be prepared in ``claim``.

    If all results of a batch are replies, further requests are claimed and sent before the batch
    is delivered, so that no call waits while answers are stored. A failure is delivered first: it
    may pause the run.
    """

    claim: Callable[[int], Sequence[ChatRequest]]
    deliver: Callable[[Sequence[CallResult]], None]
    should_stop: Callable[[], bool]
    arrived: Callable[[int], None] = lambda n: None
    prepare: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Round:
    """What one round of callbacks returned."""

    claimed: Sequence[ChatRequest] = ()
    asked_to_stop: bool = False
    spooled: int = 0
    error: BaseException | None = None


class CallbackThread:
    """Calls the callbacks in the only thread of *executor*.

    Every result is delivered or spooled.
    """

    def __init__(
        self,
        callbacks: Callbacks,
        executor: Executor,
        spool_path: Path,
        send: Callable[[Sequence[ChatRequest]], None],
    ) -> None:
        self._callbacks = callbacks
        self._send = send
        self._executor = executor
        self._spool_path = spool_path
        self._running: Future[Round] | None = None
        self._batch: Sequence[CallResult] = ()

    async def run(self, batch: Sequence[CallResult], capacity: int) -> Round:
        """Deliver *batch*, ask whether to stop, and claim up to *capacity* requests.

        What is claimed before the delivery is passed to ``send`` at once, in the event loop.
        """
        self._batch = batch
        loop = asyncio.get_running_loop()

        def send(claimed: Sequence[ChatRequest]) -> None:
            loop.call_soon_threadsafe(self._send, claimed)

        self._running = self._executor.submit(self._call, batch, capacity, send)
        return await self._result(self._running)

    async def unfinished(self) -> Round | None:
        """Wait for the round that was running when the pump was cancelled; None without one."""
        return None if self._running is None else await self._result(self._running)

    def keep(self, batch: Sequence[CallResult]) -> None:
        """Write *batch* to the spool in the calling thread."""
        if batch:
            spool.append(self._spool_path, batch)

    async def _result(self, running: Future[Round]) -> Round:
        # Shielded: cancelling the pump must not cancel a delivery.
        await asyncio.shield(_without_raising(running))
        self._running = None
        error = running.exception()
        if error is None:
            return running.result()
        # Ctrl-C was raised between two callbacks: it is not known whether the batch was stored.
        self.keep(self._batch)
        return Round(spooled=len(self._batch), error=error)

    def _call(
        self,
        batch: Sequence[CallResult],
        capacity: int,
        send: Callable[[Sequence[ChatRequest]], None],
    ) -> Round:
        """Run in the thread of the executor. BaseException, because Ctrl-C may be raised here."""
        refill = capacity > 0 and bool(batch) and all(one.reply is not None for one in batch)
        claimed = Round()
        try:
            if batch:
                self._callbacks.arrived(len(batch))
            if refill:
                claimed = self._claim(capacity)
                send(claimed.claimed)
            if batch:
                self._callbacks.deliver(batch)
        except BaseException as error:
            self.keep(batch)
            return Round(spooled=len(batch), error=error)
        if not refill:
            return self._claim(capacity)
        if claimed.claimed:
            try:
                self._callbacks.prepare()
            except BaseException as error:
                claimed = replace(claimed, error=error)
        return replace(claimed, claimed=())

    def _claim(self, capacity: int) -> Round:
        """Ask whether to stop, and claim up to *capacity* requests."""
        try:
            if self._callbacks.should_stop():
                return Round(asked_to_stop=True)
            return Round(claimed=self._callbacks.claim(capacity) if capacity else ())
        except BaseException as error:
            return Round(error=error)


async def _without_raising(running: Future[Round]) -> None:
    with contextlib.suppress(BaseException):
        await asyncio.wrap_future(running)

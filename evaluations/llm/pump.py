"""Keep up to N requests in flight for a caller whose database access is synchronous.

The database is the queue of record. The pump claims as many requests as may be sent at once, sends
them, and delivers all results that have arrived in one batch. It never retries: a retry is a new
request that the caller returns from ``claim`` when it is due.

All callbacks run in one thread, one at a time, so that database access stays on one connection and
never blocks the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random

from evaluations.llm.callbacks import Callbacks, CallbackThread, Round
from evaluations.llm.client import ChatClient, ChatFailure, FailureKind
from evaluations.llm.rate_limit import SharedSlowdown
from evaluations.llm.spool import Arrivals
from evaluations.llm.worker_pool import WorkerPool


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between two rounds of callbacks without results, and for answers after a stop."""

    tick: float = 0.5
    grace: float = 30.0


class StopReason(StrEnum):
    """Why a pump ended."""

    DRAINED = "drained"
    ASKED = "asked"
    AUTH = "auth"
    QUOTA = "quota"
    ASKED_TO_WAIT = "asked_to_wait"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class PumpResult:
    """Counts of calls: ``sent == answered + failed``, without requests that were never sent.

    ``spooled`` results are in the spool file and were not delivered. ``failure`` is the one that
    paused the run, or None.
    """

    sent: int
    answered: int
    failed: int
    spooled: int
    stopped_because: StopReason
    failure: ChatFailure | None = None


class PumpError(Exception):
    """A callback or the client raised (``__cause__``); every result was delivered or spooled."""

    def __init__(self, result: PumpResult) -> None:
        super().__init__(f"the pump broke off; {result.spooled} outcomes are in the spool")
        self.result = result


async def pump(
    callbacks: Callbacks,
    client: ChatClient,
    *,
    in_flight: int,
    spool_path: Path,
    random: Random,
    gate: SharedSlowdown | None = None,
    pace: Pace | None = None,
    clock: Callable[[], float] = time.monotonic,
    executor: Executor | None = None,
) -> PumpResult:
    """Send what *callbacks* claim until nothing is left, a stop, or a failure that pauses the run.

    It ends when nothing is due and nothing is in flight. After a stop or a pausing failure it waits
    up to ``pace.grace`` seconds for calls in flight, cancels the rest and delivers both. Cancelling
    the pump does the same without the wait. All pumps of one endpoint in one event loop share a
    *gate*. *executor* has one thread; without it the pump creates its own.

    Raises ``PumpError`` if a callback raised.
    """
    slowdown = gate or SharedSlowdown(in_flight, random=random)
    with contextlib.ExitStack() as stack:
        thread = executor or stack.enter_context(ThreadPoolExecutor(1, "pump-callbacks"))
        arrivals = stack.enter_context(Arrivals(spool_path))
        pool = WorkerPool(client, in_flight, slowdown, clock, arrivals)
        calls = CallbackThread(callbacks, thread, spool_path, pool.send)
        return await _Pump(pool, calls, slowdown, in_flight, pace or Pace(), clock).run()


class _Pump:
    """One run of the pump: rounds of callbacks and waits for results, in turn."""

    def __init__(
        self,
        pool: WorkerPool,
        callbacks: CallbackThread,
        gate: SharedSlowdown,
        in_flight: int,
        pace: Pace,
        clock: Callable[[], float],
    ) -> None:
        self._pool = pool
        self._callbacks = callbacks
        self._gate = gate
        self._most = in_flight
        self._pace = pace
        self._clock = clock
        self._asked_to_stop = False
        self._spooled = 0
        self._error: BaseException | None = None

    async def run(self) -> PumpResult:
        try:
            await self._keep_in_flight()
            await self._wait_for_the_last()
        finally:
            try:
                if (unfinished := await self._callbacks.unfinished()) is not None:
                    self._pool.stored()
                    self._note(unfinished)
                await self._pool.cancel()
                await self._round(0)
            finally:
                # A second cancellation may have ended the lines above: no result may be lost.
                self._callbacks.keep(self._pool.take())
        pool, broken = self._pool, self._broken
        result = PumpResult(
            sent=pool.sent,
            answered=pool.answered,
            failed=pool.sent - pool.answered,
            spooled=self._spooled,
            stopped_because=self._reason(),
            failure=pool.pausing,
        )
        if broken is not None:
            raise PumpError(result) from broken
        return result

    async def _keep_in_flight(self) -> None:
        while True:
            capacity = 0
            if not self._stopping:
                own = self._most - self._pool.outstanding
                capacity = max(0, min(own, self._gate.capacity(self._clock())))
            done = await self._round(capacity)
            if self._stopping or (capacity and not done.claimed and self._idle):
                return
            await self._wait(self._pace.tick)

    async def _wait_for_the_last(self) -> None:
        self._pool.closed = True
        interrupted = self._error is not None and not isinstance(self._error, Exception)
        deadline = self._clock() + (0.0 if interrupted else self._pace.grace)
        while not self._idle and (left := deadline - self._clock()) > 0:
            await self._wait(min(left, self._pace.tick))
            await self._round(0)

    async def _round(self, capacity: int) -> Round:
        done = await self._callbacks.run(self._pool.take(), capacity)
        self._pool.stored()
        self._note(done)
        return done

    def _note(self, done: Round) -> None:
        self._error = self._error or done.error
        self._spooled += done.spooled
        self._asked_to_stop = self._asked_to_stop or done.asked_to_stop
        self._pool.send(done.claimed)

    async def _wait(self, longest: float) -> None:
        """Wait until a result arrives, the gate opens, or *longest* seconds are over."""
        opening = self._gate.seconds_until_open(self._clock())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(longest, opening) if opening else longest):
                await self._pool.news.wait()

    @property
    def _idle(self) -> bool:
        return self._pool.outstanding == 0 and not self._pool.news.is_set()

    @property
    def _broken(self) -> BaseException | None:
        return self._error or self._pool.defect

    @property
    def _stopping(self) -> bool:
        return self._asked_to_stop or self._pool.closed or self._broken is not None

    def _reason(self) -> StopReason:
        if self._broken is not None:
            return StopReason.BROKEN
        if self._pool.pausing is not None:
            pauses = {FailureKind.AUTH: StopReason.AUTH, FailureKind.QUOTA: StopReason.QUOTA}
            return pauses.get(self._pool.pausing.kind, StopReason.ASKED_TO_WAIT)
        return StopReason.ASKED if self._asked_to_stop else StopReason.DRAINED

"""Keep N requests in flight for a caller whose database is synchronous.

The database is the queue of record. The pump claims as many requests as may be
sent at once, sends them, and hands every outcome back promptly, all that have
arrived in one batch. It retries nothing: a retry is a new request that the
caller lets be claimed when its time has come.

What the caller gives is called in one thread, one call at a time, so that
database access stays on one connection and never blocks the event loop.
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

from evaluations.llm.client import ChatClient, ChatFailure, FailureKind
from evaluations.llm.crew import Crew
from evaluations.llm.desk import Desk, DeskThread, Turn
from evaluations.llm.rate_limit import SharedSlowdown


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between visits to the desk without news, and for answers after a stop."""

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
    """Counts of calls: ``sent == answered + failed``; claimed but never sent ones are not in it.

    ``spooled`` outcomes are in the spool file and not with the caller.
    ``failure`` is the one that paused the run, where one did.
    """

    sent: int
    answered: int
    failed: int
    spooled: int
    stopped_because: StopReason
    failure: ChatFailure | None = None


class PumpError(Exception):
    """A function of the desk or the client broke (``__cause__``); every outcome was kept."""

    def __init__(self, result: PumpResult) -> None:
        super().__init__(f"the pump broke off; {result.spooled} outcomes are in the spool")
        self.result = result


async def pump(
    desk: Desk,
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
    """Send what *desk* lets be claimed until there is no more, a stop, or a pausing failure.

    Ends when nothing is due and nothing is in flight; when ``should_stop`` says
    so, or a failure pauses the run: then it waits up to ``pace.grace`` for what
    is in flight, gives the rest up and delivers both. Cancelling the pump does
    the same without the wait. All pumps of one endpoint in one loop share a
    *gate*. *executor* has one thread; without it the pump makes its own.

    Raises ``PumpError`` when a function of *desk* raised.
    """
    slowdown = gate or SharedSlowdown(in_flight, random=random)
    with contextlib.ExitStack() as stack:
        thread = executor or stack.enter_context(ThreadPoolExecutor(1, "pump-desk"))
        crew = Crew(client, in_flight, slowdown, clock)
        at_desk = DeskThread(desk, thread, spool_path)
        return await _Pump(crew, at_desk, slowdown, in_flight, pace or Pace(), clock).run()


class _Pump:
    """One run of the pump: visits to the desk, and waits for news, in turn."""

    def __init__(
        self,
        crew: Crew,
        at_desk: DeskThread,
        gate: SharedSlowdown,
        in_flight: int,
        pace: Pace,
        clock: Callable[[], float],
    ) -> None:
        self._crew = crew
        self._at_desk = at_desk
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
            await self._close()
        result = self._result()
        if self._broken is not None:
            raise PumpError(result) from self._broken
        return result

    async def _keep_in_flight(self) -> None:
        while True:
            room = self._room()
            turn = await self._turn(room)
            if self._stopping or (room and not turn.claimed and self._idle):
                return
            await self._wait(self._pace.tick)

    async def _wait_for_the_last(self) -> None:
        self._crew.closed = True
        interrupted = self._error is not None and not isinstance(self._error, Exception)
        deadline = self._clock() + (0.0 if interrupted else self._pace.grace)
        while not self._idle and (left := deadline - self._clock()) > 0:
            await self._wait(min(left, self._pace.tick))
            await self._turn(0)

    async def _close(self) -> None:
        """Nothing may be lost here, whatever ended the pump."""
        try:
            self._note(await self._at_desk.unfinished())
            await self._crew.cancel()
            await self._turn(0)
        finally:
            # Only where a second cancellation cut the lines above short.
            self._at_desk.keep(self._crew.take())

    async def _turn(self, room: int) -> Turn:
        turn = await self._at_desk.turn(self._crew.take(), room)
        self._note(turn)
        return turn

    def _note(self, turn: Turn) -> None:
        self._error = self._error or turn.error
        self._spooled += turn.spooled
        self._asked_to_stop = self._asked_to_stop or turn.asked_to_stop
        self._crew.send(turn.claimed)

    async def _wait(self, longest: float) -> None:
        """Until an outcome arrives, the gate opens, or *longest* seconds are over."""
        opening = self._gate.seconds_until_open(self._clock())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(longest, opening) if opening else longest):
                await self._crew.news.wait()

    def _room(self) -> int:
        if self._stopping:
            return 0
        own = self._most - self._crew.outstanding
        return max(0, min(own, self._gate.room(self._clock())))

    @property
    def _idle(self) -> bool:
        return self._crew.outstanding == 0 and not self._crew.news.is_set()

    @property
    def _broken(self) -> BaseException | None:
        return self._error or self._crew.defect

    @property
    def _stopping(self) -> bool:
        return self._asked_to_stop or self._crew.closed or self._broken is not None

    def _result(self) -> PumpResult:
        crew = self._crew
        return PumpResult(
            sent=crew.sent,
            answered=crew.answered,
            failed=crew.sent - crew.answered,
            spooled=self._spooled,
            stopped_because=self._reason(),
            failure=crew.pausing,
        )

    def _reason(self) -> StopReason:
        if self._broken is not None:
            return StopReason.BROKEN
        if self._crew.pausing is not None:
            return _PAUSES.get(self._crew.pausing.kind, StopReason.ASKED_TO_WAIT)
        return StopReason.ASKED if self._asked_to_stop else StopReason.DRAINED


_PAUSES = {FailureKind.AUTH: StopReason.AUTH, FailureKind.QUOTA: StopReason.QUOTA}

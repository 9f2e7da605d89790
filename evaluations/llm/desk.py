"""The caller's side of the pump: three synchronous functions, called in one thread in turn."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path

from evaluations.llm import spool
from evaluations.llm.client import ChatRequest
from evaluations.llm.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Desk:
    """What the pump asks of its caller.

    ``claim(n)`` gives at most n requests. They are sent at once, so it writes
    their attempts first; an empty list means that nothing is due now.
    ``deliver(batch)`` takes outcomes for good; if it raises, the batch is
    spooled. ``should_stop()`` is asked before each claim and at least every
    tick of the pump, which makes it the place to renew a lease.
    """

    claim: Callable[[int], Sequence[ChatRequest]]
    deliver: Callable[[Sequence[Outcome]], None]
    should_stop: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Turn:
    """What one visit to the desk brought."""

    claimed: Sequence[ChatRequest] = ()
    asked_to_stop: bool = False
    spooled: int = 0
    error: BaseException | None = None


class DeskThread:
    """Visits the desk in the one thread of *executor*; an outcome given to it is never lost."""

    def __init__(self, desk: Desk, executor: Executor, spool_path: Path) -> None:
        self._desk = desk
        self._executor = executor
        self._spool_path = spool_path
        self._visit: Future[Turn] | None = None
        self._batch: Sequence[Outcome] = ()

    async def turn(self, batch: Sequence[Outcome], room: int) -> Turn:
        """Deliver *batch*, ask whether to stop, and claim up to *room*, in one visit."""
        self._batch = batch
        self._visit = self._executor.submit(self._visited, batch, room)
        return await self._result(self._visit)

    async def unfinished(self) -> Turn:
        """The visit that went on when the pump was cancelled, an empty one where there is none."""
        return Turn() if self._visit is None else await self._result(self._visit)

    def keep(self, batch: Sequence[Outcome]) -> None:
        """Spool *batch* here and now."""
        if batch:
            spool.append(self._spool_path, batch)

    async def _result(self, visit: Future[Turn]) -> Turn:
        # Shielded: cancelling the pump must not cancel a delivery.
        await asyncio.shield(_finished(visit))
        self._visit = None
        error = visit.exception()
        if error is None:
            return visit.result()
        # Ctrl-C fell between the desk's functions: what was done is not known.
        self.keep(self._batch)
        return Turn(spooled=len(self._batch), error=error)

    def _visited(self, batch: Sequence[Outcome], room: int) -> Turn:
        """Runs in the desk's thread. BaseException: Ctrl-C may fall into a delivery."""
        try:
            if batch:
                self._desk.deliver(batch)
        except BaseException as error:
            self.keep(batch)
            return Turn(spooled=len(batch), error=error)
        try:
            if self._desk.should_stop():
                return Turn(asked_to_stop=True)
            return Turn(claimed=self._desk.claim(room) if room else ())
        except BaseException as error:
            return Turn(error=error)


async def _finished(visit: Future[Turn]) -> None:
    """Wait for *visit* without raising what it raised."""
    with contextlib.suppress(BaseException):
        await asyncio.wrap_future(visit)

"""The coroutines that make the calls: one for each call that may be in flight."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from evaluations.llm.client import (
    CallResult,
    ChatClient,
    ChatFailure,
    ChatReply,
    ChatRequest,
    FailureKind,
)
from evaluations.llm.rate_limit import SharedSlowdown, Ticket
from evaluations.llm.spool import Arrivals


class WorkerPool:
    """Makes calls and collects their results; each request gets exactly one result.

    ``outstanding`` counts requests without a result. ``pausing`` is the first failure that pauses
    the run, ``defect`` the first exception that a client must not raise. After ``closed`` is set,
    no further call is made. Each result is written to *arrivals* at once.
    """

    def __init__(
        self,
        client: ChatClient,
        in_flight: int,
        gate: SharedSlowdown,
        clock: Callable[[], float],
        arrivals: Arrivals,
    ) -> None:
        self._client = client
        self._arrivals = arrivals
        self._most = in_flight
        self._gate = gate
        self._clock = clock
        self._queue: asyncio.Queue[tuple[ChatRequest, Ticket]] = asyncio.Queue()
        self._workers: list[asyncio.Task[None]] = []
        self._results: list[CallResult] = []
        self.news = asyncio.Event()
        self.outstanding = 0
        self.sent = 0
        self.answered = 0
        self.pausing: ChatFailure | None = None
        self.defect: Exception | None = None
        self.closed = False

    def send(self, requests: Sequence[ChatRequest]) -> None:
        """Queue *requests*; workers start them at once, up to the limit in flight."""
        for request in requests:
            self._queue.put_nowait((request, self._gate.sent()))
        self.outstanding += len(requests)
        while len(self._workers) < min(self._most, self.outstanding):
            self._workers.append(asyncio.create_task(self._work()))

    def take(self) -> list[CallResult]:
        """Return the results that arrived since the last call; call ``stored`` after these are."""
        results, self._results = self._results, []
        self._arrivals.turn()
        self.news.clear()
        return results

    def stored(self) -> None:
        """Forget the file of the results that ``take`` returned: they are stored or spooled."""
        self._arrivals.stored()

    async def cancel(self) -> None:
        """Cancel the calls in flight and report queued requests as never sent."""
        self.closed = True
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        while not self._queue.empty():
            self._add_unsent(*self._queue.get_nowait())

    async def _work(self) -> None:
        while True:
            request, ticket = await self._queue.get()
            if self.closed:
                self._add_unsent(request, ticket)
            else:
                await self._call(request, ticket)

    async def _call(self, request: ChatRequest, ticket: Ticket) -> None:
        self.sent += 1
        started = self._clock()
        result: ChatReply | ChatFailure = ChatFailure(
            FailureKind.CANCELLED, "given up while in flight", may_have_been_billed=True
        )
        try:
            result = await self._client.complete(request)
        except ChatFailure as failure:
            result = failure.with_traceback(None)
        except Exception as error:
            self.defect = self.defect or error
            text = f"the client broke: {type(error).__name__}"
            result = ChatFailure(FailureKind.INTERRUPTED, text, may_have_been_billed=True)
        finally:
            # Also if this worker is cancelled: the call may have been billed.
            if isinstance(result, ChatReply):
                self.answered += 1
                self._gate.done(ticket, answered=True)
            elif result.slows_down:
                self._gate.slowed(ticket, self._clock(), result.retry_after)
            else:
                self._gate.done(ticket, answered=False)
            self._add(CallResult(request.key, result, self._clock() - started))

    def _add_unsent(self, request: ChatRequest, ticket: Ticket) -> None:
        self._gate.done(ticket, answered=False)
        failure = ChatFailure(FailureKind.CANCELLED, "never sent")
        self._add(CallResult(request.key, failure, 0.0))

    def _add(self, result: CallResult) -> None:
        self.outstanding -= 1
        self._results.append(result)
        self._arrivals.add(result)
        failure = result.failure
        if failure is not None and failure.pauses_run and self.pausing is None:
            self.pausing = failure
        if self.pausing or self.defect:
            self.closed = True
        self.news.set()

"""Run a pump from synchronous code, with the callbacks in the caller's own thread.

The event loop runs in a thread of its own. The callbacks run where the caller's database connection
and transaction are.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, Future
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from evaluations.llm.callbacks import Callbacks
from evaluations.llm.pump import Pace, PumpError, PumpResult, pump
from evaluations.llm.rate_limit import SharedSlowdown

if TYPE_CHECKING:
    from evaluations.llm.openai_client import OpenAIChat


def run_pump(
    callbacks: Callbacks,
    chat: OpenAIChat,
    *,
    in_flight: int,
    spool_path: Path,
    random: Random,
    pace: Pace | None = None,
    gate: SharedSlowdown | None = None,
) -> PumpResult:
    """Run ``pump`` to its end and close *chat*. Returns and raises what ``pump`` does.

    Pass the same *gate* to successive pumps, so that a slowdown stays in force. If a signal handler
    raises in this thread (Ctrl-C), the calls in flight are cancelled and delivered as cancelled,
    and the exception is raised again.
    """
    calls = _CallersThread()

    async def run() -> PumpResult:
        async with chat:
            return await pump(
                callbacks,
                chat,
                in_flight=in_flight,
                spool_path=spool_path,
                random=random,
                pace=pace,
                gate=gate,
                executor=calls,
            )

    thread = _LoopThread(run, at_end=calls.finish)
    thread.start()
    try:
        calls.serve()
    except BaseException:
        thread.cancel()
        calls.serve()
        raise
    thread.join()
    try:
        return thread.result.result()
    except PumpError as error:
        # What a signal handler raised is not wrapped.
        if error.__cause__ is not None and not isinstance(error.__cause__, Exception):
            raise error.__cause__ from None
        raise


class _CallersThread(Executor):
    """An executor whose only thread is the one that calls ``serve``.

    Signal handlers raise in that thread, between any two steps. A call is removed from the queue
    only after it was made, and is not made twice: ``serve`` may be interrupted and called again.
    """

    def __init__(self) -> None:
        self._calls: deque[Callable[[], None] | None] = deque()
        self._news = threading.Event()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def call() -> None:
            if future.done():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        self._put(call)
        return future

    def serve(self) -> None:
        """Make the submitted calls until ``finish`` is called."""
        while True:
            while self._calls:
                call = self._calls[0]
                if call is None:
                    return
                call()
                self._calls.popleft()
            self._news.wait()
            self._news.clear()

    def finish(self) -> None:
        """Make ``serve`` return after the calls submitted so far."""
        self._put(None)

    def _put(self, call: Callable[[], None] | None) -> None:
        self._calls.append(call)
        self._news.set()


class _LoopThread(threading.Thread):
    """A thread that runs a coroutine in an event loop of its own; ``result`` holds its result."""

    def __init__(
        self,
        main: Callable[[], Coroutine[Any, Any, PumpResult]],
        at_end: Callable[[], None],
    ) -> None:
        super().__init__(name="pump-loop", daemon=True)
        self.result: Future[PumpResult] = Future()
        self._main = main
        self._at_end = at_end
        self._started = threading.Event()
        self._cancel: Callable[[], object] = lambda: None

    def run(self) -> None:
        try:
            self.result.set_result(asyncio.run(self._cancellable()))
        except BaseException as error:
            self.result.set_exception(error)
        finally:
            self._started.set()
            self._at_end()

    def cancel(self) -> None:
        """Cancel the coroutine if it is still running."""
        self._started.wait()
        self._cancel()

    async def _cancellable(self) -> PumpResult:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def cancel() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has just been closed
                loop.call_soon_threadsafe(task.cancel if task else lambda: None)

        self._cancel = cancel
        self._started.set()
        return await self._main()

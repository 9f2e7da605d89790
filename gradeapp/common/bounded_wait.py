"""Wait for work that may hang, but only for so long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return what *work* returns, or raise what it raises; after *seconds* raise TimeoutError.

    It works in a thread of its own, in the caller's language, and must not use the database. If it
    takes longer it goes on, as what it waits for cannot be interrupted; what it returns is dropped.
    """
    future: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="bounded-wait", daemon=True).start()
    return future.result(timeout=seconds)

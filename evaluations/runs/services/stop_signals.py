"""Stop after the calls in flight on SIGTERM and Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Self

NUMBERS = (signal.SIGTERM, signal.SIGINT)
ECHO_SECONDS = 1.0


class StopSignals:
    """Within ``with``, the first signal sets ``asked``; a second one has its usual effect.

    Python sets signal handlers in the main thread only; in another thread nothing changes.
    """

    def __init__(self) -> None:
        self.asked = False
        self._asked_at = 0.0
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in NUMBERS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal; one within a second of the first is ignored as its repetition."""
        now = time.monotonic()
        if not self.asked:
            self.asked, self._asked_at = True, now
        elif now - self._asked_at > ECHO_SECONDS:
            self._restore()
            os.kill(os.getpid(), number)

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._before = {}

"""A polite stop: SIGTERM and Ctrl-C let what is in flight come in."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Self

NUMBERS = (signal.SIGTERM, signal.SIGINT)


class StopSignals:
    """Inside ``with``, ``asked`` becomes true at the first signal; a second one acts as before.

    Python sets handlers in the main thread only; in another thread nothing changes.
    """

    def __init__(self) -> None:
        self.asked = False
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
        self.asked = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._before = {}

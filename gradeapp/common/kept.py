"""Values that a process keeps for a second look, bounded by the memory that they take."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Any


class KeptValues:
    """Keeps the values that were last used, up to *most* bytes by the sizes that callers state.

    A key names all that its value was computed from, so nothing is ever old. Threads may share it;
    nobody may change a value that is kept.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.size = 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Any:
        """Return the value of *key*, or None."""
        with self._lock:
            if (found := self._values.get(key)) is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: Any, size: int) -> None:
        """Keep *value*, which takes *size* bytes, unless it alone is too large."""
        with self._lock:
            if (old := self._values.pop(key, None)) is not None:
                self.size -= old[1]
            if size > self.most:
                return
            self._values[key] = (value, size)
            self.size += size
            while self.size > self.most:
                self.size -= self._values.popitem(last=False)[1][1]

    def forget(self) -> None:
        """Drop everything."""
        with self._lock:
            self._values.clear()
            self.size = 0

"""Places at which long work may be ended from outside: between the rows and images of one file.

Who does the work says what ends it; what reads rows, which knows no worker, passes the places.
The standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_look: ContextVar[Callable[[], None] | None] = ContextVar("waypoint", default=None)


def waypoint() -> None:
    """Pass a place at which the work of this thread may end; raises what ends it."""
    if (look := _look.get()) is not None:
        look()


@contextmanager
def looking(look: Callable[[], None]) -> Iterator[None]:
    """Call *look* at each waypoint that is passed inside."""
    token = _look.set(look)
    try:
        yield
    finally:
        _look.reset(token)

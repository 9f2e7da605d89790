"""Pausing or sparing Python's collector of cycles while much is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Rows by the ten thousand make the collector of cycles walk all of them again and again.

    There are no cycles among them: over 30,000 answers it takes a quarter of the
    time, over an import a sixth, and finds nothing. What other threads leave
    meanwhile it finds afterwards.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def collector_spared() -> Iterator[None]:
    """Let the collector look only through what is made from here on.

    A process that has loaded the project holds hundreds of thousands of objects which live as long
    as it does, and each full collection looks through all of them. Where a part is spared already,
    nothing is changed.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()

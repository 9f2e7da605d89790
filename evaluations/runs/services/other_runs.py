"""Runs that a process takes in beside its own, so that no run waits until another one ends.

Most of the time a worker waits for replies. So it works on several runs at once, each in a thread
with a database connection of its own. A run that another worker begins at once is not taken in.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from threading import Thread
from time import monotonic, sleep

from django.db import connection, connections

from evaluations.runs.rules.sessions import LOOK_SECONDS, MOST_OTHERS
from evaluations.runs.services.run_states import runs_without_worker

logger = logging.getLogger(__name__)


class OtherRuns:
    """Takes in runs without a worker: ``work(run_id)`` works on one, in a thread."""

    def __init__(self, work: Callable[[int], object], clock: Callable[[], datetime]) -> None:
        self._work = work
        self._clock = clock
        self._threads: dict[int, Thread] = {}
        self._seen: set[int] = set()
        self._next_look = monotonic() + LOOK_SECONDS
        self.taken_in: list[int] = []

    def look(self) -> None:
        """Take in the runs that had no worker at this look and at the one before."""
        if monotonic() < self._next_look or connection.in_atomic_block:
            return
        self._next_look = monotonic() + LOOK_SECONDS
        self._threads = {pk: one for pk, one in self._threads.items() if one.is_alive()}
        without = [pk for pk in runs_without_worker(self._clock()) if pk not in self._threads]
        for pk in [one for one in without if one in self._seen]:
            if len(self._threads) < MOST_OTHERS:
                self.taken_in.append(pk)
                self._threads[pk] = Thread(target=self._in_thread, args=(pk,), daemon=True)
                self._threads[pk].start()
        self._seen = set(without)

    def wait(self, until: datetime) -> None:
        """Wait for the threads to end; take in further runs until the time *until*."""
        while any(one.is_alive() for one in self._threads.values()):
            if self._clock() < until:
                self.look()
            sleep(0.2)

    def _in_thread(self, run_id: int) -> None:
        try:
            self._work(run_id)
        except Exception:
            logger.exception("the work on run %s broke off", run_id)
        finally:
            connections.close_all()  # those of this thread

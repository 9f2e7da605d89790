"""A worker is heard of while it is at one long piece, and hears that it is to stop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.db import DatabaseError, connection

from gradeapp.common.background_work.models import BackgroundWork
from gradeapp.common.background_work.services import Clock, Stopped, held
from gradeapp.common.waypoints import looking

# So many times in a lease a worker says that it is alive.
BEATS = 6


@contextmanager
def kept_alive(work: BackgroundWork, clock: Clock) -> Iterator[None]:
    """Note that the worker of *work* is alive until this ends, by a connection of its own.

    So it is heard of within a transaction too. Once somebody asked to stop, or the work is not
    this worker's any more, the next waypoint raises Stopped.
    """
    over, ended = Event(), Event()

    def look() -> None:
        if ended.is_set():
            raise Stopped

    thread = Thread(target=_beat, args=(work, clock, over, ended), name="heard-of", daemon=True)
    thread.start()
    try:
        with looking(look):
            yield
    finally:
        over.set()
        thread.join()


def _beat(work: BackgroundWork, clock: Clock, over: Event, ended: Event) -> None:
    try:
        while not over.wait(work.lease().total_seconds() / BEATS):
            try:
                asked = held(work).values_list("stop_asked", flat=True).first()
                if asked is not False:
                    ended.set()
                    return
                held(work).update(heartbeat=clock())
            except DatabaseError:
                # SQLite has one writer: while the work writes, nobody can note it for lost either.
                connection.close()
    finally:
        connection.close()

"""The time of the database, which is the same for all machines that work on it.

Leases are compared with it: the clock of one machine may be wrong by hours.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from django.db import connection

# The time is read again after so many seconds; in between the machine only counts them.
READ_EVERY = 5.0
_STATEMENTS = {
    "postgresql": "SELECT clock_timestamp()",
    "sqlite": "SELECT strftime('%Y-%m-%dT%H:%M:%f', 'now')",
}


def database_now() -> datetime:
    """Return the time of the database, aware, in UTC. Raises the errors of the database."""
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENTS[connection.vendor])
        found = cursor.fetchone()[0]
    if isinstance(found, str):  # SQLite has no type for times
        return datetime.fromisoformat(found).replace(tzinfo=UTC)
    now: datetime = found.astimezone(UTC)
    return now


class DatabaseClock:
    """A clock for one thread: call it for the time of the database.

    ``elapsed`` counts seconds, and is not changed when the clock of the machine is set.
    """

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._elapsed = elapsed
        self._read: tuple[float, datetime] | None = None

    def __call__(self) -> datetime:
        seconds = self._elapsed()
        if self._read is None or seconds - self._read[0] >= READ_EVERY:
            self._read = (seconds, database_now())
        at, now = self._read
        return now + timedelta(seconds=seconds - at)

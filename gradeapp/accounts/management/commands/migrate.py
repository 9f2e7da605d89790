"""Django's migrate, for a PostgreSQL that is in use: it never holds up others for long."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

# While a migration waits for the lock of a table, everybody else waits behind it. The wait is
# shorter than PostgreSQL's deadlock_timeout of 1 s, so that of two that wait for each other it is
# mostly the migration that gives way.
LOCK_TIMEOUT = "800ms"
TRIES, PAUSE = 60, 1.0
LOCK_NOT_AVAILABLE, DEADLOCK = "55P03", "40P01"


class Command(migrate.Command):
    """Wait less than a second for a lock, let the others through, and try again.

    Each migration is one transaction, so one that did not get its lock changed nothing. No
    statement is ended for taking long: an index over a million rows takes its time.
    """

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        if connection.vendor != "postgresql" or connection.in_atomic_block:
            super().handle(*args, **options)
            return
        with _patience(connection):
            for _ in range(TRIES):
                try:
                    super().handle(*args, **options)
                except OperationalError as error:
                    if getattr(error.__cause__, "sqlstate", "") not in (
                        LOCK_NOT_AVAILABLE,
                        DEADLOCK,
                    ):
                        raise
                    self.stderr.write("A table is in use. Trying again ...")
                    time.sleep(PAUSE)
                else:
                    return
        raise CommandError(
            f"A table was in use at each of {TRIES} attempts; nothing of this migration was "
            "applied. End the transaction that holds it (pg_stat_activity), then run this again."
        )


@contextmanager
def _patience(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """While this lasts, waits for locks are short and statements may take long."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = %s", [LOCK_TIMEOUT])
        cursor.execute("SET statement_timeout = 0")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
            cursor.execute("RESET statement_timeout")

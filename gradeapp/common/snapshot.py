"""Several queries that see one state of the database while others go on writing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db import connection, transaction

# Whether the transaction that is open is a snapshot, in which nothing is written.
_is_inside: ContextVar[bool] = ContextVar("is_inside_snapshot", default=False)


@contextmanager
def one_snapshot() -> Iterator[None]:
    """Let every query inside see the state at the first one; nothing may be written inside.

    Inside a transaction or another snapshot this changes nothing. SQLite gets a transaction that
    begins as a reader: that of ``transaction.atomic`` would make every writer wait.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            before = _is_inside.set(True)
            try:
                yield
            finally:
                _is_inside.reset(before)
    elif _reads_already():
        yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")


def sees_only_committed() -> bool:
    """Return whether what is read now was committed: outside of transactions, and in snapshots."""
    return not connection.in_atomic_block or _is_inside.get()


def _reads_already() -> bool:
    """Return whether the connection to SQLite is inside a snapshot."""
    connection.ensure_connection()
    return bool(connection.connection.in_transaction)

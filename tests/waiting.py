"""Two transactions, of which the second waits for what the first holds."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep
from typing import Any

from django.db import connection, transaction

from gradeapp.common.refusals import Refusal

WAITING = """SELECT count(*) FROM pg_locks
    WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"""


def waits(within: float = 20) -> None:
    """Return when another connection waits for this one; SQLite does not say, and gets a moment."""
    if connection.vendor != "postgresql":
        sleep(0.2)
        return
    end = monotonic() + within
    with connection.cursor() as cursor:
        while monotonic() < end:
            cursor.execute(WAITING)
            if cursor.fetchone()[0]:
                return
            sleep(0.02)
    raise AssertionError("nothing waited")


def after(
    first: Callable[[], object],
    then: Callable[[], Any],
    *,
    meanwhile: Callable[[], object] = lambda: None,
) -> Any:
    """Do *first*, and before it is committed begin *then*, which waits; return what that does,
    or its refusal. *meanwhile* is done in the transaction of *first* while the other waits."""

    def other() -> Any:
        try:
            return then()
        except Refusal as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            first()
            waiting = pool.submit(other)
            waits()
            meanwhile()
        return waiting.result(timeout=60)

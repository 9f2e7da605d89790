"""Lock rows, and read them and what belongs to them when the locks are held."""

from __future__ import annotations

import hashlib
from typing import TypeVar

from django.db import OperationalError, connection
from django.db.models import Model, QuerySet
from django.utils.translation import gettext_lazy as _

from gradeapp.common.refusals import Conflict

Row = TypeVar("Row", bound=Model)
# What is sent twice waits so long for the first one: less than the timeout of a statement.
LONGEST_WAIT = "50s"
LOCK_NOT_AVAILABLE = "55P03"


def locked(rows: QuerySet[Row]) -> QuerySet[Row]:
    """Lock *rows* until the transaction ends, in the order of their keys; return them to be read.

    Two statements, because one that locks and joins is wrong on PostgreSQL where it has to wait: it
    reads the locked row anew, but joins the rows that belonged to it before. Where another
    transaction moved ``question.label``, ``question.label`` would then be None. A row that *rows*
    no longer chooses after the wait is left out.
    """
    held = rows.order_by("pk").select_for_update(of=("self",))
    return rows.filter(pk__in=list(held.values_list("pk", flat=True)))


def hold_key(key: str) -> None:
    """Hold the idempotency *key* until the transaction ends: another one that asks for it waits.

    A request that comes twice then finds what the first one made, however long that takes to be
    planned; it waits for nothing that the first one has locked. On SQLite all writers wait for each
    other. Raises Conflict after ``LONGEST_WAIT``.
    """
    if connection.vendor != "postgresql":
        return
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big", signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('lock_timeout')")
        (usual,) = cursor.fetchone()
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [LONGEST_WAIT])
        try:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", None) != LOCK_NOT_AVAILABLE:
                raise
            words = _("This was sent before, and is still being worked on. Send it again later.")
            raise Conflict(words, code="still_working") from error
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [usual])

"""Lock rows, and read them and what belongs to them when the locks are held."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)


def locked(rows: QuerySet[Row]) -> QuerySet[Row]:
    """Lock *rows* until the transaction ends, in the order of their keys; return them to be read.

    Two statements, because one that locks and joins is wrong on PostgreSQL where it has to wait: it
    reads the locked row anew, but joins the rows that belonged to it before. Where another
    transaction moved ``question.label``, ``question.label`` would then be None. A row that *rows*
    no longer chooses after the wait is left out.
    """
    held = rows.order_by("pk").select_for_update(of=("self",))
    return rows.filter(pk__in=list(held.values_list("pk", flat=True)))

"""What was changed in the marks of a response past the services: for the lead and the admin."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from evaluations.models import BlindAnswer, FinalMark, Mark, MarkChange, PointMark

# What a table holds, in one word, and the column that holds its points.
KINDS = {
    Mark._meta.db_table: ("mark", "total"),
    PointMark._meta.db_table: ("point", "points"),
    FinalMark._meta.db_table: ("final", "value"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One row that was changed or deleted: what it is, and the points it held until then."""

    what: str
    row: int
    action: str
    value: Decimal
    at: datetime
    actor: str


def changes_of(answer: BlindAnswer) -> list[Change]:
    """Every change of points in *answer*'s marks, newest first; empty where all is as given."""
    rows = MarkChange.objects.filter(answer=answer.pk, table__in=KINDS).order_by("-id")
    return [_change(row) for row in rows]


def _change(row: MarkChange) -> Change:
    what, column = KINDS[row.table]
    value = Decimal(str(json.loads(row.before)[column]))
    return Change(what, row.row, row.action, value, row.changed_at, row.actor)

"""Insert and update many rows by one statement, without an ORM object or a parameter list for each.

``bulk_create`` and ``bulk_update`` of the ORM build an expression for every value of every row; on
the path of calls to models that takes longer than the database does. Values are passed as they are
stored, so that callers set every value themselves: ``tests/evaluations/runs/test_attempts_sql.py``
holds the result equal to the ORM.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection

# The types of columns, by the names that PostgreSQL has for them.
Columns = Mapping[str, str]


def insert_rows(table: str, columns: Columns, rows: Sequence[Sequence[Any]]) -> None:
    """Insert *rows*, which have a value for each of *columns* in order; others get their default.

    The rows get ascending keys in the order given.
    """
    if not rows:
        return
    names = ", ".join(columns)
    if connection.vendor == "postgresql":
        statement = (
            f"INSERT INTO {table} ({names}) SELECT {names} FROM {_records(columns)} ORDER BY n"
        )
        _execute(statement, columns, rows)
    else:
        values = ", ".join(["%s"] * len(columns))
        _execute_each(f"INSERT INTO {table} ({names}) VALUES ({values})", columns, rows)


def update_rows(table: str, columns: Columns, rows: Sequence[Sequence[Any]]) -> None:
    """Update the rows whose ``id`` is the last value of each of *rows*.

    The values before it are those of *columns*, in order.
    """
    if not rows:
        return
    if connection.vendor == "postgresql":
        sets = ", ".join(f"{name} = given.{name}" for name in columns)
        keyed = {**columns, "id": "bigint"}
        statement = f"UPDATE {table} SET {sets} FROM {_records(keyed)} WHERE {table}.id = given.id"
        _execute(statement, keyed, rows)
    else:
        sets = ", ".join(f"{name} = %s" for name in columns)
        keyed = {**columns, "id": "bigint"}
        _execute_each(f"UPDATE {table} SET {sets} WHERE id = %s", keyed, rows)


def _records(columns: Columns) -> str:
    """Return the rows of one JSON parameter as a table ``given``, numbered ``n``."""
    typed = ", ".join(f"{name} {kind}" for name, kind in {"n": "bigint", **columns}.items())
    return f"jsonb_to_recordset(%s::jsonb) AS given({typed})"


def _execute(statement: str, columns: Columns, rows: Iterable[Sequence[Any]]) -> None:
    names = list(columns)
    given = [{"n": n, **dict(zip(names, row, strict=True))} for n, row in enumerate(rows)]
    with connection.cursor() as cursor:
        cursor.execute(statement, [json.dumps(given, default=_as_json)])


def _as_json(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"no column holds a {type(value).__name__}")


def _execute_each(statement: str, columns: Columns, rows: Iterable[Sequence[Any]]) -> None:
    adapt = [_ADAPTERS.get(kind) for kind in columns.values()]
    given = [
        [
            value if change is None or value is None else change(value)
            for value, change in zip(row, adapt, strict=True)
        ]
        for row in rows
    ]
    with connection.cursor() as cursor:
        cursor.executemany(statement, given)


def _time(value: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(value)


def _amount(value: Decimal) -> Any:
    return connection.ops.adapt_decimalfield_value(value)


_ADAPTERS: dict[str, Callable[[Any], Any]] = {
    "timestamptz": _time,
    "numeric": _amount,
    "jsonb": json.dumps,
}

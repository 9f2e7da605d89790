"""Whether the tables of the chains have the triggers of the migrations, and no other.

What is expected is what makes them (``append_only.py`` and the newest migration of each table).
Apps register it in ``apps.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db import connection

# Given a connection, the statements that make all triggers of a table and their functions.
Expected = Callable[[Any], Iterable[str]]

_guarded: dict[str, tuple[str, Expected]] = {}

# Of each trigger: its name, whether it fires in every session that is no replica, its statement,
# and of its function the body and whether it is as ``append_only.py`` makes one.
TRIGGERS = """
    SELECT t.tgname, t.tgenabled = 'O', pg_get_triggerdef(t.oid, true), p.prosrc,
        NOT p.prosecdef AND coalesce(p.proconfig
            = ARRAY['search_path=' || quote_ident(current_schema()) || ', pg_temp'], false)
    FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
    WHERE t.tgrelid = to_regclass(%s) AND NOT t.tgisinternal ORDER BY t.tgname
"""
# What else may have rows of a table written elsewhere, or hide them.
OTHERS = """
    SELECT 'the rule ' || rulename FROM pg_rewrite WHERE ev_class = to_regclass(%(table)s)
    UNION ALL
    SELECT 'the table below it ' || inhrelid::regclass FROM pg_inherits
        WHERE inhparent = to_regclass(%(table)s)
    UNION ALL
    SELECT 'row security' FROM pg_class WHERE oid = to_regclass(%(table)s) AND relrowsecurity
    ORDER BY 1
"""


def guard(chain: str, table: str, expected: Expected) -> None:
    """Have ``verify_audit`` compare the triggers of *table* with *expected*, as part of *chain*."""
    _guarded[table] = (chain, expected)


def wrong_triggers(chain: str) -> Iterator[str]:
    """Name each trigger of a table of *chain* that is missing, off, changed or foreign."""
    for table, (of, expected) in _guarded.items():
        if of == chain:
            look = _on_postgresql if connection.vendor == "postgresql" else _on_sqlite
            yield from look(table, list(expected(connection)))


def _named(statements: Iterable[str], what: str) -> dict[str, str]:
    """Return those of *statements* that create a *what*, by its name."""
    begins = f"CREATE {what} "
    found = (one for one in statements if one.startswith(begins))
    return {one.removeprefix(begins).split(maxsplit=1)[0]: one for one in found}


def _on_sqlite(table: str, statements: list[str]) -> Iterator[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = %s"
            " ORDER BY name",
            [table],
        )
        there = dict(cursor.fetchall())
    expected = _named(statements, "TRIGGER")
    same = {name: sql == expected.get(name) for name, sql in there.items()}
    yield from _compared(table, expected, same)


def _on_postgresql(table: str, statements: list[str]) -> Iterator[str]:
    with connection.cursor() as cursor:
        # Not a temporary table of the same name.
        cursor.execute("SELECT quote_ident(current_schema()) || '.' || quote_ident(%s)", [table])
        (place,) = cursor.fetchone()
        cursor.execute(TRIGGERS, [place])
        there = cursor.fetchall()
        cursor.execute(OTHERS, {"table": place})
        others = cursor.fetchall()
    expected = _named(statements, "TRIGGER")
    bodies = {
        name: statement.split("$$")[1] for name, statement in _named(statements, "FUNCTION").items()
    }
    same = {}
    for name, fires, statement, body, is_plain in there:
        if name in expected and not fires:
            yield f"the trigger {name} of {table} is off"
        right = bodies.get(statement.rsplit(maxsplit=1)[1])
        same[name] = is_plain and statement == expected.get(name) and body == right
    yield from _compared(table, expected, same)
    for (what,) in others:
        yield f"{table} has {what}, which no migration makes"


def _compared(table: str, expected: Iterable[str], same: dict[str, bool]) -> Iterator[str]:
    """Name what is missing of *expected*, and of *same*, what is there, all that is not."""
    for name in sorted({*expected} - same.keys()):
        yield f"the trigger {name} of {table} is missing"
    for name, is_same in same.items():
        if name not in expected:
            yield f"{table} has the trigger {name}, which no migration makes"
        elif not is_same:
            yield f"the trigger {name} of {table} is not as the migrations make it"

"""Triggers that make a table append-only, on SQLite and PostgreSQL.

On SQLite a migration that alters a protected table makes it anew and drops its triggers: such a
migration must end with ``RunPython`` of ``protect`` again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NEVER = "1 = 0"


def protect(schema_editor: Any, table: str, *, delete: str = NEVER, update: str = NEVER) -> None:
    """Refuse UPDATE, DELETE, TRUNCATE and REPLACE of rows of *table*, in place of older triggers.

    *delete* and *update* are SQL conditions on OLD (and NEW) under which one row may be deleted
    or updated. A refused statement raises IntegrityError.
    """
    release(schema_editor, table)
    make = _on_postgresql if schema_editor.connection.vendor == "postgresql" else _on_sqlite
    for statement in make(table, delete, update):
        schema_editor.execute(statement, params=None)


def release(schema_editor: Any, table: str) -> None:
    """Take the triggers of ``protect`` off *table*."""
    postgresql = schema_editor.connection.vendor == "postgresql"
    where = f" ON {table}" if postgresql else ""
    for action in ("update", "delete", "truncate", "replace"):
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_{action}_refused{where}", None)
    if postgresql:
        schema_editor.execute(f"DROP FUNCTION IF EXISTS {table}_refused()", None)


@contextmanager
def lifted(connection: Any) -> Iterator[None]:
    """Lift every such trigger for a block that empties the database: tests and benchmarks."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT tgrelid::regclass::text, tgname FROM pg_trigger"
                " WHERE tgname LIKE '%_refused'"
            )
            triggers = cursor.fetchall()
            # A table with checks that wait for the end of the transaction cannot be altered.
            now = "SET CONSTRAINTS ALL IMMEDIATE"
            before = [f"ALTER TABLE {table} DISABLE TRIGGER {name}" for table, name in triggers]
            after = [f"ALTER TABLE {table} ENABLE TRIGGER {name}" for table, name in triggers]
            before, after = [now, *before], [now, *after, "SET CONSTRAINTS ALL DEFERRED"]
        else:
            cursor.execute(
                "SELECT name, sql FROM sqlite_master"
                " WHERE type = 'trigger' AND name LIKE '%_refused'"
            )
            triggers = cursor.fetchall()
            before = [f"DROP TRIGGER {name}" for name, _sql in triggers]
            after = [sql for _name, sql in triggers]
        for statement in before:
            cursor.execute(statement)
        try:
            yield
        finally:
            for statement in after:
                cursor.execute(statement)


def _on_postgresql(table: str, delete: str, update: str) -> Iterator[str]:
    yield (
        f"CREATE FUNCTION {table}_refused() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF TG_OP = 'DELETE' THEN IF {delete} THEN RETURN OLD; END IF; END IF;"
        f" IF TG_OP = 'UPDATE' THEN IF {update} THEN RETURN NEW; END IF; END IF;"
        " RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP"
        " USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    for action, each in (("update", "ROW"), ("delete", "ROW"), ("truncate", "STATEMENT")):
        yield (
            f"CREATE TRIGGER {table}_{action}_refused BEFORE {action.upper()} ON {table}"
            f" FOR EACH {each} EXECUTE FUNCTION {table}_refused()"
        )


def _on_sqlite(table: str, delete: str, update: str) -> Iterator[str]:
    for action, allowed in (("update", update), ("delete", delete)):
        yield (
            f"CREATE TRIGGER {table}_{action}_refused BEFORE {action.upper()} ON {table}"
            f" WHEN NOT ({allowed}) BEGIN"
            f" SELECT RAISE(ABORT, '{table} is append-only: {action.upper()} refused'); END"
        )
    # INSERT OR REPLACE deletes the old row without the trigger of a DELETE.
    yield (
        f"CREATE TRIGGER {table}_replace_refused BEFORE INSERT ON {table}"
        f" WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id) BEGIN"
        f" SELECT RAISE(ABORT, '{table} is append-only: REPLACE refused'); END"
    )

"""Triggers that make a table append-only, on SQLite and PostgreSQL.

On SQLite a migration that alters a protected table makes it anew and drops its triggers: such a
migration must end with ``RunPython`` of ``protect`` again, with every condition and key of the
newest migration that protects it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

NEVER = "1 = 0"
ALWAYS = "1 = 1"
# The columns of a unique key, and the condition under which it is one (empty: always).
Keys = Mapping[tuple[str, ...], str]
ACTIONS = ("update", "delete", "truncate", "replace", "insert")
# SQLite hands out the key after the largest one: no row takes one so far above all others.
FAR = 1_000_000


def protect(schema_editor: Any, table: str, **conditions: Any) -> None:
    """Refuse UPDATE, DELETE, TRUNCATE and REPLACE of rows of *table*, in place of older triggers.

    *conditions* are those of ``statements``. A refused statement raises IntegrityError.
    """
    release(schema_editor, table)
    for statement in statements(schema_editor.connection.vendor, table, **conditions):
        schema_editor.execute(statement, params=None)


def statements(
    vendor: str,
    table: str,
    *,
    delete: str = NEVER,
    update: str = NEVER,
    insert: str = ALWAYS,
    keys: Keys | None = None,
) -> Iterable[str]:
    """Return what makes the triggers of ``protect`` on *table*; ``triggers.py`` compares with it.

    *delete*, *update* and *insert* are SQL conditions on OLD and NEW under which one row may be
    deleted, updated or inserted. *keys* are the unique keys besides ``id``: SQLite deletes a row
    that an INSERT OR REPLACE conflicts with, and fires no trigger of a DELETE.
    """
    if vendor == "postgresql":
        return _on_postgresql(table, delete, update, insert)
    return _on_sqlite(table, delete, update, insert, keys or {})


def release(schema_editor: Any, table: str) -> None:
    """Take the triggers of ``protect`` off *table*."""
    postgresql = schema_editor.connection.vendor == "postgresql"
    where = f" ON {table}" if postgresql else ""
    for action in ACTIONS:
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_{action}_refused{where}", None)
    if postgresql:
        schema_editor.execute(f"DROP FUNCTION IF EXISTS {table}_refused()", None)


def replaces(table: str, keys: Keys, but: str = "") -> str:
    """Return the SQL condition that NEW has the ``id`` or one of *keys* of a row of *table*.

    The row is ``held`` in the conditions of *keys* and in *but*, a condition on all such rows.
    """
    found = []
    for columns, where in {("id",): "", **keys}.items():
        same = [f'held."{column}" = NEW."{column}"' for column in columns]
        all_of = " AND ".join([*same, *filter(None, (where, but))])
        found.append(f"EXISTS (SELECT 1 FROM {table} AS held WHERE {all_of})")
    return " OR ".join(found)


def near_clock(vendor: str, column: str, earliest: str, latest: str) -> str:
    """Return the SQL condition that *column* is a time near that of the database's clock.

    *earliest* and *latest* are what to add to the clock, like ``-10 minutes``.
    """
    if vendor == "postgresql":
        first, last = (f"clock_timestamp() + interval '{by}'" for by in (earliest, latest))
        return f"{column} BETWEEN {first} AND {last}"
    first, last = (f"julianday('now', '{by}')" for by in (earliest, latest))
    # A text that begins with a year: SQLite takes numbers and words for times too.
    return (
        f"julianday({column}) BETWEEN {first} AND {last} AND typeof({column}) = 'text'"
        f" AND {column} GLOB '2[0-9][0-9][0-9]-*'"
    )


def key_in_order(vendor: str, table: str) -> str:
    """Return the SQL condition that NEW has a key that *table* may have handed out."""
    if vendor == "postgresql":
        return f"NEW.id > 0 AND NEW.id <= (SELECT last_value FROM {table}_id_seq)"
    below = f"(SELECT MAX(below.id) FROM {table} AS below WHERE below.id < NEW.id)"
    return f"NEW.id > 0 AND NEW.id <= {FAR} + COALESCE({below}, 0)"


def in_own_schema(function: str) -> str:
    """Return the statement of PostgreSQL that has *function* look in its own schema first.

    Without it a temporary table would stand before the one that the function reads or writes.
    """
    return (
        f"DO $do$ BEGIN EXECUTE format('ALTER FUNCTION {function}() SET search_path ="
        " %I, pg_temp', current_schema()); END $do$"
    )


@contextmanager
def lifted(connection: Any, *others: str) -> Iterator[None]:
    """Lift every such trigger for a block that empties the database, or fills an empty one.

    *others* are endings of names of further triggers to lift, like ``counted``.
    """
    endings = "|".join(("refused", *others))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT tgrelid::regclass::text, tgname FROM pg_trigger"
                " WHERE NOT tgisinternal AND tgname ~ %s",
                [f"_({endings})$"],
            )
            triggers = cursor.fetchall()
            # A table with checks that wait for the end of the transaction cannot be altered.
            now, later = (f"SET CONSTRAINTS ALL {when}" for when in ("IMMEDIATE", "DEFERRED"))
            before = [f"ALTER TABLE {table} DISABLE TRIGGER {name}" for table, name in triggers]
            after = [f"ALTER TABLE {table} ENABLE TRIGGER {name}" for table, name in triggers]
            before, after = [now, *before, later], [now, *after, later]
        else:
            cursor.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name REGEXP %s",
                [f"_({endings})$"],
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


def _on_postgresql(table: str, delete: str, update: str, insert: str) -> Iterator[str]:
    yield (
        f"CREATE FUNCTION {table}_refused() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF TG_OP = 'DELETE' THEN IF {delete} THEN RETURN OLD; END IF; END IF;"
        f" IF TG_OP = 'UPDATE' THEN IF {update} THEN RETURN NEW; END IF; END IF;"
        f" IF TG_OP = 'INSERT' THEN IF {insert} THEN RETURN NEW; END IF; END IF;"
        " RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP"
        " USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    yield in_own_schema(f"{table}_refused")
    triggers = [("update", "ROW"), ("delete", "ROW"), ("truncate", "STATEMENT")]
    triggers += [] if insert == ALWAYS else [("insert", "ROW")]
    for action, each in triggers:
        yield (
            f"CREATE TRIGGER {table}_{action}_refused BEFORE {action.upper()} ON {table}"
            f" FOR EACH {each} EXECUTE FUNCTION {table}_refused()"
        )


def _on_sqlite(table: str, delete: str, update: str, insert: str, keys: Keys) -> Iterator[str]:
    refused = f"{table} is append-only: {{}} refused"
    for action, allowed in (("UPDATE", update), ("DELETE", delete)):
        says = refused.format(action)
        yield refusal(table, action, f"BEFORE {action}", f"({allowed}) IS NOT TRUE", says)
    says = refused.format("REPLACE")
    yield refusal(table, "REPLACE", "BEFORE INSERT", replaces(table, keys), says)
    if insert != ALWAYS:
        # AFTER: a row that gets its key by itself has none before.
        says = refused.format("INSERT")
        yield refusal(table, "INSERT", "AFTER INSERT", f"({insert}) IS NOT TRUE", says)


def refusal(table: str, name: str, on: str, when: str, says: str) -> str:
    """Return the statement of a trigger of SQLite on *table* that raises *says* if *when* holds."""
    return (
        f"CREATE TRIGGER {table}_{name.lower()}_refused {on} ON {table} WHEN {when} BEGIN"
        f" SELECT RAISE(ABORT, '{says}'); END"
    )

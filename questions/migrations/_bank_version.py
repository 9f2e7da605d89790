"""The triggers that raise the version of the question bank (BankVersion).

On SQLite a migration that alters one of these tables makes it anew and drops its triggers: such a
migration must end with ``RunPython(install)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradeapp.audit.append_only import in_own_schema

# What reports keep from one look to the next is made from these tables.
TABLES = (
    "questions_dataset",
    "questions_humanrate",
    "questions_knowledge",
    "questions_labelrevision",
    "questions_question",
    "questions_questionrevision",
    "questions_task",
)
SHARDS = 16
ACTIONS = ("insert", "update", "delete")


def install(apps: Any, schema_editor: Any) -> None:
    """Put the triggers on the tables as they are now, in place of older ones."""
    remove(apps, schema_editor)
    make = _on_postgresql if schema_editor.connection.vendor == "postgresql" else _on_sqlite
    for statement in make():
        schema_editor.execute(statement, params=None)


def remove(apps: Any, schema_editor: Any) -> None:
    """Take the triggers off."""
    postgresql = schema_editor.connection.vendor == "postgresql"
    for table in TABLES:
        if postgresql:
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_versioned ON {table}", None)
            continue
        for action in ACTIONS:
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_{action}_versioned", None)
    if postgresql:
        schema_editor.execute("DROP FUNCTION IF EXISTS questions_bank_versioned()", None)


def _on_sqlite() -> Iterator[str]:
    """One trigger for each action, called once a row.

    No ON CONFLICT: the policy of the statement that fires a trigger overrides it.
    """
    for table in TABLES:
        for action in ACTIONS:
            yield (
                f"CREATE TRIGGER {table}_{action}_versioned AFTER {action.upper()} ON {table} BEGIN"
                " INSERT INTO questions_bankversion (shard, number) SELECT 0, 0"
                " WHERE NOT EXISTS (SELECT 1 FROM questions_bankversion WHERE shard = 0);"
                " UPDATE questions_bankversion SET number = number + 1 WHERE shard = 0; END"
            )


def _on_postgresql() -> Iterator[str]:
    """One function, called once a statement."""
    yield (
        "CREATE FUNCTION questions_bank_versioned() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO questions_bankversion (shard, number)"
        f" VALUES (pg_backend_pid() % {SHARDS}, 1) ON CONFLICT (shard)"
        " DO UPDATE SET number = questions_bankversion.number + 1; RETURN NULL; END $$"
    )
    yield in_own_schema("questions_bank_versioned")
    for table in TABLES:
        yield (
            f"CREATE TRIGGER {table}_versioned AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE"
            f" ON {table} FOR EACH STATEMENT EXECUTE FUNCTION questions_bank_versioned()"
        )

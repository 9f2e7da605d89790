"""R39: a migration fails at one of its statements; the tables are as before it."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.conf import settings
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.transaction import TransactionManagementError

from tests.faults.services import Postgres
from tests.faults.site import default_database

pytestmark = pytest.mark.faults
# The newest migrations of our own apps, each failed at some of its statements.
NEWEST = 8
POSTGRES_STATE = """
SELECT 'column', table_name, column_name, data_type || is_nullable || coalesce(column_default, '')
FROM information_schema.columns WHERE table_schema = 'public'
UNION ALL SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT 'index', tablename, indexname, indexdef FROM pg_indexes
WHERE schemaname = 'public'
UNION ALL SELECT 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid)
FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'migration', app, name, '' FROM django_migrations
"""
SQLITE_STATE = """
SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master
UNION ALL SELECT 'migration', app, name, '' FROM django_migrations
"""


class FailedError(Exception):
    """What a statement raises here instead of being executed."""


class Failing:
    """Raises at the statement of this number that changes something, from 1 on.

    Django notes a migration with deferred statements after its transaction. That is no statement
    of the migration; docs/operations.md says what helps a process that ends just there.
    """

    def __init__(self, number: int) -> None:
        self.number, self.seen = number, 0

    def __call__(self, execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        reads = str(sql).lstrip().upper().startswith(("SELECT", "PRAGMA", "SAVEPOINT", "RELEASE"))
        if context["connection"].in_atomic_block and not reads:
            self.seen += 1
            if self.seen == self.number:
                self.fail()
        return execute(sql, params, many, context)

    def fail(self) -> NoReturn:
        """Raise."""
        raise FailedError


def state() -> list[tuple[Any, ...]]:
    """The schema and the list of applied migrations."""
    with connection.cursor() as cursor:
        cursor.execute(POSTGRES_STATE if connection.vendor == "postgresql" else SQLITE_STATE)
        return sorted(cursor.fetchall())


def applied(key: tuple[str, str], at: int = 0) -> int:
    """Apply one migration, failing at statement *at*; the number of statements seen."""
    executor = MigrationExecutor(connection)
    failing = Failing(at)
    with connection.execute_wrapper(failing):
        executor.migrate([key])
    return failing.seen


def fail_everywhere() -> int:
    """Migrate from nothing; the newest migrations fail at several statements first."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    ours = [
        (migration.app_label, migration.name)
        for migration, _backwards in plan
        if (Path(settings.BASE_DIR) / migration.app_label).is_dir()
        or migration.app_label in ("accounts", "audit")
    ]
    newest, failures = set(ours[-NEWEST:]), 0
    for migration, _backwards in plan:
        key = (migration.app_label, migration.name)
        if key in newest:
            before = state()
            # Any number beyond the last statement fails nothing, so the first is tried first.
            for at in (1, 2, 5, 12):
                try:
                    applied(key, at)
                except (FailedError, TransactionManagementError):
                    # Django does not leave the transaction where a deferred statement or SQLite's
                    # check of foreign keys fails; the end of the command's process does.
                    failures += 1
                    end_connection()
                    assert state() == before, (key, at)
                else:
                    break
        if state_lacks(key):
            applied(key)
    return failures


def end_connection() -> None:
    """Drop the connection with its open transaction, as the end of a process does."""
    dropped = connections["default"]
    connections["default"] = dropped.copy()
    if dropped.connection is not None:
        dropped.connection.close()


def state_lacks(key: tuple[str, str]) -> bool:
    """Whether the migration is not applied."""
    return key not in MigrationExecutor(connection).loader.applied_migrations


def test_a_migration_that_fails_on_postgresql_leaves_nothing(
    postgres: Postgres, django_db_blocker: Any
) -> None:
    name = f"migrated_{uuid.uuid4().hex[:12]}"
    postgres.run(f'CREATE DATABASE "{name}"')
    with django_db_blocker.unblock(), default_database(postgres.url(name)):
        assert fail_everywhere() >= NEWEST


def test_a_migration_that_fails_on_sqlite_leaves_nothing(
    tmp_path: Path, django_db_blocker: Any
) -> None:
    url = f"sqlite:///{tmp_path / 'migrated.sqlite3'}"
    with django_db_blocker.unblock(), default_database(url):
        assert fail_everywhere() >= NEWEST

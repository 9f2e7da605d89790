"""The migrations say what the models say, and let a program of the version before go on."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django_migration_linter import MigrationLinter

# Older ones were made before this rule; those after them are held to it. Numbers of evaluations
# up to 0069 are those of work that began before it.
LAST_BEFORE = {
    "accounts": "0011_api_token",
    "audit": "0005_audit_entries_of_a_person",
    "evaluations": "0069",
    "questions": "0014_images_written_anew",
}
# What needs a stop of the web too: name it here, and say so in the changelog.
NEEDS_A_STOP: set[tuple[str, str]] = set()


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def lint(*migrations: Migration) -> MigrationLinter:
    """What the linter of migrations finds; it prints its reasons."""
    linter = MigrationLinter(no_cache=True)
    for migration in migrations:
        linter.lint_migration(migration)
    return linter


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="it is about locks of PostgreSQL")
def test_a_program_of_the_version_before_can_go_on_beside_new_migrations() -> None:
    """R37: expand, migrate, contract. A new column has a ``db_default`` or may be null; what is
    renamed or dropped was not used by the version before."""
    graph = MigrationLoader(connection).graph
    newer = sorted(key for key in graph.nodes if key[1] > LAST_BEFORE.get(key[0], "9"))
    held = [graph.nodes[key] for key in newer if key not in NEEDS_A_STOP]
    assert not lint(*held).has_errors, newer
    # The linter is awake: this one added a column that an older program does not fill.
    assert lint(graph.nodes["accounts", "0005_guesscount_pending"]).has_errors

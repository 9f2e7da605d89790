"""The migrations say what the models say, and let a program of the version before go on."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.models import Model
from django.utils import timezone
from django_migration_linter import MigrationLinter

from evaluations.models import Attempt, Endpoint, Job, Response
from tests.evaluations.conftest import endpoint, server  # noqa: F401 (fixtures)
from tests.evaluations.run_world import planned
from tests.factories import make_response

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


@pytest.mark.django_db
def test_a_worker_of_the_version_before_can_insert_what_it_knows(endpoint: Endpoint) -> None:  # noqa: F811
    """It names no column that ``0050`` or ``0056`` added: the database fills them."""
    run = planned(endpoint, 1)
    job = run.jobs.get()
    Attempt.objects.create(
        job=job, number=1, fence=1, sent_at=timezone.now(), request_hash="0" * 64
    )
    make_response(job.question, run)
    added: dict[type[Model], dict[str, object]] = {
        Attempt: {"params": {}, "images": [], "images_omitted": 0, "option_order": ""},
        Response: {"images_omitted": 0, "images_sent": 0, "option_order": ""},
        Job: {"step": 1},
        Endpoint: {"max_temperature": 2.0, "takes_images": False, "max_completion_tokens": False},
    }
    values = {
        Attempt: {"key": uuid4().hex, "number": "2"},
        Response: {"public_id": uuid4().hex, "repeat": "2"},
        Job: {"repeat": "2"},
        Endpoint: {"name": "another"},
    }
    for model, filled in added.items():
        columns = [
            field.column for field in model._meta.concrete_fields if field.name not in filled
        ]
        kept = {name: name for name in columns if name != "id"}
        kept |= {name: "%s" for name in values[model] if name in kept}
        given = [values[model][name] for name in kept if kept[name] == "%s"]
        names = ", ".join(f'"{name}"' for name in kept)
        copied = ", ".join(value if value == "%s" else f'"{value}"' for value in kept.values())
        table = model._meta.db_table
        statement = f"INSERT INTO {table} ({names}) SELECT {copied} FROM {table}"
        with connection.cursor() as cursor:
            cursor.execute(statement, given)
        newest = model._default_manager.order_by("-pk").values(*filled).first()
        assert newest == filled, model

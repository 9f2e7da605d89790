"""A folder and a migrated database of a benchmark's own, gone when it ends.

Import no module of Django's before ``own_database`` is entered: it is what sets
the environment that the settings are read from.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# What would change what is measured, or send it somewhere.
NOT_HERE = (
    *("ALLOWED_HOSTS", "CELERY_BROKER_URL", "DATABASE_URL", "DEBUG", "GRADEAPP_DEMO"),
    *("GRADEAPP_HTTPS", "SECRET_KEY"),
)


# Names a migrated SQLite database that is copied instead of migrating once more.
TEMPLATE = "GRADEAPP_BENCH_TEMPLATE"


@contextmanager
def template_database() -> Iterator[None]:
    """While this lasts, benchmarks that are started on SQLite copy one migrated database."""
    with own_database():
        from django.db import connection, connections

        connections.close_all()
        os.environ[TEMPLATE] = str(connection.settings_dict["NAME"])
        try:
            yield
        finally:
            del os.environ[TEMPLATE]


@contextmanager
def own_database() -> Iterator[Path]:
    """A new folder as ``GRADEAPP_VAR`` with Django set up on a migrated database.

    SQLite in the folder; with a PostgreSQL in ``DATABASE_URL``, a database of a
    name of our own beside the one that it names, which is not touched.
    """
    url = os.environ.get("DATABASE_URL", "")
    with tempfile.TemporaryDirectory(prefix="gradeapp-bench-") as folder:
        for name in NOT_HERE:
            os.environ.pop(name, None)
        os.environ |= {"GRADEAPP_VAR": folder, "DJANGO_SETTINGS_MODULE": "gradeapp.settings"}
        os.environ["ENDPOINT_ALLOW_CIDRS"] = "127.0.0.0/8"
        os.environ["GRADEAPP_SECOND_FACTOR"] = "none"
        if not url.startswith("postgres"):
            yield from _migrated(Path(folder))
            return
        name = f"gradeapp_bench_{os.getpid()}"
        _on_postgresql(url, f'CREATE DATABASE "{name}"')
        os.environ["DATABASE_URL"] = urlsplit(url)._replace(path=f"/{name}").geturl()
        try:
            yield from _migrated(Path(folder))
        finally:
            _on_postgresql(url, f'DROP DATABASE "{name}" WITH (FORCE)')


def _migrated(folder: Path) -> Iterator[Path]:
    import django
    from django.core.management import call_command
    from django.db import connection, connections

    django.setup()
    template = os.environ.get(TEMPLATE)
    if template and connection.vendor == "sqlite":
        shutil.copyfile(template, connection.settings_dict["NAME"])
    else:
        call_command("migrate", verbosity=0)
    try:
        yield folder
    finally:
        connections.close_all()


def client_of(role: str) -> Any:
    """Return a test client in which a person with *role* is logged in."""
    from django.test import Client

    from gradeapp.accounts.roles import Role
    from gradeapp.accounts.services import ensure_user, sync_roles

    sync_roles()
    client = Client(headers={"host": "localhost"})
    person = ensure_user(f"bench-{role}", roles=[Role(role)], password=f"bench-{role}-password")
    client.force_login(person)
    return client


def _on_postgresql(url: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


def engine() -> str:
    """The database that is measured, as a word for the detail of a figure."""
    from django.db import connection

    return "PostgreSQL" if connection.vendor == "postgresql" else "SQLite"

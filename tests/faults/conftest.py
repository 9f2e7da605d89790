"""One migrated database of each kind for all fault tests; each test works on a copy."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.database_template import sqlite_template
from tests.faults.services import Postgres, Redis
from tests.faults.site import Site, site_on_postgres, site_on_sqlite

TEMPLATE = "template_gradeapp"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL of the fault tests with a migrated template database."""
    # Not in pytest's folder: the cluster's user, who is not root, must be able to enter it.
    with tempfile.TemporaryDirectory(prefix="gradeapp-faults-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        cluster = Postgres(folder / "c")
        try:
            cluster.run(f'CREATE DATABASE "{TEMPLATE}"')
            migrated = Site(folder, cluster.url(TEMPLATE)).manage("migrate", "--verbosity", "0")
            assert migrated.returncode == 0, migrated.stderr
            yield cluster
        finally:
            cluster.stop()


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[Redis]:
    """A Redis of the test's own."""
    server = Redis(tmp_path / "redis")
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def site(
    postgres: Postgres, tmp_path: Path, django_db_blocker: pytest.FixtureRequest
) -> Iterator[Site]:
    """An installation on PostgreSQL; the ORM of the test talks to its database."""
    with unblocked(django_db_blocker), site_on_postgres(postgres, tmp_path, TEMPLATE) as made:
        yield made


@pytest.fixture
def sqlite_site(tmp_path: Path, django_db_blocker: pytest.FixtureRequest) -> Iterator[Site]:
    """An installation on SQLite; the ORM of the test talks to its file."""
    with unblocked(django_db_blocker), site_on_sqlite(tmp_path, sqlite_template()) as made:
        yield made


@contextmanager
def unblocked(blocker) -> Iterator[None]:  # type: ignore[no-untyped-def]
    """Let the ORM be used: pytest-django guards only the database of the usual suite."""
    with blocker.unblock():
        yield

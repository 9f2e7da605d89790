"""One migrated database of each kind for all fault tests; each test works on a copy."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.database_template import postgres_dump, sqlite_template
from tests.faults.services import Postgres, Redis, program
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
            restore(cluster, postgres_dump(lambda file: dump(cluster, folder, file)))
            yield cluster
        finally:
            cluster.stop()


def dump(cluster: Postgres, folder: Path, file: Path) -> None:
    """Migrate a database of *cluster*, which takes a minute, and dump it to *file*."""
    cluster.run("CREATE DATABASE migrated")
    url = cluster.url("migrated")
    migrated = Site(folder, url).manage("migrate", "--verbosity", "0")
    assert migrated.returncode == 0, migrated.stderr
    subprocess.run([program("pg_dump"), "--no-owner", "-f", str(file), url], check=True)


def restore(cluster: Postgres, file: Path) -> None:
    """Fill the template database of *cluster* from the dump."""
    command = [program("psql"), "-q", "-o", os.devnull, "-v", "ON_ERROR_STOP=1", "-f", str(file)]
    subprocess.run([*command, cluster.url(TEMPLATE)], check=True)


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

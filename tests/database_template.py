"""One migrated database for all test runs on this machine: migrating takes half a minute.

It has the groups of the roles. It is made anew when a migration, a setting, a role or the version
of Django changes.
``python -m tests.database_template`` makes it ahead of a test run.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import django
import psycopg
from psycopg import sql

ROOT = Path(__file__).resolve().parent.parent
NAME = "gradeapp_template_"
FOLDER = Path(tempfile.gettempdir()) / f"gradeapp-tests-{os.getuid()}"


def sqlite_template() -> Path:
    """Return a migrated SQLite file; a test run copies it."""
    made = FOLDER / f"{_fingerprint()}.sqlite3"
    with _locked():
        if not made.exists():
            unfinished = made.with_suffix(".unfinished")
            unfinished.unlink(missing_ok=True)
            _migrate(f"sqlite:///{unfinished}")
            unfinished.rename(made)
    return made


def postgres_dump(make: Callable[[Path], None]) -> Path:
    """Return a dump of a migrated PostgreSQL, which *make* writes to a path where there is none."""
    made = FOLDER / f"{_fingerprint()}.sql"
    with _locked():
        if not made.exists():
            unfinished = made.with_suffix(".sql-unfinished")
            make(unfinished)
            unfinished.rename(made)
    return made


def postgres_template(url: str) -> str:
    """Return the name of a migrated database on the server of *url*; a test run copies it."""
    name = f"{NAME}{_fingerprint()}"
    unfinished = f"{name}_unfinished"
    with _locked(), psycopg.connect(url, autocommit=True) as server:
        known = server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        if known.fetchone() is None:
            _drop_templates(server)
            old, new = sql.Identifier(unfinished), sql.Identifier(name)
            server.execute(sql.SQL("CREATE DATABASE {}").format(old))
            _migrate(urlunsplit(urlsplit(url)._replace(path=f"/{unfinished}")))
            server.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(old, new))
    return name


def _drop_templates(server: psycopg.Connection) -> None:
    """Drop the templates of earlier versions."""
    found = server.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"{NAME}%"])
    for (name,) in found.fetchall():
        server.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(name)))


def _migrate(url: str) -> None:
    with tempfile.TemporaryDirectory() as var:
        given = {**os.environ, "DATABASE_URL": url, "GRADEAPP_VAR": var}
        for command in ("migrate", "sync_roles"):
            run = [sys.executable, "manage.py", command, "--verbosity", "0"]
            subprocess.run(run, cwd=ROOT, env=given, check=True)


def _fingerprint() -> str:
    """Return the digest of all that migrations can depend on."""
    digest = hashlib.sha256(django.get_version().encode())
    files = [*ROOT.glob("*/migrations/*.py"), *ROOT.glob("*/*/migrations/*.py")]
    files += [ROOT / "gradeapp" / "settings.py", ROOT / "gradeapp" / "audit" / "append_only.py"]
    files += [Path(__file__), ROOT / "gradeapp" / "accounts" / "roles.py"]
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def _locked() -> Iterator[None]:
    """Let one process at a time make a template."""
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    given = os.environ.get("DATABASE_URL", "")
    print(postgres_template(given) if given.startswith("postgres") else sqlite_template())

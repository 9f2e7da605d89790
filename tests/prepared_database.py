"""One migrated database, which every process of the tests copies instead of migrating its own.

    python -m tests.prepared_database make     migrate it, and print its name
    python -m tests.prepared_database drop     remove it (PostgreSQL; the file goes with its folder)

It belongs to the database in ``DATABASE_URL``; on SQLite it is a file in ``GRADEAPP_VAR``.
``.ci/tests`` makes it while the form of the code is checked. Without it, as with ``pytest``
alone, each process migrates a database of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

# Names the prepared database: a file, or a database beside the one of DATABASE_URL.
PREPARED = "GRADEAPP_PREPARED"
ROOT = Path(__file__).resolve().parent.parent


def prepared() -> str:
    """The file or the name of the prepared database, empty where there is none."""
    return os.environ.get(PREPARED, "")


def make() -> str:
    """Migrate it and return what it is called; raises CalledProcessError where that fails."""
    url = os.environ.get("DATABASE_URL", "")
    if url.startswith("postgres"):
        name = _beside(url)
        drop()
        _run(url, f'CREATE DATABASE "{name}"')
        own = urlsplit(url)._replace(path=f"/{name}").geturl()
    else:
        name = str(Path(os.environ["GRADEAPP_VAR"]) / "prepared.sqlite3")
        own = f"sqlite:///{name}"
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"DATABASE_URL": own}, check=True)
    return name


def drop() -> None:
    """Remove it from PostgreSQL."""
    url = os.environ.get("DATABASE_URL", "")
    if url.startswith("postgres"):
        _run(url, f'DROP DATABASE IF EXISTS "{_beside(url)}" WITH (FORCE)')


def _beside(url: str) -> str:
    return f"prepared_{urlsplit(url).path.strip('/')}"


def _run(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


if __name__ == "__main__":
    if sys.argv[1:] == ["make"]:
        print(make())
    elif sys.argv[1:] == ["drop"]:
        drop()
    else:
        sys.exit(__doc__)

"""A whole installation for a test: database, folder, web server and worker as child processes."""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import connections
from django.db.utils import ConnectionHandler

from bench.browsing import Browser
from evaluations.management.commands.serve import answers, free_port, web, worker
from gradeapp.accounts.models import User
from gradeapp.accounts.session_rules import BEGAN, SEEN
from gradeapp.env import Environment
from tests.faults.services import FIRST_PORT, HOST, Postgres, Process

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "t" * 32


@contextmanager
def default_database(url: str) -> Iterator[None]:
    """While this lasts, the ORM of this thread talks to *url*."""
    given = Environment({"DATABASE_URL": url}).database("DATABASE_URL", Path("unused"))
    before, own = connections["default"], ConnectionHandler({"default": given})
    connections["default"] = own["default"]
    try:
        yield
    finally:
        connections["default"].close()
        connections["default"] = before


class Site:
    """The processes of one installation; all end with :meth:`stop`."""

    def __init__(self, folder: Path, database_url: str, **environment: str) -> None:
        self.folder, self.var = folder, folder / "var"
        self.var.mkdir(parents=True, exist_ok=True)
        own = {
            "DATABASE_URL": database_url,
            "GRADEAPP_VAR": str(self.var),
            "SECRET_KEY": settings.SECRET_KEY,
            "CLOCK_SECONDS": "1",
            "RUN_LEASE_SECONDS": "5",
            "DJANGO_SETTINGS_MODULE": "gradeapp.settings",
            **environment,
        }
        inherited = {k: v for k, v in os.environ.items() if k != "CELERY_BROKER_URL"}
        self.environment = {**inherited, **own}
        self.port = 0
        self.processes: list[Process] = []
        self._processes = ExitStack()

    def web(self, *, largest_file: int | None = None, **environment: str) -> Process:
        """Start gunicorn as ``serve`` does; it can write no file beyond *largest_file* bytes."""
        self.port = free_port(HOST, FIRST_PORT + 8000)
        started = self._start(web(HOST, self.port).command, "web", largest_file, environment)
        started.ready(lambda: answers(HOST, self.port))
        return started

    def worker(self, *, largest_file: int | None = None, **environment: str) -> Process:
        """Start Celery with its clock as ``serve`` does."""
        return self._start(worker().command, "worker", largest_file, environment)

    def manage(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command of manage.py to its end."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )

    def browser(self, person: User) -> Browser:
        """A browser in which *person* is logged in."""
        session = SessionStore()
        session[SESSION_KEY] = str(person.pk)
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        session[HASH_SESSION_KEY] = person.get_session_auth_hash()
        session[BEGAN] = session[SEEN] = time.time()
        session.create()
        browser = Browser(self.port)
        assert session.session_key
        browser.cookies = {self.cookie_name: session.session_key, "csrftoken": TOKEN}
        return browser

    @property
    def cookie_name(self) -> str:
        """The name of the session cookie, which depends on the folder."""
        return "gradeapp_" + hashlib.sha256(str(self.var).encode()).hexdigest()[:8]

    def also(self, process: Process) -> None:
        """End *process* with the others."""
        self._processes.callback(process.stop)

    def stop(self) -> None:
        """End every process."""
        self._processes.close()

    def _start(
        self,
        command: Any,
        name: str,
        largest_file: int | None,
        environment: Mapping[str, str],
    ) -> Process:
        def bounded() -> None:
            if largest_file is not None:
                hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, hard))

        log = self.folder / f"{name}.log"
        process = Process(
            command, log, cwd=ROOT, env={**self.environment, **environment}, preexec_fn=bounded
        )
        self.processes.append(process)
        self._processes.callback(process.stop)
        return process


@contextmanager
def site_on_postgres(
    postgres: Postgres, folder: Path, template: str, **environment: str
) -> Iterator[Site]:
    """A site on a new database, copied from a migrated one."""
    name = f"site_{uuid.uuid4().hex[:12]}"
    postgres.run(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    site = Site(folder, postgres.url(name), **environment)
    try:
        with default_database(postgres.url(name)):
            yield site
    finally:
        site.stop()


@contextmanager
def site_on_sqlite(folder: Path, template: Path, **environment: str) -> Iterator[Site]:
    """A site on a copy of a migrated file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "gradeapp.sqlite3"
    shutil.copyfile(template, file)
    site = Site(folder, f"sqlite:///{file}", **environment)
    try:
        with default_database(f"sqlite:///{file}"):
            yield site
    finally:
        site.stop()

"""Real Celery workers for tests: started, killed, and waited for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from django.db import connection

ROOT = Path(__file__).resolve().parent.parent
StartWorker = Callable[[], "subprocess.Popen[bytes]"]


def database_url() -> str:
    """The test database as another process names it."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


@contextmanager
def celery_workers(environment: dict[str, str], *, concurrency: int) -> Iterator[StartWorker]:
    """Starts Celery with its clock, each in a process group of its own; kills all at the end."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "celery", "-A", "gradeapp", "worker", "--beat"]
        options = ["--concurrency", str(concurrency), "--without-mingle", "--without-gossip"]
        quiet = ["--loglevel", "ERROR"]
        started.append(
            subprocess.Popen(
                [*command, *options, *quiet], cwd=ROOT, env=environment, start_new_session=True
            )
        )
        return started[-1]

    try:
        yield start
    finally:
        for process in started:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """kill -9 for the worker and everything that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until(what: Callable[[], bool], seconds: float = 300) -> None:
    """Wait for *what*; a test that waits in vain fails instead of hanging."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)

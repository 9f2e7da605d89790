"""The web server as ``serve`` starts it, for tests that speak to its socket."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluations.management.commands.serve import answers, free_port, web
from tests.worker_processes import ROOT, kill, wait_until

HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    free = free_port(HOST, 19700 + os.getpid() % 900)
    folder: Path = tmp_path_factory.mktemp("var")
    process = subprocess.Popen(
        web(HOST, free).command,
        cwd=ROOT,
        env=os.environ | {"GRADEAPP_VAR": str(folder), "DATABASE_URL": "", "SECRET_KEY": ""},
        start_new_session=True,
    )
    try:
        wait_until(lambda: answers(HOST, free), 60)
        yield free
        assert process.poll() is None
    finally:
        kill(process)

"""Start a server of this package as a process of its own, as ``serve`` does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def run_module(
    module: str, *arguments: str, options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run *module* to its end; *options* are for the interpreter."""
    return subprocess.run(
        [sys.executable, *options, "-m", module, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@contextmanager
def serving(module: str, *arguments: str) -> Iterator[str]:
    """The base URL that *module* says it listens on; the process is terminated at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, "--port", "0", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        status = process.wait(timeout=20)
        process.stdout.close()
    assert status == 0

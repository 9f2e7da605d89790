"""Runs one function on an untrusted file in a child process with limits on memory and time.

Parsers of archives, workbooks and images can be made to use any amount of memory and time by a
small file. So they run in a process of their own: what they use up is theirs, and a crash of a
parser's C code ends the child and not a web worker. The child gets the file, JSON arguments and no
environment of ours (no keys, no address of a database); it answers with JSON.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import BoundedSemaphore
from typing import IO, Any

logger = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parents[2]
# Of the four threads of a web process (gradeapp/gunicorn_config.py); others wait so many seconds.
AT_ONCE = 2
WAIT = 1.0
# Of the processor, pages come first.
NICENESS = 10
OUT_OF_MEMORY = 97
# numpy, which openpyxl loads where it is installed, reserves memory for each thread.
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR")
_children = BoundedSemaphore(AT_ONCE)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that a child may use. Memory is address space; seconds are of CPU and of a clock."""

    memory_bytes: int = 512 * 2**20
    cpu_seconds: int = 10
    clock_seconds: int = 20
    answer_bytes: int = 64 * 2**20
    file_bytes: int = 256 * 2**20


class Why(StrEnum):
    """Why a child gave no answer."""

    MEMORY = "memory"
    TIME = "time"  # of the processor
    CLOCK = "clock"  # as on a busy machine
    CRASH = "crash"
    BUSY = "busy"  # others are at work


class Exceeded(Exception):
    """The child reached a limit, crashed or was not started; there is no answer."""

    def __init__(self, why: Why) -> None:
        super().__init__(f"no answer of the child process: {why}")
        self.why = why


def isolated(
    function: str,
    source: IO[bytes],
    *arguments: Any,
    bounds: Bounds | None = None,
    wait: float | None = None,
) -> Any:
    """Call *function* ("package.module:name") with *source* and *arguments* in a child process.

    *source* is an open file with a descriptor; the child reads it from where it stands. The
    arguments and the answer are JSON values. Raises Exceeded, with ``Why.BUSY`` where
    ``AT_ONCE`` other children of this process are at work for *wait* seconds more (``WAIT``).
    """
    bounds = bounds or Bounds()
    request = json.dumps(
        [function, arguments, bounds.memory_bytes, bounds.cpu_seconds, bounds.file_bytes]
    )
    variables = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    if not _children.acquire(timeout=WAIT if wait is None else wait):
        raise Exceeded(Why.BUSY)
    try:
        with tempfile.TemporaryFile() as answer:
            child = subprocess.run(
                [sys.executable, "-m", __name__, request],
                stdin=source,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                cwd=ROOT,
                env=variables | ENVIRONMENT,
                timeout=bounds.clock_seconds,
                check=False,
            )
            _check(child.returncode, function)
            answer.seek(0)
            text = answer.read(bounds.answer_bytes + 1)
    except subprocess.TimeoutExpired:
        logger.warning("%s: stopped after %s seconds", function, bounds.clock_seconds)
        raise Exceeded(Why.CLOCK) from None
    finally:
        _children.release()
    if len(text) > bounds.answer_bytes:
        raise Exceeded(Why.MEMORY)
    return json.loads(text)


def isolated_bytes(
    function: str, content: bytes, *arguments: Any, bounds: Bounds | None = None
) -> Any:
    """The same for a file in memory."""
    with tempfile.TemporaryFile() as source:
        source.write(content)
        source.seek(0)
        return isolated(function, source, *arguments, bounds=bounds)


def _check(status: int, function: str) -> None:
    """Raise Exceeded unless the child ended well."""
    if status == 0:
        return
    logger.warning("%s: the child process ended with status %s", function, status)
    if status == OUT_OF_MEMORY:
        raise Exceeded(Why.MEMORY)
    if -status in (signal.SIGXCPU, signal.SIGKILL):
        raise Exceeded(Why.TIME)
    raise Exceeded(Why.CRASH)


def _limit(memory_bytes: int, cpu_seconds: int, file_bytes: int) -> None:
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def answer(request: Sequence[Any], source: IO[bytes]) -> str:
    """What the child does: limit itself, load the function, call it, return its answer as JSON."""
    function, arguments, *limits = request
    _limit(*limits)
    module, name = function.split(":")
    return json.dumps(getattr(importlib.import_module(module), name)(source, *arguments))


def main() -> None:
    """Answer on standard output; the status says when memory was short."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no part of the answer
    try:
        with out:
            out.write(answer(json.loads(sys.argv[1]), sys.stdin.buffer))
    except MemoryError:
        os._exit(OUT_OF_MEMORY)


if __name__ == "__main__":
    main()

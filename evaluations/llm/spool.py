"""Keep results of calls in a file of JSON lines while the database cannot store them.

A result that was paid for must survive a locked database and a killed process. ``append`` returns
when the lines are on the disk; ``replay`` delivers them and removes the file after that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from evaluations.llm.client import CallResult


def append(path: Path, results: Sequence[CallResult]) -> None:
    """Add *results* to the file at *path* and wait until they are on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(result.as_dict()) + "\n" for result in results)
    # O_APPEND: two processes may share the file. 0600: answers are not public.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        # A line that a killed process did not end must not swallow the first new one.
        size = os.fstat(descriptor).st_size
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        file.write((b"\n" if torn else b"") + lines.encode())
        file.flush()
        os.fsync(descriptor)


def read(path: Path) -> tuple[list[CallResult], list[bytes]]:
    """Return the results in the file and its unreadable lines; both are empty without a file.

    A line is unreadable if the process died while it wrote it. The answer of that call is unknown.
    """
    results: list[CallResult] = []
    unreadable: list[bytes] = []
    for line in path.read_bytes().splitlines() if path.exists() else []:
        try:
            results.append(CallResult.from_dict(json.loads(line)))
        except (ValueError, KeyError, TypeError):
            unreadable.append(line)
    return results, unreadable


def replay(path: Path, deliver: Callable[[Sequence[CallResult]], None]) -> int:
    """Deliver the spooled results, then remove the file. Returns how many there were.

    *deliver* must accept a result a second time, because the process may die between the two steps.
    Unreadable lines are moved to a file with the suffix ``.unreadable``. Call it before a pump
    starts with the same file.
    """
    results, unreadable = read(path)
    if results:
        deliver(results)
    if unreadable:
        with path.with_suffix(".unreadable").open("ab") as kept:
            kept.writelines(line + b"\n" for line in unreadable)
    path.unlink(missing_ok=True)
    return len(results)

"""Where paid answers wait when the database cannot take them: JSON lines, on the disk at once.

An outcome that was paid for must outlive a full disk, a locked database and a
killed process. ``append`` returns only when the lines are on the disk;
``replay`` hands them in again and removes the file only after that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from evaluations.llm.outcome import Outcome


def append(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Add *outcomes* to the file at *path* and wait until they are on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(outcome.as_dict()) + "\n" for outcome in outcomes)
    # O_APPEND: two processes may share the file. 0600: answers are not public.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        file.write(_fresh_line(descriptor) + lines.encode())
        file.flush()
        os.fsync(descriptor)


def read(path: Path) -> tuple[list[Outcome], list[bytes]]:
    """The outcomes in the file and the lines that cannot be read; both empty without a file.

    A line is unreadable when the process died while it wrote: the call behind
    it is then one whose answer is unknown.
    """
    outcomes: list[Outcome] = []
    unreadable: list[bytes] = []
    for line in path.read_bytes().splitlines() if path.exists() else []:
        try:
            outcomes.append(Outcome.from_dict(json.loads(line)))
        except (ValueError, KeyError, TypeError):
            unreadable.append(line)
    return outcomes, unreadable


def replay(path: Path, deliver: Callable[[Sequence[Outcome]], None]) -> int:
    """Hand the spooled outcomes to *deliver*, then remove the file; how many there were.

    *deliver* must bear an outcome that it has seen before: a crash between the
    two steps brings them again. Unreadable lines are kept beside the file, with
    the suffix ``.unreadable``. Call it before a pump starts on the same file.
    """
    outcomes, unreadable = read(path)
    if outcomes:
        deliver(outcomes)
    if unreadable:
        with path.with_suffix(".unreadable").open("ab") as kept:
            kept.writelines(line + b"\n" for line in unreadable)
    path.unlink(missing_ok=True)
    return len(outcomes)


def _fresh_line(descriptor: int) -> bytes:
    """A line break where the last line is torn, so that the next one stands alone."""
    size = os.fstat(descriptor).st_size
    torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    return b"\n" if torn else b""

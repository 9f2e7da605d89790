"""Keep results of calls in files of JSON lines until the database has stored them.

A result that was paid for must survive a locked database and a killed process. Each result is
written to a file when it arrives (``Arrivals``), so that it survives the process. What the database
refuses is added to a spool by ``append``, which returns when the lines are on the disk.
``replay`` delivers the results of either file and removes it after that.

Whoever writes or replays a file holds a lock on it (``flock``), which ends with the process.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from evaluations.llm.client import CallResult


def append(path: Path, results: Sequence[CallResult]) -> None:
    """Add *results* to the file at *path* and wait until they are on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(_locked(path), "ab") as file:
        # A line that a killed process did not end must not swallow the first new one.
        size = os.fstat(file.fileno()).st_size
        torn = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
        file.write((b"\n" if torn else b"") + b"".join(_line(one) for one in results))
        file.flush()
        os.fsync(file.fileno())


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


def replay(
    path: Path, deliver: Callable[[Sequence[CallResult]], Sequence[CallResult] | None]
) -> int:
    """Deliver the results in the file, then remove it. Returns how many there were.

    A file that another process or pump writes or replays is left alone. *deliver* must accept a
    result a second time, because the process may die between the two steps. Unreadable lines, and
    the results that it returns as those of no call, go to a file with the suffix ``.unreadable``.
    """
    if not path.exists():
        return 0
    try:
        descriptor = _locked(path, wait=False)
    except BlockingIOError:
        return 0
    try:
        results, unreadable = read(path)
        if results:
            unreadable += [_line(one).rstrip() for one in deliver(results) or ()]
        if unreadable:
            with os.fdopen(_private(path.with_suffix(".unreadable")), "ab") as kept:
                kept.writelines(line + b"\n" for line in unreadable)
        path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)
    return len(results)


def _private(path: Path) -> int:
    """Open a file of replies to add to it, for its owner alone."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


class Arrivals:
    """Files for results that have arrived and are not stored, beside the spool at *path*.

    Two files are used in turn: while the results in one are stored, new ones are written to the
    other. Lines are not synchronized to the disk: they survive the process, not the machine. A full
    disk is no error, because the results are still in memory.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._paths = [path.with_name(f"{path.stem}-arrived-{n}{path.suffix}") for n in (1, 2)]
        self._files = [_locked(one) for one in self._paths]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Remove the files; after an OSError, which the spool raised, they stay to be replayed."""
        if kind is None or not issubclass(kind, OSError):
            for path in self._paths:
                path.unlink(missing_ok=True)
        for file in self._files:
            os.close(file)

    def add(self, result: CallResult) -> None:
        """Write *result*."""
        end = os.fstat(self._files[0]).st_size
        line = _line(result)
        try:
            complete = os.write(self._files[0], line) == len(line)
        except OSError:
            complete = False
        if not complete:
            os.ftruncate(self._files[0], end)

    def turn(self) -> None:
        """Use the other file; the results in this one are stored next."""
        self._files.reverse()

    def stored(self) -> None:
        """Empty the file that is not in use: its results are stored or spooled."""
        os.ftruncate(self._files[1], 0)


def _line(result: CallResult) -> bytes:
    return json.dumps(result.as_dict()).encode() + b"\n"


def _locked(path: Path, *, wait: bool = True) -> int:
    """Open *path* for reading and adding, and lock it. Returns the descriptor.

    Raises BlockingIOError without *wait* if somebody else holds the lock.
    """
    while True:
        # O_APPEND: two processes may share the file. 0600: answers are not public.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            # Whoever held the lock before may have removed the file.
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)

"""Names of workers, and which of them have ended.

On a system without /proc no worker is known to have ended, and every lease has to expire.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterable
from pathlib import Path

from evaluations.runs.rules.owners import (
    ProcessState,
    has_ended,
    name_of,
    owner_in,
    place_of,
    state_in,
)

PROC = Path("/proc")


def new_name() -> str:
    """Return a new name for this process."""
    pid = os.getpid()
    token = uuid.uuid4().hex[:8]
    return name_of(socket.gethostname(), pid, token, state_of(pid).started, here())


def here() -> str | None:
    """Return the place of this process; None if /proc is missing or of another namespace."""
    try:
        if os.readlink(PROC / "self") != str(os.getpid()):
            return None
        boot_id = (PROC / "sys/kernel/random/boot_id").read_text()
        return place_of(boot_id, os.readlink(PROC / "self/ns/pid"))
    except OSError:
        return None


def state_of(pid: int) -> ProcessState:
    """Return the present state of *pid*."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ProcessState(exists=False)
    except OSError:
        pass  # it exists, and belongs to another user
    try:
        return state_in((PROC / str(pid) / "stat").read_text(errors="replace"))
    except OSError:
        return ProcessState(exists=True)


def ended_workers(names: Iterable[str]) -> list[str]:
    """Return those of *names* whose process has certainly ended."""
    place = here()
    owners = ((name, owner_in(name)) for name in names)
    return [
        name
        for name, owner in owners
        if owner is not None and has_ended(owner, place, state_of(owner.pid))
    ]

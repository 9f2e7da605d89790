"""The names under which workers hold runs and jobs, and which of them are surely gone.

Where the system does not tell of its processes, no worker is ever surely gone
and every lease is waited for.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterable
from pathlib import Path

from evaluations.runs.rules.owners import Sight, name_of, owner_in, place_of, sight_in, surely_gone

PROC = Path("/proc")


def new_name() -> str:
    """A name for this process, another one at each call."""
    pid = os.getpid()
    token = uuid.uuid4().hex[:8]
    return name_of(socket.gethostname(), pid, token, sight_of(pid).started, here())


def here() -> str | None:
    """The place where this process runs; None where /proc is missing or of another place."""
    try:
        if os.readlink(PROC / "self") != str(os.getpid()):
            return None
        boot_id = (PROC / "sys/kernel/random/boot_id").read_text()
        return place_of(boot_id, os.readlink(PROC / "self/ns/pid"))
    except OSError:
        return None


def sight_of(pid: int) -> Sight:
    """What the system says of *pid* now."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return Sight(exists=False)
    except OSError:
        pass  # somebody else's, but there
    try:
        return sight_in((PROC / str(pid) / "stat").read_text(errors="replace"))
    except OSError:
        return Sight(exists=True)


def gone(names: Iterable[str]) -> list[str]:
    """Those of *names* whose process is surely gone."""
    place = here()
    owners = ((name, owner_in(name)) for name in names)
    return [
        name
        for name, owner in owners
        if owner is not None and surely_gone(owner, place, sight_of(owner.pid))
    ]

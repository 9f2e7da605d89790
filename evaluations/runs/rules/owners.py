"""Decide whether the process that holds a lease has certainly ended, so that it need not expire.

The name of a holder contains the place and the start time of its process. Only a process in the
same place (the same boot of the same machine, and the same PID namespace) can check it. In all
other cases the lease has to expire.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

# The longest name that the columns hold.
NAME_LENGTH = 64
HOST_LENGTH = 20
PLACE_LENGTH = 12
MOST_PID = 2**31 - 1
# Indexes of the fields of /proc/PID/stat after the name in brackets (fields 3 and 22).
STATE, STARTED = 0, 19
DEAD = frozenset("ZXx")


@dataclass(frozen=True, slots=True)
class Owner:
    """A process: its PID, its start in clock ticks since boot, and its place."""

    pid: int
    started: int
    place: str


@dataclass(frozen=True, slots=True)
class ProcessState:
    """The present state of a PID; ``started`` is None if unknown."""

    exists: bool
    started: int | None = None


def place_of(boot_id: str, pid_namespace: str) -> str:
    """Return a short identifier of a boot of a machine and a PID namespace."""
    both = f"{boot_id.strip()} {pid_namespace.strip()}"
    return hashlib.sha256(both.encode()).hexdigest()[:PLACE_LENGTH]


def name_of(host: str, pid: int, token: str, started: int | None, place: str | None) -> str:
    """Return ``host:pid:token``, with ``:started:place`` if known; at most 64 characters.

    *host* is shortened and only for people; *token* distinguishes two holders in one process.
    """
    name = f"{host[:HOST_LENGTH].replace(':', '-')}:{pid}:{token}"
    if started is None or place is None:
        return name
    return f"{name}:{started}:{place}"


def owner_in(name: str) -> Owner | None:
    """Return the process in *name*; None if it is incomplete."""
    parts = name.split(":")
    if len(parts) != 5:
        return None
    _host, pid, _token, started, place = parts
    numbers = all(part.isascii() and part.isdecimal() for part in (pid, started))
    if not numbers or not 0 < int(pid) <= MOST_PID or len(place) != PLACE_LENGTH:
        return None
    return Owner(int(pid), int(started), place)


def state_in(stat: str) -> ProcessState:
    """Return the state in the text of ``/proc/PID/stat``; zombies do not exist.

    The program's name in brackets may contain any character, also brackets. A text of another form
    means only that the process exists.
    """
    fields = stat.rpartition(")")[2].split()
    if len(fields) <= STARTED or not fields[STARTED].isdecimal():
        return ProcessState(exists=True)
    if fields[STATE] in DEAD:
        return ProcessState(exists=False)
    return ProcessState(exists=True, started=int(fields[STARTED]))


def has_ended(owner: Owner, place: str | None, state: ProcessState) -> bool:
    """Return whether *owner* has certainly ended, by the *state* of its PID in *place*.

    True if the PID does not exist or belongs to a process with another start time. False for an
    owner of another place, and if anything is unknown.
    """
    if place is None or owner.place != place:
        return False
    if not state.exists:
        return True
    return state.started is not None and state.started != owner.started

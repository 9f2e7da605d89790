"""Whether the process that holds work is surely gone, so that nobody waits for its lease.

The name of a holder tells where it runs and since when. Only who runs in the
same place, the same start of the same machine and the same set of process
numbers, can say anything of it. Whatever is not sure is left to the lease.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

# The longest name that the rows hold.
NAME_LENGTH = 64
HOST_LENGTH = 20
PLACE_LENGTH = 12
MOST_PID = 2**31 - 1
# Fields of /proc/PID/stat behind the name in brackets: the third and the twenty-second.
STATE, STARTED = 0, 19
DEAD = frozenset("ZXx")


@dataclass(frozen=True, slots=True)
class Owner:
    """A process: its number, its start in ticks since the machine's, and its place."""

    pid: int
    started: int
    place: str


@dataclass(frozen=True, slots=True)
class Sight:
    """What the system says of a process number now; ``started`` is None where it does not say."""

    exists: bool
    started: int | None = None


def place_of(boot_id: str, pid_namespace: str) -> str:
    """A short name of one start of one machine and one set of process numbers."""
    both = f"{boot_id.strip()} {pid_namespace.strip()}"
    return hashlib.sha256(both.encode()).hexdigest()[:PLACE_LENGTH]


def name_of(host: str, pid: int, token: str, started: int | None, place: str | None) -> str:
    """``host:pid:token``, and ``:started:place`` where they are known; at most 64 characters.

    *host* is for people who read it and is cut; *token* tells two holders in
    one process apart.
    """
    name = f"{host[:HOST_LENGTH].replace(':', '-')}:{pid}:{token}"
    if started is None or place is None:
        return name
    return f"{name}:{started}:{place}"


def owner_in(name: str) -> Owner | None:
    """The process that *name* tells of; None where it does not tell enough."""
    parts = name.split(":")
    if len(parts) != 5:
        return None
    _host, pid, _token, started, place = parts
    numbers = all(part.isascii() and part.isdecimal() for part in (pid, started))
    if not numbers or not 0 < int(pid) <= MOST_PID or len(place) != PLACE_LENGTH:
        return None
    return Owner(int(pid), int(started), place)


def sight_in(stat: str) -> Sight:
    """What the text of ``/proc/PID/stat`` says; the dead that nobody buried are gone.

    The name of the program stands in brackets and may hold anything, brackets
    too. A text of another form says only that there is such a process.
    """
    fields = stat.rpartition(")")[2].split()
    if len(fields) <= STARTED or not fields[STARTED].isdecimal():
        return Sight(exists=True)
    if fields[STATE] in DEAD:
        return Sight(exists=False)
    return Sight(exists=True, started=int(fields[STARTED]))


def surely_gone(owner: Owner, place: str | None, sight: Sight) -> bool:
    """Whether *owner* is gone, by the *sight* of its number from *place*.

    True where its number is free or has become another process's, which started
    at another time. False for an owner of another place, and for whatever is
    not known.
    """
    if place is None or owner.place != place:
        return False
    if not sight.exists:
        return True
    return sight.started is not None and sight.started != owner.started

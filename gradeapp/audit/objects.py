"""The objects of audit entries: which have a page, of which the details must wait, who read them.

Features register theirs in ``apps.py``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from gradeapp.accounts.models import User
    from gradeapp.audit.models import AuditEntry

# From the keys of rows of one model to the addresses of those that have a page.
Addresses = Callable[[Sequence[int]], Mapping[int, str]]
_known: dict[str, Addresses] = {}
# From the keys of rows of one model to those whose details nobody may read yet.
Held = Callable[[Sequence[int]], Collection[int]]
_held: dict[str, Held] = {}

# What is to be done with entries before somebody reads them.
Reading = Callable[["QuerySet[AuditEntry]", "User"], None]
_readings: list[Reading] = []


def register(model_name: str, addresses: Addresses) -> None:
    """Have objects called ``model_name:key`` linked to their pages."""
    _known[model_name] = addresses


def hold_back(model_name: str, held: Held) -> None:
    """Have the details of entries about some objects called ``model_name:key`` not shown."""
    _held[model_name] = held


def when_read(reading: Reading) -> None:
    """Have *reading* called with entries, in no order, and the person who is about to read them."""
    _readings.append(reading)


def note_reading(entries: QuerySet[AuditEntry], reader: User) -> None:
    """Let the features note that *reader* is about to read *entries*."""
    for reading in _readings:
        reading(entries, reader)


def addresses_of(targets: Iterable[str]) -> dict[str, str]:
    """Return the address of each of *targets* that has a page; at most one query a model."""
    return {
        f"{name}:{key}": address
        for name, keys in _keys(targets, _known).items()
        for key, address in _known[name](keys).items()
    }


def held_back(targets: Iterable[str]) -> set[str]:
    """Return those of *targets* whose details nobody may read yet; at most one query a model."""
    return {
        f"{name}:{key}" for name, keys in _keys(targets, _held).items() for key in _held[name](keys)
    }


def _keys(targets: Iterable[str], models: Collection[str]) -> dict[str, list[int]]:
    """The keys that *targets* name, by those of *models* that they are of."""
    keys: defaultdict[str, set[int]] = defaultdict(set)
    for target in targets:
        name, _, key = target.partition(":")
        if name in models and key.isascii() and key.isdigit():
            keys[name].add(int(key))
    return {name: sorted(wanted) for name, wanted in keys.items()}

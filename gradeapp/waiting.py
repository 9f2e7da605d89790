"""What waits for whom: the home page asks each feature for its counts.

Features register a provider in their ``apps.py``; this module knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise


@dataclass(frozen=True, slots=True)
class Waiting:
    """So many things (*count*, from 0) that wait for this person at *url*."""

    label: str | Promise
    count: int
    url: str


Provider = Callable[[Any], Iterable[Waiting]]
_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Add a provider: a function of the user with a constant number of queries."""
    if provider not in _providers:
        _providers.append(provider)


def waiting_for(user: Any) -> list[Waiting]:
    """Everything that waits for *user*; what has a count of 0 is left out."""
    return [one for provider in _providers for one in provider(user) if one.count]

"""Drawing lots for a round: shuffled aliases and samples that anybody can repeat.

As in the assignment plan, everything follows from the stored random seed by
SHA-256, so that a draw is the same on every machine and every Python version.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Sequence

Id = int | str


def shuffled(items: Iterable[Id], random_seed: int, purpose: str) -> list[Id]:
    """*items* in an order that depends on the seed and the purpose, and not on their own order."""
    return sorted(items, key=lambda item: _lot(random_seed, purpose, item))


def sample_per_group(
    items: Sequence[tuple[Id, Hashable]], size: int, random_seed: int
) -> frozenset[Id]:
    """At most *size* items of each group, every one with the same chance.

    *items* are (item, group) pairs. A group with no more than *size* items is
    taken whole. A larger *size* keeps what a smaller one drew, so that a round
    may be followed by one over the rest. Raises ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError("a sample has at least one item of each group")
    groups: dict[Hashable, list[Id]] = {}
    for item, group in items:
        groups.setdefault(group, []).append(item)
    drawn = (shuffled(group, random_seed, "sample")[:size] for group in groups.values())
    return frozenset(item for group in drawn for item in group)


def _lot(random_seed: int, purpose: str, item: Id) -> bytes:
    return hashlib.sha256(repr((random_seed, purpose, item)).encode("utf-8")).digest()

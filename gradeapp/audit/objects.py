"""Where the objects of audit entries have a page. Features register theirs in ``apps.py``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

# From the keys of rows of one model to the addresses of those that have a page.
Addresses = Callable[[Sequence[int]], Mapping[int, str]]
_known: dict[str, Addresses] = {}


def register(model_name: str, addresses: Addresses) -> None:
    """Have objects called ``model_name:key`` linked to their pages."""
    _known[model_name] = addresses


def addresses_of(targets: Iterable[str]) -> dict[str, str]:
    """Return the address of each of *targets* that has a page; at most one query a model."""
    keys: defaultdict[str, set[int]] = defaultdict(set)
    for target in targets:
        name, _, key = target.partition(":")
        if name in _known and key.isascii() and key.isdigit():
            keys[name].add(int(key))
    return {
        f"{name}:{key}": address
        for name, wanted in keys.items()
        for key, address in _known[name](sorted(wanted)).items()
    }

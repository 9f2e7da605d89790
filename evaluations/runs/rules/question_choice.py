"""Which questions of a dataset a run asks: the choice, and the draw of a sample."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, TypeVar

YEARS = re.compile(r"([0-9]{4})(?:\s*[-–]\s*([0-9]{4}))?")
STRATA = ("task", "subject", "year")
Item = TypeVar("Item")


@dataclass(frozen=True)
class QuestionChoice:
    """A choice of questions; an empty field does not restrict it.

    ``tasks`` are slugs, ``subjects`` and ``part`` values of the vocabulary, ``years`` the first
    and the last year, ``ids`` the public ids of questions, ``query`` a query string of the bank's
    filters. ``sample`` draws so many at random by ``random_seed``, in proportion to the strata of
    ``stratified_by`` (``task``, ``subject``, ``year``) if that is given. ``limit`` takes so many
    of them, spread evenly over the tasks. ``trial`` draws so many of what is left by
    ``random_seed``, over all tasks and subjects.
    """

    tasks: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    part: str = ""
    years: tuple[int, int] | None = None
    ids: tuple[str, ...] = ()
    query: str = ""
    limit: int | None = None
    sample: int | None = None
    random_seed: int = 0
    stratified_by: str = ""
    trial: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON."""
        given = asdict(self)
        drawn = self.sample or self.trial
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value not in ((), "", None) and (name != "random_seed" or drawn)
        }


def read_choice(given: Mapping[str, Any]) -> QuestionChoice:
    """Return the ``QuestionChoice`` that was stored as *given*."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    return QuestionChoice(**fields)


def read_years(text: str) -> tuple[int, int] | None:
    """Return the years of ``2019-2022`` or ``2021``, None for "". Raises ValueError."""
    if not text.strip():
        return None
    found = YEARS.fullmatch(text.strip())
    if found is None or found[1] > (found[2] or found[1]):
        raise ValueError("years are written 2019-2022 or 2021, the first not after the last")
    return int(found[1]), int(found[2] or found[1])


def spread(groups: Mapping[str, Sequence[Item]], limit: int | None) -> list[Item]:
    """Return up to *limit* items (None: all), spread evenly over *groups* and within each group.

    Small groups give all their items and the others share the rest; groups are in the order of
    their names. The same input always gives the same items.
    """
    sizes = {name: len(items) for name, items in sorted(groups.items())}
    left = sum(sizes.values()) if limit is None else limit
    taken: dict[str, int] = {}
    for place, name in enumerate(sorted(sizes, key=lambda name: (sizes[name], name))):
        taken[name] = min(sizes[name], -(-left // (len(sizes) - place)) if left else 0)
        left -= taken[name]
    return [
        groups[name][(2 * place + 1) * size // (2 * taken[name])]
        for name, size in sizes.items()
        for place in range(taken[name])
    ]


def shares(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Return how many of *n* each stratum gives, in proportion to its size.

    By the largest remainder (Hamilton's method): each stratum gives the whole part of its share,
    and those with the largest remainders one more; of equal ones the larger, then the first by
    name. No stratum gives more than it has; *n* above the total gives all.
    """
    total = sum(sizes.values())
    if n >= total:
        return dict(sizes)
    quotas = {name: Fraction(size * n, total) for name, size in sizes.items()}
    given = {name: int(quota) for name, quota in quotas.items()}
    order = sorted(sizes, key=lambda name: (given[name] - quotas[name], -sizes[name], name))
    for name in order[: n - sum(given.values())]:
        given[name] += 1
    return given


def drawn(strata: Mapping[str, Sequence[str]], n: int, random_seed: int) -> set[str]:
    """Return *n* keys drawn at random without replacement, in proportion to *strata*.

    A key's lot is the SHA-256 of the seed and the key, and the lowest lots of each stratum are
    taken: the same seed and keys give the same sample on every machine, in any order of the keys.
    """
    given = shares({name: len(keys) for name, keys in strata.items()}, n)
    return {
        key
        for name, keys in strata.items()
        for key in sorted(keys, key=lambda key: (_lot(random_seed, key), key))[: given[name]]
    }


def drawn_over(places: Mapping[str, tuple[str, str]], n: int, random_seed: int) -> set[str]:
    """Return *n* of the keys of *places* (task and subject of each), drawn over both.

    One after the other, each from a task and a subject of which the fewest were drawn so far; the
    lowest lot decides between them, as in ``drawn``. A task without a subject counts as one of its
    own. *n* above the number of keys gives all.
    """
    waiting: dict[tuple[str, str], list[str]] = {}
    for key in sorted(places, key=lambda key: (_lot(random_seed, key), key), reverse=True):
        task, subject = places[key]
        waiting.setdefault((task, subject or task), []).append(key)
    tasks, subjects = Counter[str](), Counter[str]()
    taken: set[str] = set()
    while waiting and len(taken) < n:
        place = min(
            waiting,
            key=lambda one: (tasks[one[0]] + subjects[one[1]], _lot(random_seed, waiting[one][-1])),
        )
        taken.add(waiting[place].pop())
        tasks[place[0]] += 1
        subjects[place[1]] += 1
        if not waiting[place]:
            del waiting[place]
    return taken


def _lot(random_seed: int, key: str) -> bytes:
    return hashlib.sha256(f"{random_seed}:{key}".encode()).digest()

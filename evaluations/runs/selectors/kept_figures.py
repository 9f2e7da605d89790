"""Keep the costly figures of large runs for a while, so that open pages do not count all day.

What is counted all the time is in ``RunCount``. What is left (medians, shares, kinds of errors) is
computed by the worker of a large run and kept for all web processes; a page computes it where no
worker did.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.core.cache import cache

from evaluations.models import Run
from evaluations.runs.selectors.asked import images_asked
from evaluations.runs.selectors.runs import errors, measured_by_task

T = TypeVar("T")
# With fewer jobs, figures are computed for each request.
MANY_JOBS = 5_000
# A figure is kept so many times as long as it took, in seconds between these.
TIMES_AS_LONG = 20
SHORTEST, LONGEST = 2.0, 60.0
# A worker computes them this often, in seconds, and for so long they are kept.
EVERY, LONG = 10.0, 60.0
FIGURES: Mapping[str, Callable[[Run], Any]] = {
    "measured": measured_by_task,
    "errors": errors,
    "images": images_asked,
}


def kept(run: Run, jobs: int, name: str, compute: Callable[[Run], T]) -> T:
    """Return the figure *name* of *run*, which has *jobs* jobs: kept, or computed now.

    A run in another state has other figures.
    """
    if jobs < MANY_JOBS:
        return compute(run)
    key = _key(run, name)
    found: T | None = cache.get(key)
    if found is None:
        started = time.monotonic()
        found = compute(run)
        long = TIMES_AS_LONG * (time.monotonic() - started)
        cache.set(key, found, timeout=min(LONGEST, max(SHORTEST, long)))
    return found


def keep_figures(run: Run) -> None:
    """Compute the figures of *run*, which has many jobs, for the pages of the next minute."""
    for name, compute in FIGURES.items():
        cache.set(_key(run, name), compute(run), timeout=LONG)


def _key(run: Run, name: str) -> str:
    return f"run-figures:{run.pk}:{run.status}:{name}"

"""Keep the costly figures of large runs for a while, so that open pages do not count all day.

A page of a live run asks every two seconds. A figure that took a time to compute is kept for
twenty times as long, for all web processes, so that all tabs together cost little.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from django.core.cache import cache

from evaluations.models import Run

T = TypeVar("T")
# With fewer jobs, figures are computed for each request.
MANY_JOBS = 5_000
TIMES_AS_LONG = 20
SHORTEST, LONGEST = 2.0, 60.0


def kept(run: Run, jobs: int, name: str, compute: Callable[[], T]) -> T:
    """Return the figure *name* of *run*, which has *jobs* jobs: kept, or computed now.

    A run in another state has other figures.
    """
    if jobs < MANY_JOBS:
        return compute()
    key = f"run-figures:{run.pk}:{run.status}:{name}"
    found: T | None = cache.get(key)
    if found is None:
        started = time.monotonic()
        found = compute()
        long = TIMES_AS_LONG * (time.monotonic() - started)
        cache.set(key, found, timeout=min(LONGEST, max(SHORTEST, long)))
    return found

"""How long workers work on a run, how many runs they take in, and when a waiting run begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

SESSION_SECONDS = 240
# A worker beside another one of the same run is free for other work after this time.
SECOND_SESSION_SECONDS = 60
# A process works on so many runs beside its own.
MOST_OTHERS = 7
# A run without a worker is taken in at the second look.
LOOK_SECONDS = 2.0
# A run without a call in flight for longer was paused or stopped, or waited. A limit of the
# endpoint for calls a minute leaves shorter gaps.
LONGEST_GAP = timedelta(seconds=60)
# A worker waits for a call that may be made within this time; otherwise it ends the session.
LONGEST_RETRY_WAIT = timedelta(seconds=5)


def seconds_until_begun(before: int, places: int, held: Sequence[float]) -> float:
    """Return in how many seconds a run without a worker begins.

    *before* runs wait before it. Workers have *places* for runs; *held* are the seconds until each
    place that is held becomes free. A free place is taken after two looks, the others as they
    become free.
    """
    taken_in = 2 * LOOK_SECONDS
    free = max(0, places - len(held))
    if before < free or not held:
        return taken_in
    frees = sorted(held)
    return max(0.0, frees[min(before - free, len(frees) - 1)]) + taken_in


def seconds_worked(calls: Iterable[tuple[datetime, datetime]]) -> float:
    """Return for how many seconds a run worked that made *calls*, each from one time to another.

    Times without a call in flight count up to ``LONGEST_GAP``; of a longer one nothing counts.
    """
    worked, end = timedelta(0), None
    for sent, finished in sorted(calls):
        begin = sent if end is None or sent - end > LONGEST_GAP else end
        worked += max(timedelta(0), finished - begin)
        end = finished if end is None else max(end, finished)
    return worked.total_seconds()

"""Working on runs: who works on which, and what the clock does to them.

A shift ends after some minutes and hands over, so that a message that the
broker delivers twice, late or never does no harm. Whatever ends a shift, a
``kill -9`` included, the database knows what was sent.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta

from django.utils import timezone

from evaluations.runs.kinds import followers
from evaluations.runs.services import queue
from evaluations.runs.services.run_states import (
    begin,
    finalize,
    finalize_all,
    resume_waiting,
    waiting_runs,
)
from evaluations.runs.services.stop_signals import StopSignals
from evaluations.runs.services.work_session import WorkSession
from evaluations.runs.services.worker_names import new_name

SESSION_SECONDS = 240


def work_on_run(
    run_id: int,
    *,
    seconds: float = SESSION_SECONDS,
    on_progress: Callable[[], None] = lambda: None,
    clock: Callable[[], datetime] = timezone.now,
    stop: StopSignals | None = None,
) -> list[int]:
    """Work on a run for up to *seconds*; the ids of the runs to be worked on next.

    Does nothing where another worker has the run, or it is not to be worked on; one
    that is surely gone has it no more.
    ``on_progress`` is called after each delivery. A signal, or *stop* where the
    caller listens itself, ends the work once the calls in flight are in.
    """
    owner = new_name()
    queue.reap(clock())
    run = begin(run_id, owner, clock())
    if run is None:
        return []
    ends = clock() + timedelta(seconds=seconds)
    try:
        with nullcontext(stop) if stop else StopSignals() as signals:
            WorkSession(run, owner, ends, lambda: signals.asked, clock, on_progress).work()
    finally:
        queue.let_go(run, owner)
        finalize(run.pk, clock())
    if signals.asked:
        return []
    beside = [one.pk for follower in followers() for one in follower.runs_beside(run)]
    return waiting_runs(clock(), [run.pk, *beside])


def look_for_work(clock: Callable[[], datetime] = timezone.now) -> list[int]:
    """What has to happen though nobody asks: the ids of the runs that need a worker.

    Gives back what killed workers left, lets runs go on whose pause is over, and
    brings states up to date. Safe to call at any time, anywhere, twice.
    """
    now = clock()
    queue.reap(now)
    resume_waiting(now)
    finalize_all(now)
    return waiting_runs(now)

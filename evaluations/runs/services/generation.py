"""Work on runs in sessions of some minutes, and find runs that need a worker.

A work session hands over to the next message of the broker, so a message that is delivered twice,
late or never does no harm. Also after ``kill -9`` the database contains which calls were sent.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta

from evaluations.runs.kinds import followers
from evaluations.runs.services import job_queue
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
from gradeapp.common.database_clock import DatabaseClock, database_now

SESSION_SECONDS = 240


def work_on_run(
    run_id: int,
    *,
    seconds: float = SESSION_SECONDS,
    on_progress: Callable[[], None] = lambda: None,
    clock: Callable[[], datetime] | None = None,
    stop: StopSignals | None = None,
) -> list[int]:
    """Work on a run for up to *seconds*; return the ids of the runs to be worked on next.

    Does nothing if another worker holds the run, or it is not to be worked on. ``on_progress`` is
    called after each delivery. *clock* gives the time of leases, by default that of the database:
    a worker whose own clock is wrong must not take over what another holds. A signal (or *stop*,
    if the caller handles signals) ends the work after the calls in flight are answered.
    """
    clock = clock or DatabaseClock()
    owner = new_name()
    job_queue.release_lost_jobs(clock())
    run = begin(run_id, owner, clock())
    if run is None:
        return []
    ends = clock() + timedelta(seconds=seconds)
    try:
        with nullcontext(stop) if stop else StopSignals() as signals:
            WorkSession(run, owner, ends, lambda: signals.asked, clock, on_progress).work()
    finally:
        job_queue.release_run(run, owner)
        finalize(run.pk, clock())
    if signals.asked:
        return []
    beside = [one.pk for follower in followers() for one in follower.runs_beside(run)]
    return waiting_runs(clock(), [run.pk, *beside])


def look_for_work(clock: Callable[[], datetime] = database_now) -> list[int]:
    """Return the ids of the runs that need a worker.

    Before that, release the jobs of killed workers, resume runs whose wait is over, and update the
    states of runs. It may be called at any time and concurrently.
    """
    now = clock()
    job_queue.release_lost_jobs(now)
    resume_waiting(now)
    finalize_all(now)
    return waiting_runs(now)

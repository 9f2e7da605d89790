"""Work on runs in sessions of some minutes, and find runs that need a worker.

A work session hands over to the next message of the broker, so a message that is delivered twice,
late or never does no harm. Also after ``kill -9`` the database contains which calls were sent.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta
from functools import partial
from time import monotonic

from evaluations.runs.kinds import followers
from evaluations.runs.rules.sessions import SECOND_SESSION_SECONDS, SESSION_SECONDS
from evaluations.runs.services import job_queue
from evaluations.runs.services.other_runs import OtherRuns
from evaluations.runs.services.run_states import (
    begin,
    finalize,
    finalize_all,
    resume_waiting,
    waiting_runs,
    wants_worker,
)
from evaluations.runs.services.run_workers import leave_run, workers_of
from evaluations.runs.services.spools import store_spooled
from evaluations.runs.services.stop_signals import StopSignals
from evaluations.runs.services.work_session import WorkSession
from evaluations.runs.services.worker_names import new_name
from gradeapp.common.collector import collector_spared
from gradeapp.common.database_clock import DatabaseClock, database_now


def work_on_run(
    run_id: int,
    *,
    seconds: float = SESSION_SECONDS,
    on_progress: Callable[[], None] = lambda: None,
    clock: Callable[[], datetime] | None = None,
    stop: StopSignals | None = None,
    invite: Callable[[int], None] = lambda run_id: None,
    take_in: bool = False,
) -> list[int]:
    """Work on a run for up to *seconds*; return the ids of the runs to be worked on next.

    Does nothing if the run has workers enough, or is not to be worked on. ``on_progress`` is
    called after each delivery. *clock* gives the time of leases, by default that of the database:
    a worker whose own clock is wrong must not take over what another holds. ``invite`` is called
    with the id of the run if one more worker would have calls to send. With ``take_in``, runs
    without a worker are worked on beside it, in threads. A signal (or *stop*, if the caller
    handles signals) ends the work after the calls in flight are answered.
    """
    given, clock = clock, clock or DatabaseClock()
    owner = new_name()
    store_spooled(clock())
    job_queue.release_lost_jobs(clock())
    run = begin(run_id, owner, clock())
    if run is None:
        return []
    if workers_of(run, clock()).count() > 1:
        seconds = min(seconds, SECOND_SESSION_SECONDS)
    ends = clock() + timedelta(seconds=seconds)
    with nullcontext(stop) if stop else StopSignals() as signals:
        others = OtherRuns(partial(_work_beside, signals, monotonic() + seconds, given), clock)

        def asked() -> bool:
            if take_in:
                others.look()
            return signals.asked

        try:
            if wants_worker(run, clock()):
                invite(run.pk)
            with collector_spared():
                WorkSession(run, owner, ends, asked, clock, on_progress).work()
        finally:
            leave_run(run, owner)
            finalize(run.pk, clock())
            others.wait(ends)
    if signals.asked:
        return []
    beside = [one.pk for follower in followers() for one in follower.runs_beside(run)]
    return waiting_runs(clock(), [run.pk, *beside, *others.taken_in])


def _work_beside(
    signals: StopSignals, ends: float, clock: Callable[[], datetime] | None, run_id: int
) -> None:
    """Work on a run that was taken in, until the monotonic time *ends*."""
    work_on_run(run_id, seconds=ends - monotonic(), clock=clock, stop=signals)


def look_for_work(clock: Callable[[], datetime] = database_now) -> list[int]:
    """Return the ids of the runs that need a worker.

    Before that, store what killed workers left, release their jobs, resume runs whose wait is over,
    and update the states of runs. It may be called at any time and concurrently.
    """
    now = clock()
    store_spooled(now)
    job_queue.release_lost_jobs(now)
    resume_waiting(now)
    finalize_all(now)
    return waiting_runs(now)

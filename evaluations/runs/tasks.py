"""Celery tasks of runs: each takes an id and calls one service."""

from __future__ import annotations

from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown

from evaluations.runs.services import batch_work, generation
from evaluations.runs.services.worker_reports import Reporter
from gradeapp.common.database_clock import database_now
from gradeapp.common.tasks import STALE_AFTER, send


@shared_task(name="evaluations.work_on_run", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def work_on_run(run_id: int) -> None:
    """Work on a run for some minutes, then send the next message.

    While the run has more to do, each worker that begins sends a message for one more.
    """
    for next_id in generation.work_on_run(run_id, invite=ask_for_work, take_in=True):
        ask_for_work(next_id)


@shared_task(name="evaluations.look_for_work", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def look_for_work() -> None:
    """Send a message for each run that waits for a worker, itself or with its batches."""
    for run_id in generation.look_for_work():
        ask_for_work(run_id)
    for run_id in batch_work.runs_with_batch_work(database_now()):
        send(work_on_batches, "batches of run", run_id)


@shared_task(name="evaluations.work_on_batches", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def work_on_batches(run_id: int) -> None:
    """Do the steps of the batches of a run that are due at the batch API of its endpoint.

    Then send a message for the next run: one at a time is worked on, and others that came
    meanwhile were turned away.
    """
    if batch_work.work_on_batches(run_id):
        for next_id in batch_work.runs_with_batch_work(database_now())[:1]:
            send(work_on_batches, "batches of run", next_id)


def ask_for_work(run_id: int) -> None:
    """Send a message for a run, after the commit."""
    send(work_on_run, "run", run_id)


@worker_ready.connect  # type: ignore[untyped-decorator]
def report_worker(sender: Any, **_: object) -> None:
    """Report the worker, as long as it runs, to the pages."""
    reporter = Reporter(sender.pool.num_processes)
    reporter.start()

    # Not weak: nothing else refers to it.
    @worker_shutdown.connect(weak=False)  # type: ignore[untyped-decorator]
    def stop_reports(**_: object) -> None:
        reporter.stop()

"""Celery tasks of runs: each takes an id and calls one service."""

from __future__ import annotations

from celery import shared_task

from evaluations.runs.services import generation
from gradeapp.common.tasks import STALE_AFTER, send


@shared_task(name="evaluations.work_on_run", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def work_on_run(run_id: int) -> None:
    """Work on a run for some minutes, then send the next message."""
    for next_id in generation.work_on_run(run_id):
        ask_for_work(next_id)


@shared_task(name="evaluations.look_for_work", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def look_for_work() -> None:
    """Send a message for each run that waits for a worker."""
    for run_id in generation.look_for_work():
        ask_for_work(run_id)


def ask_for_work(run_id: int) -> None:
    """Send a message for a run, after the commit."""
    send(work_on_run, "run", run_id)

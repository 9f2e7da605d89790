"""Celery tasks of the bank: each takes ids and calls one service. A message is a hint."""

from __future__ import annotations

import logging

from celery import Task, shared_task
from kombu.exceptions import OperationalError

from questions.services import import_jobs

logger = logging.getLogger(__name__)

# The clock asks again every ten seconds: behind busy workers, old messages must not pile up.
STALE_AFTER = 30.0


@shared_task(name="questions.work_on_import", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def work_on_import(batch_id: int) -> None:
    """Check or import an upload to its end."""
    import_jobs.work_on_import(batch_id)


@shared_task(name="questions.look_for_imports", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def look_for_imports() -> None:
    """Find the uploads that no message points to any more, and point to them."""
    for batch_id in import_jobs.look_for_imports():
        ask_for_import(batch_id)


def ask_for_import(batch_id: int) -> None:
    """Tell the workers of an upload, after the commit."""
    send(work_on_import, "import", batch_id)


def send(task: Task, work: str, pk: int) -> None:
    """Send *task* for the *work* with this id; without a broker the clock finds it later."""
    try:
        task.apply_async((pk,), retry=False)
    except OperationalError as error:
        logger.warning("the broker does not take %s %s: %s", work, pk, type(error).__name__)

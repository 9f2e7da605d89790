"""Send a Celery task after the commit; the database stays the record of work."""

from __future__ import annotations

import logging

from celery import Task
from kombu.exceptions import OperationalError

from gradeapp.celery import app as celery_app

__all__ = ["STALE_AFTER", "celery_app", "send"]

logger = logging.getLogger(__name__)


# The clock asks again every ten seconds: behind busy workers, old messages must not pile up.
STALE_AFTER = 30.0


def send(task: Task, work: str, pk: int) -> None:
    """Send *task* for the *work* with this id; without a broker the clock finds it later."""
    try:
        task.apply_async((pk,), retry=False)
    except OperationalError as error:
        logger.warning("the broker does not take %s %s: %s", work, pk, type(error).__name__)

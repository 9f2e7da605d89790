"""Celery tasks of imports: uploads of answers."""

from __future__ import annotations

from celery import shared_task

from evaluations.imports.services import answer_uploads
from gradeapp.common.tasks import STALE_AFTER, send


@shared_task(name="evaluations.work_on_answers", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def work_on_answers(batch_id: int) -> None:
    """Check or import an upload of answers."""
    answer_uploads.work_on_answers(batch_id)


@shared_task(name="evaluations.look_for_answers", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def look_for_answers() -> None:
    """Send a message for each upload of answers that waits without one."""
    for batch_id in answer_uploads.look_for_answers():
        ask_for_answers(batch_id)


def ask_for_answers(batch_id: int) -> None:
    """Send a message for an upload of answers, after the commit."""
    send(work_on_answers, "upload of answers", batch_id)

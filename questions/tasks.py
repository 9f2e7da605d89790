"""Celery tasks of the bank: each takes ids and calls one service. A message is a hint."""

from __future__ import annotations

from celery import shared_task

from gradeapp.common.tasks import STALE_AFTER, send
from questions.services import import_jobs


@shared_task(name="questions.work_on_import", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def work_on_import(batch_id: int) -> None:
    """Check or import an upload to its end."""
    import_jobs.work_on_import(batch_id)


@shared_task(name="questions.look_for_imports", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def look_for_imports() -> None:
    """Find the uploads that no message points to any more, and point to them.

    Then compare what ended imports left.
    """
    for batch_id in import_jobs.look_for_imports():
        ask_for_import(batch_id)
    import_jobs.compare_left_over()


def ask_for_import(batch_id: int) -> None:
    """Tell the workers of an upload, after the commit."""
    send(work_on_import, "import", batch_id)

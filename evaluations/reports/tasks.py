"""Celery tasks of reports: files that are made in the background."""

from __future__ import annotations

from celery import shared_task

from evaluations.reports.services import export_jobs
from gradeapp.common.tasks import STALE_AFTER, send


@shared_task(name="evaluations.export", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def export(export_id: int) -> None:
    """Make a file to its end."""
    export_jobs.work_on_export(export_id)


@shared_task(name="evaluations.look_for_exports", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def look_for_exports() -> None:
    """Find the exports that no message points to any more, and point to them."""
    for export_id in export_jobs.look_for_exports():
        ask_for_export(export_id)


def ask_for_export(export_id: int) -> None:
    """Tell the workers of an export, after the commit."""
    send(export, "export", export_id)

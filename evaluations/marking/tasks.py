"""Celery tasks of marking."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from evaluations.marking.desk.services.passing import lose_passed
from evaluations.marking.services.finalizing import finalize_all_due
from gradeapp.common.tasks import STALE_AFTER


@shared_task(name="evaluations.finalize_due_marks", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def finalize_due_marks() -> None:
    """Finalize the responses whose marks can no longer be revised, after what was lost is free."""
    now = timezone.now()
    lose_passed(now=now)
    finalize_all_due(now)

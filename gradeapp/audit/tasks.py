"""The Celery task of the audit trail."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from gradeapp.audit.reads import forget_old_reads
from gradeapp.audit.retention import remove_old
from gradeapp.audit.sealing import seal_all
from gradeapp.common.tasks import STALE_AFTER


@shared_task(name="audit.seal_entries", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def seal_entries() -> None:
    """Seal what was written, and remove what is old enough."""
    seal_all()
    now = timezone.now()
    remove_old(now)
    forget_old_reads(now)

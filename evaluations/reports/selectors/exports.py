"""Files that are made in the background: those of one person, and how far one is."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from evaluations.models import Export
from gradeapp.accounts.models import User
from gradeapp.common.background_work import selectors as background_work
from gradeapp.common.background_work.selectors import Progress


def exports_of(user: User) -> QuerySet[Export]:
    """Return the exports of *user*, the newest first."""
    return Export.objects.filter(created_by=user).select_related("dataset").order_by("-pk")


def progress(work: Export, now: datetime) -> Progress:
    """Return the progress of *work* at *now*, in rows."""
    done, total = work.rows_done, work.rows_total
    return background_work.progress(work, now, done, total, measured=done, rest=total - done)

"""What was changed in rows that nothing should change: kept by triggers of the database itself."""

from __future__ import annotations

from django.db import models


class MarkChange(models.Model):
    """One UPDATE or DELETE of a mark, a point, a final mark or its sources: what stood before.

    Written by a trigger, so that no way round the services escapes it:
    ``QuerySet.update``, ``bulk_update`` and raw SQL are kept too. ``before`` is
    the whole row as JSON text, ``answer`` the key of its blind answer, without a
    constraint: the history outlives what it is about. ``actor`` is what the
    session called itself (PostgreSQL: ``SET gradeapp.actor``), else "unknown".
    """

    table = models.CharField(max_length=63)
    row = models.BigIntegerField()
    answer = models.BigIntegerField(null=True)
    action = models.CharField(max_length=6)
    before = models.TextField()
    changed_at = models.DateTimeField()
    actor = models.CharField(max_length=150, default="unknown")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["answer"], name="mark_change_by_answer")]

    def __str__(self) -> str:
        return f"{self.action} of {self.table}:{self.row}"

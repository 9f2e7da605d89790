"""Files that are made in the background: what was asked for, how far it is, and until when."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from gradeapp.common.background_work.models import BackgroundWork
from gradeapp.common.checks import known
from gradeapp.common.named import WorkStatus
from gradeapp.common.table_files import FileFormat
from questions.models import Dataset


class Export(BackgroundWork):
    """One file that a person asked for; nobody else can fetch it.

    ``name`` is the table and ``parameters`` are those of the report, as its manifest has them.
    ``file`` is the name of the file under ``VAR_DIR/exports``, empty until it is whole and once it
    is deleted, after ``expires_at``. A file that goes on is begun anew.
    """

    name = models.CharField(max_length=40)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="exports")
    parameters = models.JSONField(default=dict)
    file_format = models.CharField(max_length=8)
    bom = models.BooleanField(default=True)
    rows_done = models.PositiveIntegerField(default=0)
    rows_total = models.PositiveIntegerField(default=0)
    file = models.CharField(max_length=60, blank=True)
    size = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)
    expires_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="exports"
    )

    class Meta:
        ordering = ["-id"]
        constraints = [
            known("export_lists_known", status=WorkStatus, file_format=tuple(FileFormat)),
        ]

    def __str__(self) -> str:
        return f"export {self.pk}"

    @property
    def file_name(self) -> str:
        """The name under which the file is downloaded."""
        return f"{self.dataset.slug}-{self.name}.{self.file_format}"

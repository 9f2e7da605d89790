"""What an import did, and what it found wrong."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from questions.models.bank import Dataset


class ImportBatch(models.Model):
    """One import that wrote something or found a problem."""

    dataset = models.ForeignKey(
        Dataset, null=True, on_delete=models.PROTECT, related_name="imports"
    )
    kind = models.CharField(max_length=20, help_text="questions or answers")
    source = models.CharField(max_length=200)
    counts = models.JSONField(default=dict)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="imports"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "import batches"

    def __str__(self) -> str:
        return f"{self.kind} from {self.source}"


class ImportProblem(models.Model):
    """One row of one file that a person should look at."""

    batch = models.ForeignKey(ImportBatch, on_delete=models.CASCADE, related_name="problems")
    file = models.CharField(max_length=200)
    row = models.PositiveIntegerField(null=True)
    code = models.CharField(max_length=60)
    text = models.TextField()

    class Meta:
        ordering = ["batch", "id"]

    def __str__(self) -> str:
        return f"{self.file}:{self.row} {self.code}"

"""The runs that imports of answers wrote to, and who read what an import found in its files."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from evaluations.models.runs import Run
from questions.models import ImportBatch


class ImportedRun(models.Model):
    """A run that the files of *batch* have responses of, new ones or the same as before."""

    batch = models.ForeignKey(ImportBatch, on_delete=models.CASCADE, related_name="imported_runs")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="imported_by")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["batch", "run"], name="one_imported_run_per_batch"),
        ]

    def __str__(self) -> str:
        return f"{self.batch_id}: {self.run}"


class ImportReader(models.Model):
    """*person* read the report of *batch*, perhaps that of its check, before it had runs."""

    batch = models.ForeignKey(ImportBatch, on_delete=models.CASCADE, related_name="readers")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, db_index=False, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["batch", "person"], name="one_reader_per_import"),
        ]

    def __str__(self) -> str:
        return f"{self.batch_id}: {self.person}"

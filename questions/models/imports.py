"""What an import did, and what it found wrong."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import models

from gradeapp.common.background_work.models import BackgroundWork
from gradeapp.common.checks import known
from questions.models.bank import Dataset
from questions.rules.vocabulary import ImportStatus


class ImportBatch(BackgroundWork):
    """One import that wrote something or found a problem, or an upload on its way to be one.

    An upload is checked first (a dry run) and imported once it is ``confirmed_at``.
    ``folder`` is its folder under ``VAR_DIR/imports``, empty once that is deleted;
    ``reader`` the source it is read as. ``counts`` holds what was written; ``options`` what
    the person said about an upload of answers (``model``, ``repeat``), and of which tasks a check
    found what in the bank (``checked``).
    """

    dataset = models.ForeignKey(
        Dataset, null=True, on_delete=models.PROTECT, related_name="imports"
    )
    kind = models.CharField(max_length=20, help_text="questions or answers")
    source = models.CharField(max_length=200)
    counts = models.JSONField(default=dict)
    options = models.JSONField(default=dict)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="imports"
    )
    status = models.CharField(
        max_length=12, choices=ImportStatus.choices(), default=ImportStatus.DONE.value
    )
    reader = models.CharField(max_length=20, blank=True)
    folder = models.CharField(max_length=36, blank=True)
    form_key = models.UUIDField(
        null=True, unique=True, editable=False, help_text="of the form that uploaded it"
    )
    confirmed_at = models.DateTimeField(null=True)
    files_done = models.PositiveIntegerField(default=0)
    files_total = models.PositiveIntegerField(default=0)
    bytes_done = models.PositiveBigIntegerField(default=0)
    bytes_total = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "import batches"
        constraints = [
            known("import_status_known", status=ImportStatus),
        ]

    def __str__(self) -> str:
        return f"{self.kind} from {self.source}"

    @classmethod
    def lease(cls) -> timedelta:
        """How long a silent worker is believed to be alive."""
        return timedelta(seconds=settings.IMPORT_LEASE_SECONDS)


class ImportFile(models.Model):
    """One file of an upload: what the check found in it, then what the import wrote of it.

    The counts are items, of an upload of answers responses; a refused file gives none of
    them. ``more_counts`` holds the other counts of answers: marks, judgements, unmatched.
    """

    batch = models.ForeignKey(ImportBatch, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=200)
    new = models.PositiveIntegerField(default=0)
    same = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    quarantined = models.PositiveIntegerField(default=0)
    more_counts = models.JSONField(default=dict)
    refused = models.BooleanField(default=False)
    imported_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "name"], name="one_import_file_per_name"),
        ]

    def __str__(self) -> str:
        return f"{self.batch_id}: {self.name}"


class ImportProblem(models.Model):
    """One row of one file that a person should look at; a fatal one refuses its file."""

    batch = models.ForeignKey(ImportBatch, on_delete=models.CASCADE, related_name="problems")
    file = models.CharField(max_length=200)
    row = models.PositiveIntegerField(null=True)
    code = models.CharField(max_length=60)
    text = models.TextField()
    fatal = models.BooleanField(default=False)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.file}:{self.row} {self.code}"

"""Reading imports: the list, one with its files and problems, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from questions.models import ImportBatch, ImportProblem
from questions.models.imports import ImportFile
from questions.rules.vocabulary import ImportStatus

COUNTS = ("new", "same", "changed", "quarantined")
# Too little was read before to say how long the rest takes.
LEAST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """How far a worker is: files, and seconds by the share of bytes that it has read."""

    done: int
    total: int
    seconds: float
    seconds_left: float | None
    live: bool


@dataclass(frozen=True, slots=True)
class ImportTotals:
    """What the files of an import hold: items, and files that are refused."""

    files: int = 0
    new: int = 0
    same: int = 0
    changed: int = 0
    quarantined: int = 0
    refused: int = 0

    @property
    def to_write(self) -> int:
        """Items that an import would write."""
        return self.new + self.changed


def imports() -> QuerySet[ImportBatch]:
    """Every import with who did it and how many problems it has, the newest first.

    ``some_taken`` says of an upload that not every file was refused.
    """
    found = ImportBatch.objects.select_related("actor", "dataset")
    taken = ImportFile.objects.filter(batch=OuterRef("pk"), refused=False)
    counted = found.annotate(problem_count=Count("problems"), some_taken=Exists(taken))
    return counted.order_by("-pk")


def import_files(batch: ImportBatch) -> QuerySet[ImportFile]:
    """The files of an upload, the refused ones first."""
    return ImportFile.objects.filter(batch=batch).order_by("-refused", "name")


def import_problems(batch: ImportBatch) -> QuerySet[ImportProblem]:
    """What was found, with what refuses a file first."""
    return ImportProblem.objects.filter(batch=batch).order_by("-fatal", "file", "row", "pk")


def totals(batch: ImportBatch) -> ImportTotals:
    """The sums over the files of an upload."""
    found = ImportFile.objects.filter(batch=batch).aggregate(
        files=Count("pk"),
        refused=Count("pk", filter=Q(refused=True)),
        **{key: Sum(key) for key in COUNTS},
    )
    return ImportTotals(**{key: value or 0 for key, value in found.items()})


def progress(batch: ImportBatch, now: datetime) -> ImportProgress:
    """How far *batch* is at *now*; the time left is unknown until something was read."""
    live = batch.status in (ImportStatus.QUEUED, ImportStatus.WORKING)
    ends = now if live else batch.ended_at or now
    seconds = (ends - batch.started_at).total_seconds() if batch.started_at else 0.0
    left = None
    if live and batch.bytes_done and seconds >= LEAST_SECONDS:
        left = seconds * max(0, batch.bytes_total - batch.bytes_done) / batch.bytes_done
    total = max(batch.files_total, batch.files_done)
    return ImportProgress(batch.files_done, total, seconds, left, live)

"""Reading imports: the list, one with its files and problems, and how far it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from gradeapp.common.background_work import selectors as background_work
from gradeapp.common.background_work.selectors import Progress
from questions.models import Dataset, ImportBatch, ImportProblem, Question
from questions.models.imports import ImportFile
from questions.rules.vocabulary import ItemStatus
from questions.selectors.gate import CodeCount, counts_by_code, problem_list

QUESTIONS, ANSWERS = "questions", "answers"
COUNTS = ("new", "same", "changed", "quarantined")
# A file would change by now what its check did not say.
OUTDATED = "check_outdated"


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


def imports(kind: str = QUESTIONS) -> QuerySet[ImportBatch]:
    """Imports with who did them and how many problems they have, the newest first.

    Those of answers (``ANSWERS``), which name models and marks, have pages of their own.
    ``some_taken`` says of an upload that not every file was refused.
    """
    found = ImportBatch.objects.filter(kind=kind).select_related("actor", "dataset")
    taken = ImportFile.objects.filter(batch=OuterRef("pk"), refused=False)
    counted = found.annotate(problem_count=Count("problems"), some_taken=Exists(taken))
    return counted.order_by("-pk")


def import_files(batch: ImportBatch) -> QuerySet[ImportFile]:
    """The files of an upload, the refused ones first."""
    return ImportFile.objects.filter(batch=batch).order_by("-refused", "name")


def import_problems(batch: ImportBatch) -> QuerySet[ImportProblem]:
    """What was found, with what refuses a file first."""
    return ImportProblem.objects.filter(batch=batch).order_by("-fatal", "file", "row", "pk")


def seems_shifted(batch: ImportBatch) -> bool:
    """Whether questions would get the texts of others: a person has to allow that."""
    return ImportProblem.objects.filter(batch=batch, code="shifted").exists()


def refused_as_shifted(batch: ImportBatch) -> bool:
    """Whether the import refused a file that came to be shifted after the check."""
    return ImportProblem.objects.filter(batch=batch, code="shifted", fatal=True).exists()


def was_outdated(batch: ImportBatch) -> bool:
    """Whether the import left out a file that came to change more than the check had said."""
    return ImportProblem.objects.filter(batch=batch, code=OUTDATED).exists()


def bank_has_changed(batch: ImportBatch) -> bool:
    """Whether the bank holds something else of the tasks of an upload than at its check."""
    checked = batch.options.get("checked", {}).values()
    return any(bank_state(one["tasks"]) != one["state"] for one in checked)


def bank_state(tasks: Iterable[Iterable[str]]) -> str:
    """A digest of the texts and the accepted rubrics of *tasks*, each a dataset and a task."""
    wanted = {tuple(task) for task in tasks}
    rows = Question.objects.filter(task__dataset__slug__in={dataset for dataset, _ in wanted})
    place, texts = ("task__dataset__slug", "task__slug"), ("pk", "imported_hash", "current")
    digest = hashlib.sha256()
    for dataset, task, *row in rows.order_by("pk").values_list(*place, *texts, "rubric"):
        if (dataset, task) in wanted:
            digest.update(repr(row).encode())
    return digest.hexdigest()


def totals(batch: ImportBatch) -> ImportTotals:
    """The sums over the files of an upload."""
    found = ImportFile.objects.filter(batch=batch).aggregate(
        files=Count("pk"),
        refused=Count("pk", filter=Q(refused=True)),
        **{key: Sum(key) for key in COUNTS},
    )
    return ImportTotals(**{key: value or 0 for key, value in found.items()})


@dataclass(frozen=True, slots=True)
class HeldBack:
    """What the gate holds back of a dataset now: its items, and its open problems by code."""

    items: int
    codes: tuple[CodeCount, ...]


def held_back(dataset: Dataset) -> HeldBack:
    """The items of *dataset* that are quarantined now, and why."""
    items = Question.objects.filter(task__dataset=dataset, status=ItemStatus.QUARANTINED).count()
    if not items:
        return HeldBack(0, ())
    of_dataset = Q(question__task__dataset=dataset) | Q(other__question__task__dataset=dataset)
    waiting = problem_list().filter(of_dataset, quarantines=True, decision=None)
    return HeldBack(items, tuple(counts_by_code(waiting)))


def progress(batch: ImportBatch, now: datetime) -> Progress:
    """How far *batch* is at *now*: files, and time by the share of bytes that was read."""
    read, rest = batch.bytes_done, batch.bytes_total - batch.bytes_done
    files = batch.files_done, batch.files_total
    return background_work.progress(batch, now, *files, measured=read, rest=rest)

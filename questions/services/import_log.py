"""Keeps what an import did and found, with the audit row of who did it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Protocol

from django.db import transaction

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from questions.importers.records import Problem
from questions.models import Dataset, ImportBatch, ImportProblem

SOURCE_LENGTH = 200


class ReadFile(Protocol):
    """What a log is told of a file that was read."""

    @property
    def name(self) -> str: ...

    @property
    def problems(self) -> tuple[Problem, ...]: ...

    @property
    def refused(self) -> bool: ...


class ImportLog:
    """The batch of one import: made with the first thing that was written or refused.

    An import that changes nothing leaves no batch, so that repeating one is
    visible nowhere.
    """

    def __init__(self, kind: str, source: str, tag: Tag, actor: User | None) -> None:
        self._kind = kind
        self._source = source[-SOURCE_LENGTH:]
        self._tag = tag
        self._actor = actor
        self._batch: ImportBatch | None = None
        self._counts: Counter[str] = Counter()
        self.problems: list[Problem] = []

    def wrote(self, dataset: Dataset | None, counts: Mapping[str, int], file: str = "") -> None:
        """Note *counts* of rows that were written of *file*, in the transaction that wrote them."""
        self._counts.update(counts)
        batch = self._made(dataset)
        batch.counts = dict(self._counts)
        batch.save(update_fields=["counts"])

    def goes_on(self, file: ReadFile, counts: Mapping[str, int]) -> bool:
        """Hear what became of *file*, after its transaction; False ends the import there."""
        return True

    @transaction.atomic
    def finish(self) -> None:
        """Keep the problems of an import that wrote something or refused a file."""
        if self._batch is None and not any(problem.fatal for problem in self.problems):
            return
        batch = self._made(None)
        ImportProblem.objects.bulk_create(
            ImportProblem(
                batch=batch,
                file=problem.file[:SOURCE_LENGTH],
                row=problem.row,
                code=problem.code,
                text=problem.text,
                fatal=problem.fatal,
            )
            for problem in self.problems
        )

    def _made(self, dataset: Dataset | None) -> ImportBatch:
        if self._batch is None:
            self._batch = ImportBatch.objects.create(
                kind=self._kind, source=self._source, dataset=dataset, actor=self._actor
            )
            record(self._tag, self._batch, actor=self._actor, source=self._source)
        return self._batch

"""Stores what an import did and found, who did it, and how far it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from django.db import transaction
from django.db.models import F, Sum

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.background_work.services import held
from questions.importers.recognise import NOT_READ
from questions.importers.records import Problem
from questions.models import Dataset, ImportBatch, ImportProblem
from questions.models.imports import ImportFile
from questions.selectors.imports import OUTDATED, bank_state

SOURCE_LENGTH = 200
# What a check says of items that would change.
CHANGES = ("changed_item", "repair_overtaken", "rubric_overtaken", "rubric_of_earlier_text")


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

    @property
    def batch(self) -> ImportBatch | None:
        """The batch of the import; None while nothing was written or refused."""
        return self._batch

    def wrote(self, dataset: Dataset | None, counts: Mapping[str, int], file: str = "") -> None:
        """Note *counts* of rows that were written of *file*, in the transaction that wrote them."""
        self._counts.update(counts)
        batch = self._made(dataset)
        batch.counts = dict(self._counts)
        batch.save(update_fields=["counts"])

    def was_checked(self, file: ReadFile) -> bool:
        """Whether a check, where there was one, named all that *file* changes."""
        return True

    def has_read(self, tasks: Iterable[tuple[str, str]]) -> None:
        """Hear of which *tasks* (with their datasets) all files together held items."""

    def goes_on(self, file: ReadFile, counts: Mapping[str, int]) -> bool:
        """Hear what became of *file*, after its transaction; False ends the import there."""
        return True

    def note(self, problems: Iterable[Problem]) -> None:
        """Keep *problems* that only all files together show; each names its file."""
        self.problems += problems

    @transaction.atomic
    def finish(self) -> None:
        """Keep the problems of an import that wrote something or refused a file."""
        if self._batch is None and not any(problem.fatal for problem in self.problems):
            return
        batch = self._made(None)
        ImportProblem.objects.bulk_create(
            _problem_row(batch, problem.file[:SOURCE_LENGTH], problem) for problem in self.problems
        )

    def _made(self, dataset: Dataset | None) -> ImportBatch:
        if self._batch is None:
            self._batch = ImportBatch.objects.create(
                kind=self._kind, source=self._source, dataset=dataset, actor=self._actor
            )
            record(self._tag, self._batch, actor=self._actor, source=self._source)
        return self._batch


def _problem_row(batch: ImportBatch, file: str, problem: Problem) -> ImportProblem:
    found = {"row": problem.row, "code": problem.code, "text": problem.text}
    return ImportProblem(batch=batch, file=file, fatal=problem.fatal, **found)


COUNTS = ("new", "same", "changed", "quarantined")


class UploadLog(ImportLog):
    """The log of one worker on one root of an upload.

    What was written of a file is noted in the transaction that wrote it, so that
    a killed worker leaves no file half noted. ``prefix`` keeps the files of
    several roots apart; *sizes* are bytes by file name. *counted* sums up what was written.
    """

    def __init__(
        self,
        batch: ImportBatch,
        *,
        prefix: str,
        sizes: Mapping[str, int],
        clock: Callable[[], datetime],
        counted: Callable[[ImportBatch], dict[str, int]] | None = None,
    ) -> None:
        super().__init__(batch.kind, batch.source, Tag.QUESTIONS_IMPORTED, batch.actor)
        self._counted = counted or written
        self._upload = batch
        self._prefix = prefix
        self._sizes = sizes
        self._clock = clock
        self.stopped = False

    @property
    def batch(self) -> ImportBatch:
        """The upload."""
        return self._upload

    def wrote(self, dataset: Dataset | None, counts: Mapping[str, int], file: str = "") -> None:
        """Note what was written, in its transaction."""
        self._note(file, counts, refused=False, left=False)
        upload = ImportBatch.objects.filter(pk=self._upload.pk)
        upload.update(dataset=dataset, counts=self._counted(self._upload))

    def was_checked(self, file: ReadFile) -> bool:
        """Whether the person who confirmed was told of all that *file* would change now.

        Nothing more is expected of a file that was imported already.
        """
        if self._upload.confirmed_at is None:
            return True
        of_file = {"batch": self._upload, "file": self._named(file.name)}
        named = dict(ImportProblem.objects.filter(**of_file).values_list("text", "code"))
        imported = ImportFile.objects.filter(
            batch=self._upload, name=of_file["file"], imported_at__isnull=False
        )
        if OUTDATED in named.values() or imported.exists():
            named = {}
        return all(found.text in named for found in file.problems if found.code in CHANGES)

    def has_read(self, tasks: Iterable[tuple[str, str]]) -> None:
        """Keep with a check what the bank held of *tasks* meanwhile."""
        if self._upload.confirmed_at is not None:
            return
        known = sorted(tasks)
        states = self._upload.options.setdefault("checked", {})
        states[self._prefix] = {"tasks": known, "state": bank_state(known)}
        upload = ImportBatch.objects.filter(pk=self._upload.pk)
        upload.update(options=self._upload.options)

    def goes_on(self, file: ReadFile, counts: Mapping[str, int]) -> bool:
        """Note the file and its problems; False when somebody asked to stop or took over."""
        left = file.refused or any(problem.code == OUTDATED for problem in file.problems)
        with transaction.atomic():
            self._note(file.name, counts, refused=file.refused, left=left)
            self._keep_problems(file)
            noted = held(self._upload).update(
                heartbeat=self._clock(),
                files_done=F("files_done") + 1,
                bytes_done=F("bytes_done") + self._sizes.get(Path(file.name).name, 0),
            )
        asked = ImportBatch.objects.values_list("stop_asked", flat=True).get(pk=self._upload.pk)
        self.stopped = asked or not noted
        return not self.stopped

    def note(self, problems: Iterable[Problem]) -> None:
        """Keep them beside the others of their files."""
        found = list(problems)
        super().note(found)
        ImportProblem.objects.bulk_create(
            _problem_row(self._upload, self._named(problem.file), problem) for problem in found
        )

    def finish(self) -> None:
        """Everything was noted file by file."""

    def _note(self, name: str, counts: Mapping[str, int], *, refused: bool, left: bool) -> None:
        """The counts of a file; one that was imported keeps those of the import that wrote it.

        *left* says that nothing of it was written: it was refused, or has to be confirmed again.
        """
        importing = self._upload.confirmed_at is not None
        more = {key: value for key, value in counts.items() if key not in COUNTS}
        values: dict[str, Any] = {key: counts.get(key, 0) for key in COUNTS}
        values |= {"refused": refused, "more_counts": more}
        row, made = ImportFile.objects.get_or_create(
            batch=self._upload, name=self._named(name), defaults=values
        )
        if row.imported_at is None and (importing or not made):
            imported_at = self._clock() if importing and not left else None
            ImportFile.objects.filter(pk=row.pk).update(**values, imported_at=imported_at)

    def _keep_problems(self, file: ReadFile) -> None:
        name = self._named(file.name)
        earlier = ImportProblem.objects.filter(batch=self._upload, file=name)
        earlier.exclude(code=NOT_READ).delete()  # It is of another file, in another folder.
        ImportProblem.objects.bulk_create(
            _problem_row(self._upload, name, problem) for problem in file.problems
        )

    def _named(self, name: str) -> str:
        # A reader that finds no file names its folder: people know what they uploaded.
        name = self._upload.source if name == self._upload.folder else name
        return (self._prefix + name)[-SOURCE_LENGTH:]


def keep_passed_over(batch: ImportBatch, problems: Iterable[Problem]) -> None:
    """Name, once, what lies in an upload and is not read."""
    ImportProblem.objects.filter(batch=batch, code=NOT_READ).delete()
    ImportProblem.objects.bulk_create(
        _problem_row(batch, problem.file[-SOURCE_LENGTH:], problem) for problem in problems
    )


def written(batch: ImportBatch) -> dict[str, int]:
    """What *batch* wrote so far, over its files."""
    rows = ImportFile.objects.filter(batch=batch, imported_at__isnull=False)
    sums = rows.aggregate(**{key: Sum(key) for key in COUNTS})
    found = Counter({key: value or 0 for key, value in sums.items()})
    return {"read": found["new"] + found["same"] + found["changed"], **found}

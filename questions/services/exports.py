"""Writes the bank to files: JSON Lines with images as a .zip, which loses nothing, and CSV."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import IO

from django.db.models import Model, QuerySet

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.reads import record_export
from gradeapp.audit.tags import Tag
from gradeapp.common.csv_cells import BOM, cell
from questions.importers.jsonl import write_jsonl, write_tasks
from questions.importers.recognise import MANIFEST
from questions.importers.records import QuestionRecord
from questions.models import Asset, Dataset, Question
from questions.selectors.bank import by_place
from questions.selectors.export_records import (
    QUESTION_COLUMNS,
    question_record,
    question_rows,
    task_records,
    whole_questions,
)

Manifest = dict[str, object]
_UNSAFE = re.compile(r"[^\w.-]+")
# One time for all, so that equal banks give equal files.
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(slots=True)
class _Hashed:
    """A file that is hashed as it is written."""

    out: IO[bytes]
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def write(self, content: bytes) -> int:
        self.digest.update(content)
        return self.out.write(content)

    def flush(self) -> None:
        self.out.flush()


def export_csv(
    questions: QuerySet[Question], out: IO[bytes], parameters: Mapping[str, object]
) -> Manifest:
    """Write *questions* to *out* as CSV that spreadsheets open safely; the manifest of it."""
    hashed, rows = _Hashed(out), 0
    hashed.write((BOM + _line(QUESTION_COLUMNS)).encode())
    for row in question_rows(questions):
        hashed.write(_line([cell(value) for value in row]).encode("utf-8", "backslashreplace"))
        rows += 1
    return _manifest(rows, hashed.digest.hexdigest(), parameters)


def _line(cells: Iterable[str]) -> str:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue()


def export_jsonl(
    questions: QuerySet[Question], out: IO[bytes], parameters: Mapping[str, object]
) -> Manifest:
    """Write *questions* to *out* as a .zip in our own format, one file a task.

    Several datasets stand in a folder each, because their images may share
    names. ``manifest.json`` in it tells of each file its rows and SHA-256. The
    order is that of the bank, whatever the order of *questions*.
    """
    questions = by_place().filter(pk__in=questions.order_by().values("pk"))
    slugs = list(
        questions.order_by("task__dataset__slug")
        .values_list("task__dataset__slug", flat=True)
        .distinct()
    )
    files: list[dict[str, object]] = []
    hashed = _Hashed(out)
    with zipfile.ZipFile(hashed, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for slug in slugs:
            folder = f"{slug}/" if len(slugs) > 1 else ""
            part = questions.filter(task__dataset__slug=slug)
            files += _write_dataset(archive, part, Dataset.objects.get(slug=slug), folder)
        rows = sum(int(str(file["rows"])) for file in files)
        about = {"rows": rows, "files": files, "parameters": dict(parameters)}
        text = json.dumps(about, ensure_ascii=False, indent=2) + "\n"
        archive.writestr(_entry(MANIFEST), text.encode())
    return _manifest(rows, hashed.digest.hexdigest(), parameters)


def _write_dataset(
    archive: zipfile.ZipFile, questions: QuerySet[Question], dataset: Dataset, folder: str
) -> Iterator[dict[str, object]]:
    """One file a task, with what is known of the task on its last line; then the images."""
    images: set[str] = set()
    taken: set[str] = set()
    tasks = task_records(dataset)
    records = (question_record(question) for question in whole_questions(questions))
    for task, group in groupby(records, key=lambda record: record.task):
        name = folder + _file_name(task, taken)
        with archive.open(_entry(name), "w") as file:
            hashed, rows = _Hashed(file), 0
            for one in group:
                hashed.write(_json_line(one))
                images |= set(one.images)
                rows += 1
            if task in tasks:
                hashed.write(write_tasks([tasks[task]]).encode())
        yield {"name": name, "rows": rows, "sha256": hashed.digest.hexdigest()}
    for asset in Asset.objects.filter(dataset=dataset, name__in=images).order_by("name").iterator():
        archive.writestr(_entry(f"{folder}images/{asset.name}"), bytes(asset.content))


def _json_line(one: QuestionRecord) -> bytes:
    return write_jsonl([one]).encode()


def _file_name(task: str, taken: set[str]) -> str:
    """A plain file name for *task* that no other task of the folder has."""
    plain = _UNSAFE.sub("_", task).strip("._")[:100] or "task"
    name, number = plain, 1
    while name.casefold() in taken:
        number += 1
        name = f"{plain}-{number}"
    taken.add(name.casefold())
    return f"{name}.jsonl"


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=_ZIP_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o100644 << 16
    return info


def _manifest(rows: int, sha256: str, parameters: Mapping[str, object]) -> Manifest:
    """What stands in ``FILE.manifest.json``."""
    return {"rows": rows, "sha256": sha256, "parameters": dict(parameters)}


def note_export(manifest: Manifest, target: Model, *, acting_user: User | None) -> AuditEntry:
    """Record that *acting_user* (None: the command line) took questions of *target* away."""
    return record_export(Tag.QUESTIONS_EXPORTED, target, actor=acting_user, **manifest)


def note_problems(
    rows: int, content: bytes, parameters: Mapping[str, object], *, acting_user: User
) -> AuditEntry:
    """Record that *acting_user* took a list of problems away, which holds keys of questions."""
    manifest = _manifest(rows, hashlib.sha256(content).hexdigest(), parameters)
    return record_export(Tag.PROBLEMS_EXPORTED, acting_user, actor=acting_user, **manifest)

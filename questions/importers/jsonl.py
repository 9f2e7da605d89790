"""Our own exam format: one question a line, pictures beside it. Reads it and writes it.

A file is taken whole or not at all, so that a broken line can never leave half
an exam in the bank. The format is documented in docs/datasets.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gradeapp.common.strict_json import JsonRefusal, cleaned, numbered_objects
from questions.importers.exam_format import (
    contradictions,
    object_from_record,
    object_from_task,
    record_from_object,
    task_from_object,
)
from questions.importers.jsonl_images import image_problem, images_beside
from questions.importers.records import Problem, QuestionRecord, SourceFile, TaskRecord
from questions.importers.source_files import files_in, leads_out, refused, refused_links, unreadable
from questions.rules.figures import referenced_images
from questions.rules.json_schema import json_text

MAX_PROBLEMS = 100


def read_jsonl(path: Path) -> Iterator[SourceFile]:
    """Each .jsonl file of *path* (one file, or a folder that is not searched deeper).

    Nothing is raised for bad input: a missing path, an empty folder and a broken
    line come as fatal problems. A question met twice refuses the later file.
    """
    files = files_in(path, ".jsonl") if path.is_dir() else [path]
    if not files:
        yield refused(path.name, None, "no_files", "The folder holds no .jsonl file.")
    reader = _Reader(images_beside(path))
    yield from refused_links(path, files)
    for file in files:
        if not leads_out(path, file):
            yield reader.read(file)


def write_jsonl(records: Iterable[QuestionRecord]) -> str:
    """*records* as text that ``read_jsonl`` gives back unchanged; images are copied apart."""
    return "".join(json_text(object_from_record(record)) + "\n" for record in records)


def write_tasks(tasks: Iterable[TaskRecord]) -> str:
    """*tasks* as lines that ``read_jsonl`` gives back unchanged; they may stand anywhere."""
    return "".join(json_text(object_from_task(task)) + "\n" for task in tasks)


class _Reader:
    """Reads the files of one source, and remembers which questions it has met."""

    def __init__(self, images: Mapping[str, Path]) -> None:
        self._images = images
        self._first_place: dict[tuple[str, str, str], str] = {}
        self._next_position: Counter[tuple[str, str]] = Counter()

    def read(self, file: Path) -> SourceFile:
        records: list[QuestionRecord] = []
        problems: list[Problem] = []
        tasks: list[TaskRecord] = []
        try:
            with file.open("rb") as stream:
                for number, row in numbered_objects(stream):
                    record = self._row(file.name, number, row, problems)
                    if isinstance(record, TaskRecord):
                        tasks.append(record)
                    elif record is not None:
                        records.append(record)
                    if len(problems) >= MAX_PROBLEMS:
                        problems.append(_too_many(file.name, number))
                        break
        except OSError as error:
            return unreadable(file, error)
        if not records and not problems:
            return refused(file.name, None, "empty", f"{file.name!r} holds no question.")
        return SourceFile(file.name, tuple(records), tuple(problems), tuple(tasks))

    def _row(
        self, file: str, number: int, row: dict[str, Any] | JsonRefusal, problems: list[Problem]
    ) -> QuestionRecord | TaskRecord | None:
        """One line's record; what is wrong with it is added to *problems*."""
        record: QuestionRecord | TaskRecord
        originals: dict[str, str] = {}
        try:
            if isinstance(row, JsonRefusal):
                raise row
            if "about" in row:
                record = task_from_object(_storable(row))
            else:
                clean, originals = _with_originals(row)
                record = self._placed(clean, f"{file}, line {number}")
                self._check_images(record)
        except JsonRefusal as refusal:
            problems.append(Problem(file, number, refusal.code, refusal.text, fatal=True))
            return None
        if originals:
            text = "A character that no database stores was replaced; the original is kept."
            problems.append(Problem(file, number, "text_cleaned", text))
        if isinstance(record, QuestionRecord):
            problems += [Problem(file, number, code, text) for code, text in contradictions(record)]
        return record

    def _placed(self, row: dict[str, Any], place: str) -> QuestionRecord:
        """The record with its position in its task; refused when its id was met before."""
        task = (str(row.get("dataset")), str(row.get("task")))
        record = record_from_object(row, self._next_position[task])
        self._next_position[task] = record.position + 1
        first = self._first_place.setdefault((*task, record.external_id), place)
        if first != place:
            raise JsonRefusal(
                "duplicate_id", f"Question {record.external_id!r} stands in {first} already."
            )
        return record

    def _check_images(self, record: QuestionRecord) -> None:
        points = (point.text for point in record.rubric)
        asked = (record.passage, record.stem, *record.options)
        texts = (*asked, record.reference_answer, record.analysis, *points)
        for name in referenced_images(*texts):
            if name not in record.images:
                raise JsonRefusal("image_not_listed", f"The image {name!r} is not in 'images'.")
        for name in record.images:
            if problem := image_problem(name, self._images):
                raise JsonRefusal(*problem)


def _storable(row: dict[str, Any]) -> dict[str, Any]:
    """*row* itself; refused where a text would be replaced, for there is nowhere to keep it."""
    if cleaned(row)[1]:
        raise JsonRefusal("bad_value", "The line holds a character that no database stores.")
    return row


def _with_originals(row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The row with storable text, and the replaced originals, which also go into ``extra``."""
    clean, originals = cleaned(row)
    if originals and isinstance(clean.get("extra", {}), dict):
        kept = {f"raw:{path}": text for path, text in originals.items()}
        clean["extra"] = clean.get("extra", {}) | kept
    return clean, originals


def _too_many(name: str, number: int) -> Problem:
    text = f"Reading stopped after {MAX_PROBLEMS} problems."
    return Problem(name, number, "too_many_problems", text, fatal=True)

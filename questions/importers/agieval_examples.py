"""AGIEval's ``few_shot_prompts.csv``: worked examples, a column a task.

The rows are ``sample 1``, ``explanation 1`` and so on; a sample is a line of a task's
file, written as a Python literal.
"""

from __future__ import annotations

import ast
import csv
import io
from collections import defaultdict
from pathlib import Path
from typing import Any

from gradeapp.common.strict_json import JsonRefusal, check_depth, cleaned, whole_file
from questions.importers.agieval_items import read_item
from questions.importers.agieval_tasks import TASKS
from questions.importers.records import FewShotRecord, Problem, SourceFile
from questions.importers.source_files import refused, unreadable

FILE = "few_shot_prompts.csv"
MAX_CELL = 100_000
MAX_EXAMPLES = 20

Examples = dict[str, tuple[FewShotRecord, ...]]


def read_examples(file: Path) -> tuple[SourceFile, Examples]:
    """The examples by task, and the file with what is wrong in it; a broken file gives none."""
    try:
        with file.open("rb") as stream:
            rows = _rows(whole_file(stream))
    except JsonRefusal as refusal:
        return refused(file.name, refusal.row, refusal.code, refusal.text), {}
    except OSError as error:
        return unreadable(file, error), {}
    return _read(file.name, rows)


def raw_examples(file: Path) -> dict[str, list[tuple[dict[str, Any], str]]]:
    """Return, by task, the samples as they are written, each with its explanation.

    Prompts show these texts byte for byte. Raises JsonRefusal for a broken file, OSError for one
    that cannot be read.
    """
    with file.open("rb") as stream:
        rows = _rows(whole_file(stream))
    tasks = rows[0][1:]
    cells = {row[0].strip(): (number, row[1:]) for number, row in enumerate(rows[1:], start=2)}
    examples: dict[str, list[tuple[dict[str, Any], str]]] = defaultdict(list)
    for number in range(1, MAX_EXAMPLES + 1):
        _line, samples = cells.get(f"sample {number}", (0, []))
        _line, explanations = cells.get(f"explanation {number}", (0, [""] * len(tasks)))
        for task, sample, explanation in zip(tasks, samples, explanations, strict=False):
            if sample.strip():
                examples[task].append((_literal(sample), explanation))
    return dict(examples)


def _rows(data: bytes) -> list[list[str]]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise JsonRefusal("not_utf8", "The file is not UTF-8 text.") from None
    if "\0" in text:
        raise JsonRefusal("broken_csv", "The file holds NUL characters.")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    try:
        rows.extend(reader)
    except csv.Error as error:
        row = len(rows) + 1
        raise JsonRefusal("broken_csv", f"Row {row} is not CSV: {error}.", row) from None
    if not rows or not all(len(row) == len(rows[0]) for row in rows):
        raise JsonRefusal("broken_csv", "The rows have different numbers of columns.")
    return rows


def _read(name: str, rows: list[list[str]]) -> tuple[SourceFile, Examples]:
    tasks = rows[0][1:]
    cells = {row[0].strip(): (number, row[1:]) for number, row in enumerate(rows[1:], start=2)}
    examples: dict[str, list[FewShotRecord]] = defaultdict(list)
    problems: list[Problem] = []
    for number in range(1, MAX_EXAMPLES + 1):
        line, samples = cells.pop(f"sample {number}", (0, []))
        _, explanations = cells.pop(f"explanation {number}", (0, [""] * len(tasks)))
        for task, sample, explanation in zip(tasks, samples, explanations, strict=False):
            if not sample.strip():
                continue
            try:
                examples[task].append(_example(task, number, sample, explanation))
            except JsonRefusal as refusal:
                text = f"Row {line}, {task[:60]}: {refusal.text}"
                problems.append(Problem(name, line, refusal.code, text, fatal=True))
    for label, (line, _) in cells.items():
        text = f"Row {line} is called {label[:60]!r}, neither a sample nor an explanation."
        problems.append(Problem(name, line, "bad_value", text, fatal=True))
    file = SourceFile(name, (), tuple(problems))
    return file, {} if file.refused else {task: tuple(made) for task, made in examples.items()}


def _example(task: str, number: int, sample: str, explanation: str) -> FewShotRecord:
    if task not in TASKS:
        raise JsonRefusal("unknown_task", "AGIEval has no such task.")
    row, _ = cleaned(_literal(sample))
    item = read_item(row, TASKS[task])
    return FewShotRecord(
        number=number,
        passage=item.passage,
        stem=item.stem,
        options=item.options,
        letters=item.letters,
        answer_key=item.answer_key,
        explanation=explanation,
    )


def _literal(text: str) -> dict[str, Any]:
    """The dictionary that *text* writes as a Python literal; nothing in it is run."""
    if len(text) > MAX_CELL:
        raise JsonRefusal("too_long", f"The sample is longer than {MAX_CELL} characters.")
    check_depth(text, "sample")
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise JsonRefusal("broken_literal", "The sample is no Python literal.") from None
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise JsonRefusal("not_an_object", "The sample is not a dictionary.")
    return value

"""Reads the answers of models as GAOKAO-Bench releases them, with marks and gradings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluations.imports.rules.answer_records import AnswerFile, AnswerRecord
from evaluations.imports.rules.belonging import key_text
from evaluations.imports.rules.human_marks import human_marks
from evaluations.imports.rules.judge_marks import judge_grading
from gradeapp.common.strict_json import JsonRefusal
from questions.importers.gaokao_files import (
    ANSWER_KEY,
    DATASET,
    PART_MARK,
    GaokaoFile,
    index_of,
    json_files,
    read_gaokao_file,
    text_of,
    text_problems,
)
from questions.importers.records import Problem

MAX_MODEL_NAME = 100
QUESTION_KEY = "question"
# What the key is called in the released rows: earlier rows keep the name of the question files.
KEY_KEYS = ("standard_answer", "answer")


def read_model_outputs(
    path: Path, *, model: str | None = None, repeat: int = 1
) -> Iterator[AnswerFile]:
    """Each file at *path* (a file, or a folder with its subfolders), in one fixed order.

    The model is *model*, else the one the file names, else the first part of the
    file's name. Summaries and other files are recognised and passed over; a row
    that repeats the index of an earlier one is named and does not count.
    """
    files = json_files(path)
    if not files:
        text = "The folder holds no .json file."
        yield AnswerFile(path.name, (), (Problem(path.name, None, "no_files", text, fatal=True),))
    for file in files:
        yield _answer_file(read_gaokao_file(file, lists=True), model, repeat)


def _answer_file(file: GaokaoFile | Problem, model: str | None, repeat: int) -> AnswerFile:
    if isinstance(file, Problem):
        return AnswerFile(file.file, (), (file,))
    if not file.holds_answers:
        text = "The file holds questions, not answers; it was passed over."
        return AnswerFile(file.name, (), (Problem(file.name, None, "questions_file", text),))
    name = (model or _model_named_in(file)).strip()
    if not 1 <= len(name) <= MAX_MODEL_NAME:
        text = "The file does not say which model answered; name it with --model."
        return AnswerFile(file.name, (), (Problem(file.name, None, "no_model", text, fatal=True),))
    return _read(file, name, repeat)


def _model_named_in(file: GaokaoFile) -> str:
    """The model of the header, or ``gpt-3.5-turbo`` of ``gpt-3.5-turbo_2010-2022_X.json``."""
    before, found, _ = Path(file.name).stem.partition(f"_{file.keyword}")
    named = before.removesuffix(PART_MARK) if found else ""
    return file.header.get("model_name", "") or named


def _text_or_none(item: dict[str, Any], key: str) -> str:
    """The text under *key*; empty where there is something else: it is only compared."""
    value = item.get(key)
    return value if isinstance(value, str) else ""


def _read(file: GaokaoFile, model: str, repeat: int) -> AnswerFile:
    answers: dict[str, AnswerRecord] = {}
    problems = list(text_problems(file))
    for row, item in enumerate(file.items, start=1):
        try:
            record = _record(file, item, row, model, repeat)
        except JsonRefusal as refusal:
            text = f"Item {row}: {refusal.text}"
            problems.append(Problem(file.name, row, refusal.code, text, fatal=True))
            continue
        first = answers.setdefault(record.external_id, record)
        if first is not record:
            problems.append(_repeated(file.name, first, record))
    return AnswerFile(file.name, tuple(answers.values()), tuple(problems))


def _repeated(name: str, first: AnswerRecord, again: AnswerRecord) -> Problem:
    how = "the same" if again.same_content(first) else "another"
    text = (
        f"Item {again.row} repeats index {again.external_id} of item {first.row} with {how}"
        " content; it does not count."
    )
    return Problem(name, again.row, "repeated_row", text)


def _record(
    file: GaokaoFile, item: dict[str, Any], row: int, model: str, repeat: int
) -> AnswerRecord:
    if ANSWER_KEY not in item:
        raise JsonRefusal("missing_key", f"{ANSWER_KEY!r} is missing.")
    return AnswerRecord(
        row=row,
        dataset=DATASET,
        task=file.keyword,
        external_id=str(index_of(item)),
        model=model,
        repeat=repeat,
        text=text_of(item, ANSWER_KEY),
        marks=human_marks(item),
        grading=judge_grading(file.header, item),
        question=_text_or_none(item, QUESTION_KEY),
        key=key_text(next((item[key] for key in KEY_KEYS if item.get(key)), "")),
    )

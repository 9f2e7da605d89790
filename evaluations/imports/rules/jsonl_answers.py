"""Reads answers in our own format, one response a line (documented in docs/datasets.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluations.imports.rules.answer_records import AnswerFile, AnswerRecord
from evaluations.imports.rules.belonging import key_text
from gradeapp.common.strict_json import JsonRefusal, cleaned, numbered_objects
from questions.importers.jsonl_values import (
    check_keys,
    name_of,
    text_of,
    texts_of,
    whole_of,
    wrong_type,
)
from questions.importers.records import Problem

MAX_PROBLEMS = 100
REQUIRED_KEYS = ("dataset", "task", "id", "model", "repeat", "text")
KEYS = (*REQUIRED_KEYS, "finish_reason", "prompt_tokens", "completion_tokens", "question", "key")
MAX_REPEAT = 32767
MAX_TOKENS = 2**31 - 1


def read_jsonl_answers(path: Path) -> Iterator[AnswerFile]:
    """Each .jsonl file of *path* (one file, or a folder that is not searched deeper).

    A file is taken whole or not at all; an answer met twice refuses the later file.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        yield _refused(path.name, "no_files", "The folder holds no .jsonl file.")
    first_places: dict[tuple[object, ...], str] = {}
    for file in files:
        try:
            yield _read(file, first_places)
        except OSError as error:
            reason = error.strerror or "unknown reason"
            yield _refused(file.name, "unreadable", f"The file cannot be read: {reason}.")


def _refused(name: str, code: str, text: str) -> AnswerFile:
    return AnswerFile(name, (), (Problem(name, None, code, text, fatal=True),))


def _read(file: Path, first_places: dict[tuple[object, ...], str]) -> AnswerFile:
    answers: list[AnswerRecord] = []
    problems: list[Problem] = []
    with file.open("rb") as stream:
        for number, row in numbered_objects(stream):
            try:
                answer, replaced = _answer(row, number)
                place = f"{file.name}, line {number}"
                first = first_places.setdefault(answer.identity, place)
                if first != place:
                    raise JsonRefusal("duplicate_id", f"This answer stands in {first} already.")
            except JsonRefusal as refusal:
                problems.append(Problem(file.name, number, refusal.code, refusal.text, fatal=True))
                if len(problems) >= MAX_PROBLEMS:
                    break
                continue
            answers.append(answer)
            if replaced:
                text = "A character that no database stores was replaced."
                problems.append(Problem(file.name, number, "text_cleaned", text))
    if not answers and not problems:
        return _refused(file.name, "empty", "The file holds no answer.")
    return AnswerFile(file.name, tuple(answers), tuple(problems))


def _answer(row: dict[str, Any] | JsonRefusal, number: int) -> tuple[AnswerRecord, bool]:
    """The answer on one line, and whether a character of it was replaced."""
    if isinstance(row, JsonRefusal):
        raise row
    check_keys(row, REQUIRED_KEYS, KEYS)
    clean, originals = cleaned(row)
    repeat = whole_of(clean, "repeat", 1, MAX_REPEAT, None)
    if repeat is None:
        raise wrong_type("repeat", "a whole number")
    record = AnswerRecord(
        row=number,
        dataset=name_of(clean, "dataset", 60),
        task=name_of(clean, "task", 120),
        external_id=name_of(clean, "id", 80),
        model=name_of(clean, "model", 100),
        repeat=repeat,
        text=text_of(clean, "text"),
        finish_reason=text_of(clean, "finish_reason", 40),
        prompt_tokens=whole_of(clean, "prompt_tokens", 0, MAX_TOKENS, None),
        completion_tokens=whole_of(clean, "completion_tokens", 0, MAX_TOKENS, None),
        question=text_of(clean, "question"),
        key=_key(clean),
    )
    return record, bool(originals)


def _key(row: dict[str, Any]) -> str:
    """The key that the line itself gives: a text, or a list of texts; empty for none."""
    value = row.get("key", "")
    return key_text(texts_of(row, "key") if isinstance(value, list) else text_of(row, "key"))

"""Reads answers in our own format, one response a line (documented in docs/datasets.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluations.importers.answer_records import AnswerFile, AnswerRecord
from questions.importers.records import Problem
from questions.rules.strict_json import JsonRefusal, cleaned, numbered_objects

MAX_PROBLEMS = 100
REQUIRED_KEYS = ("dataset", "task", "id", "model", "repeat", "text")
TOKEN_KEYS = ("prompt_tokens", "completion_tokens")
KEYS = (*REQUIRED_KEYS, "finish_reason", *TOKEN_KEYS)
MAX_NAME_LENGTH = 100
MAX_FINISH_REASON = 40
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
    _check_keys(row)
    clean, originals = cleaned(row)
    record = AnswerRecord(
        row=number,
        dataset=_name(clean, "dataset"),
        task=_name(clean, "task"),
        external_id=_name(clean, "id"),
        model=_name(clean, "model"),
        repeat=_whole(clean, "repeat", 1, MAX_REPEAT) or 1,
        text=_text(clean, "text"),
        finish_reason=_text(clean, "finish_reason"),
        prompt_tokens=_whole(clean, "prompt_tokens", 0, MAX_TOKENS),
        completion_tokens=_whole(clean, "completion_tokens", 0, MAX_TOKENS),
    )
    if len(record.finish_reason) > MAX_FINISH_REASON:
        raise JsonRefusal("bad_value", "'finish_reason' is over 40 characters.")
    return record, bool(originals)


def _check_keys(row: dict[str, Any]) -> None:
    for key in row:
        if key not in KEYS:
            raise JsonRefusal("unknown_key", f"The key {key[:60]!r} is not part of the format.")
    for key in REQUIRED_KEYS:
        if key not in row:
            raise JsonRefusal("missing_key", f"The key {key!r} is missing.")


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key, "")
    if not isinstance(value, str):
        raise JsonRefusal("wrong_type", f"The value of {key!r} must be a text.")
    return value


def _name(row: dict[str, Any], key: str) -> str:
    value = _text(row, key)
    if not value or value != value.strip() or len(value) > MAX_NAME_LENGTH:
        raise JsonRefusal("bad_value", f"{key!r} must be 1 to 100 characters without outer spaces.")
    return value


def _whole(row: dict[str, Any], key: str, low: int, high: int) -> int | None:
    value = row.get(key)
    if value is None:
        if key in REQUIRED_KEYS:
            raise JsonRefusal("wrong_type", f"The value of {key!r} must be a whole number.")
        return None
    if type(value) is not int:  # bool is an int, and a count is not True
        raise JsonRefusal("wrong_type", f"The value of {key!r} must be a whole number.")
    if not low <= value <= high:
        raise JsonRefusal("bad_value", f"{key!r} must lie between {low} and {high}.")
    return value

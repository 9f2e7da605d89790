"""Read answers in our own format, one response per line (see docs/datasets.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter

from evaluations.conditions import PromptSetting
from evaluations.imports.rules.answer_records import AnswerFile, AnswerRecord
from evaluations.imports.rules.belonging import key_text
from gradeapp.common.strict_json import JsonRefusal, cleaned, numbered_objects
from questions.importers.records import Problem
from questions.importers.source_files import files_in
from questions.rules.json_schema import CONFIG, PLAIN, Name, Whole, validated

MAX_PROBLEMS = 100
NumberedRow = tuple[int, dict[str, Any] | JsonRefusal]
MAX_REPEAT = 32767


def _in_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _spaced(name: str) -> str:
    return " ".join(name.split())


@dataclass(frozen=True)
class AnswerLine:
    """One line; ``question`` and ``key`` are what it says itself of its question."""

    __pydantic_config__ = CONFIG

    dataset: Annotated[Name, Field(max_length=60)]
    task: Annotated[Name, Field(max_length=120)]
    external_id: Annotated[Name, Field(alias="id", max_length=80)]
    model: Annotated[Name, Field(max_length=100), PLAIN]
    repeat: Annotated[Whole, Field(ge=1, le=MAX_REPEAT)]
    text: str
    finish_reason: Annotated[str, Field(max_length=40)] = ""
    prompt_tokens: Annotated[Whole, Field(ge=0, le=2**31 - 1)] | None = None
    completion_tokens: Annotated[Whole, Field(ge=0, le=2**31 - 1)] | None = None
    question: str = ""
    setting: PromptSetting | Literal[""] = ""
    condition: Annotated[str, Field(max_length=100), AfterValidator(_spaced), PLAIN] = ""
    key: Annotated[list[str], BeforeValidator(_in_list)] = field(default_factory=list)


_LINE = TypeAdapter(AnswerLine)


def read_jsonl_answers(path: Path) -> Iterator[AnswerFile]:
    """Yield each .jsonl file at *path* (a file, or a folder without its subfolders).

    A file is accepted whole or not at all; a file that repeats an answer of an earlier one is
    refused.
    """
    yield from answer_files(path, ".jsonl", _jsonl_rows)


def _jsonl_rows(file: Path) -> Iterator[NumberedRow]:
    with file.open("rb") as stream:
        yield from numbered_objects(stream)


def answer_files(
    path: Path, suffix: str, rows_of: Callable[[Path], Iterable[NumberedRow]]
) -> Iterator[AnswerFile]:
    """Yield the answers of each file with *suffix* at *path*, whose rows *rows_of* reads.

    ``rows_of(file)`` gives each row with its number: an object with the keys of ``AnswerLine``,
    or why it is refused.
    """
    files = files_in(path, suffix) if path.is_dir() else [path]
    if not files:
        yield _refused(path.name, "no_files", f"The folder holds no {suffix} file.")
    first_places: dict[tuple[object, ...], str] = {}
    for file in files:
        try:
            yield _read(file, rows_of(file), first_places)
        except OSError as error:
            reason = error.strerror or "unknown reason"
            yield _refused(file.name, "unreadable", f"The file cannot be read: {reason}.")


def _refused(name: str, code: str, text: str) -> AnswerFile:
    return AnswerFile(name, (), (Problem(name, None, code, text, fatal=True),))


def _read(
    file: Path, rows: Iterable[NumberedRow], first_places: dict[tuple[object, ...], str]
) -> AnswerFile:
    answers: list[AnswerRecord] = []
    problems: list[Problem] = []
    for number, row in rows:
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
    """Return the answer on one line, and whether a character of it was replaced."""
    if isinstance(row, JsonRefusal):
        raise row
    clean, originals = cleaned(row)
    line = vars(validated(_LINE, clean))
    return AnswerRecord(row=number, **line | {"key": key_text(line["key"])}), bool(originals)

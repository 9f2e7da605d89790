"""The files of GAOKAO-Bench as published: where they lie, and which are something else.

A file of questions or of answers is ``{"keyword": ..., "example": [...]}`` (or
``keywords``). The first release of answers has the list alone; there the keyword stands
in the file's name. Everything else in the published folders, such as prompt texts and
summaries, is recognised and passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

from gradeapp.common.strict_json import JsonRefusal, cleaned, read_array, read_document
from questions.importers.records import Problem
from questions.importers.source_files import files_below

DATASET = "gaokao-bench"
ANSWER_KEY = "model_output"
# Parts of a file: ``gpt-x_seperate_2010-2022_Biology_MCQs_0-49.json``, as the release spells it.
PART_MARK = "_seperate"
_KEYWORD_IN_NAME = re.compile(r"(?:^|_)(\d{4}(?:-\d{4})?_[A-Za-z][A-Za-z_-]*?)(?:_\d+-\d+)?\.?$")
NO_TASK = (
    "The file is a list, and its name does not say the task as in"
    " gpt-x_2010-2022_Biology_MCQs.json; it was passed over."
)


@dataclass(frozen=True, slots=True)
class GaokaoFile:
    """One file of questions or answers: its keyword, its other texts and its items.

    ``originals`` are texts that held a character no database stores, by place, in base64.
    """

    name: str
    keyword: str
    header: dict[str, str]
    items: tuple[dict[str, Any], ...]
    originals: dict[str, str]

    @property
    def holds_answers(self) -> bool:
        """Whether these are a model's answers rather than the questions."""
        return any(ANSWER_KEY in item for item in self.items)


def json_files(path: Path) -> list[Path]:
    """The JSON files at *path* (one file, or a folder with its subfolders), in one fixed order."""
    return files_below(path, ".json") if path.is_dir() else [path]


def read_gaokao_file(file: Path, *, name: str = "", lists: bool = False) -> GaokaoFile | Problem:
    """*file*, or the one problem that refuses it (fatal) or says what else it is (not fatal).

    *name* is what problems call it, without one its file name. With *lists* also a file that is a
    list of items, as the first release has answers.
    """
    name = name or file.name
    try:
        with file.open("rb") as stream:
            document = _document(stream, file) if lists else read_document(stream)
    except JsonRefusal as refusal:
        return Problem(name, refusal.row, refusal.code, refusal.text, fatal=True)
    except OSError as error:
        text = f"The file cannot be read: {error.strerror or 'unknown reason'}."
        return Problem(name, None, "unreadable", text, fatal=True)
    keyword = document.get("keyword", document.get("keywords"))
    items = document.get("example")
    if lists and keyword == "" and items is not None:
        return Problem(name, None, "no_task", NO_TASK)
    if keyword is None or items is None:
        return Problem(name, None, *_something_else(document))
    return _file(name, keyword, items, document)


def _document(stream: BinaryIO, file: Path) -> dict[str, Any]:
    """The object that *file* holds, or one made of its list; an empty keyword for an odd name."""
    try:
        return read_document(stream)
    except JsonRefusal as refusal:
        if refusal.code != "not_an_object":
            raise
    stream.seek(0)
    named = _KEYWORD_IN_NAME.search(file.stem)
    return {"keyword": named.group(1) if named else "", "example": read_array(stream)}


def _file(
    name: str, keyword: object, items: object, document: dict[str, Any]
) -> GaokaoFile | Problem:
    if not isinstance(keyword, str) or not keyword:
        text = "The keyword is not a text."
        return Problem(name, None, "wrong_type", text, fatal=True)
    if not isinstance(items, list) or not items:
        text = "'example' is not a list of items."
        return Problem(name, None, "wrong_type", text, fatal=True)
    for row, item in enumerate(items, start=1):
        if not isinstance(item, dict):
            text = f"Item {row} is not an object in braces."
            return Problem(name, row, "wrong_type", text, fatal=True)
    clean, originals = cleaned(items)
    header = {key: value for key, value in document.items() if isinstance(value, str)}
    return GaokaoFile(name, keyword, header, tuple(clean), originals)


def _something_else(document: dict[str, Any]) -> tuple[str, str]:
    if "examples" in document:
        return "prompts_file", "The file holds prompt texts; it was passed over."
    if "model_name" in document:
        return "summary_file", "The file is a summary of scores; it was passed over."
    return "not_of_the_benchmark", "The file is not one of GAOKAO-Bench; it was passed over."


def text_problems(file: GaokaoFile) -> Iterator[Problem]:
    """One problem for each item in which a character was replaced."""
    for row in sorted({int(place.partition(".")[0]) + 1 for place in file.originals}):
        text = f"Item {row} held a character that no database stores; it was replaced."
        yield Problem(file.name, row, "text_cleaned", text)


def text_of(item: dict[str, Any], key: str, *, needed: bool = False) -> str:
    """The text under *key*; the empty text where it may be left out."""
    value = item.get(key, "")
    if not isinstance(value, str):
        raise JsonRefusal("wrong_type", f"{key!r} is not a text.")
    if needed and not value.strip():
        raise JsonRefusal("missing_key", f"{key!r} is missing or empty.")
    return value


def index_of(item: dict[str, Any]) -> int:
    """The item's published number, by which answers find their question."""
    value = item.get("index")
    if type(value) is not int or not 0 <= value <= 10**6:  # bool is an int, and no index
        raise JsonRefusal("wrong_type", "'index' is not a whole number from 0.")
    return value


def number_of(value: object, key: str) -> Decimal:
    """A number as a Decimal, exactly as it was written."""
    if type(value) is not int and not isinstance(value, Decimal):
        raise JsonRefusal("wrong_type", f"{key!r} is not a number.")
    return Decimal(value)

"""One item of AGIEval, from a line of a task's file or a cell of the few-shot examples."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gradeapp.common.strict_json import JsonRefusal
from questions.importers.agieval_tasks import AgievalTask
from questions.importers.source_files import text_of, wrong_type
from questions.rules.json_schema import json_text
from questions.rules.vocabulary import QuestionType

KEYS = ("passage", "question", "options", "label", "answer", "other")
MAX_OPTIONS = 10
# Where the options cannot be written again from letters and texts: the list of the file, as JSON.
PUBLISHED_OPTIONS = "published_options"

_LETTERS = re.compile(r"[A-J]")
_BETWEEN = re.compile(r"[A-J\s,，、;；]*")


@dataclass(frozen=True, slots=True)
class AgievalItem:
    """What is asked and what is right; *notes* are codes and sentences of what was odd."""

    passage: str
    stem: str
    options: tuple[str, ...]
    letters: str
    answer_key: tuple[str, ...]
    question_type: QuestionType
    analysis: str
    source: str
    extra: dict[str, str]
    notes: tuple[tuple[str, str], ...]


def read_item(row: dict[str, Any], task: AgievalTask) -> AgievalItem:
    """The item that *row* describes; raises JsonRefusal where it cannot be one."""
    for key in row:
        if key not in KEYS:
            raise JsonRefusal("unknown_key", f"The key {key[:60]!r} is not part of the format.")
    for key in ("question", "options", "label"):
        if key not in row:
            raise JsonRefusal("missing_key", f"The key {key!r} is missing.")
    row = {key: value for key, value in row.items() if value is not None}
    stem = text_of(row, "question")
    if not stem.strip():
        raise JsonRefusal("bad_value", "The value of 'question' is empty.")
    options = _options(row)
    published = row["options"] if options else []
    read = read_options(options) if options else None
    notes = [read.note] if read and read.note else []
    if read:
        key, odd = _letters_of(row.get("label"))
        if odd:
            text = f"The label holds {odd!r}; only its letters were taken."
            notes.append(("label_cleaned", text))
    else:
        key = text_of(row, "answer").strip()
    other = _other(row)
    if read and " ".join(published) != lettered(read.letters, read.texts):
        other[PUBLISHED_OPTIONS] = json_text(published)
    return AgievalItem(
        passage=text_of(row, "passage"),
        stem=stem,
        options=read.texts if read else (),
        letters=read.letters if read else "",
        answer_key=(key,),
        question_type=_type(task, key, choice=read is not None),
        analysis=other.pop("solution", ""),
        source=other.pop("source", ""),
        extra=other,
        notes=tuple(notes),
    )


def lettered(letters: str, texts: Sequence[str]) -> str:
    """Options as one text, written as nearly all files of AGIEval write them: ``(A)one (B)two``."""
    return " ".join(f"({letter}){text}" for letter, text in zip(letters, texts, strict=True))


def published_options(extra: Mapping[str, str], letters: str, texts: Sequence[str]) -> str | None:
    """Return the options of an item as one text, as its file has them, joined by one blank.

    None if the item was repaired since, so that the text of the file is no longer that of the item.
    """
    if PUBLISHED_OPTIONS not in extra:
        return lettered(letters, texts)
    published = json.loads(extra[PUBLISHED_OPTIONS])
    read = read_options(apart(published))
    return " ".join(published) if (read.letters, read.texts) == (letters, tuple(texts)) else None


def full_marks() -> tuple[Decimal, ...]:
    """Every item is worth one point: AGIEval reports accuracies."""
    return (Decimal(1),)


def _type(task: AgievalTask, key: str, *, choice: bool) -> QuestionType:
    """The task's type, but several right letters make a multiple choice of one item."""
    if not choice:
        return QuestionType.EXACT_ANSWER
    single = task.question_type is not QuestionType.MULTIPLE_CHOICE and len(key) <= 1
    return QuestionType.SINGLE_CHOICE if single else QuestionType.MULTIPLE_CHOICE


def _options(row: dict[str, Any]) -> list[str]:
    if "options" not in row:
        return []
    value = row["options"]
    if not isinstance(value, list) or not all(isinstance(option, str) for option in value):
        raise wrong_type("options", "a list of texts")
    value = apart(value)
    if not 2 <= len(value) <= MAX_OPTIONS:
        raise JsonRefusal("bad_value", f"'options' must hold 2 to {MAX_OPTIONS} options.")
    return value


def _letters_of(label: object) -> tuple[str, str]:
    """The letters of a label (a text, or a list of texts), sorted; and what else stood in it."""
    parts = label if isinstance(label, list) else [] if label is None else [label]
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) < len(parts):
        raise wrong_type("label", "a letter or a list of letters")
    text = " ".join(texts)
    odd = "" if _BETWEEN.fullmatch(text) else "".join(_LETTERS.sub("", text).split())[:20]
    return "".join(sorted(set(_LETTERS.findall(text)))), odd


def _other(row: dict[str, Any]) -> dict[str, str]:
    other = row.get("other", {})
    if not isinstance(other, dict):
        raise wrong_type("other", "an object")
    for key, value in other.items():
        if value is not None and not isinstance(value, str | int | Decimal | float):
            raise wrong_type(f"other.{key[:40]}", "one value")
    return {key: str(value) for key, value in other.items() if value is not None}


ALPHABET = "ABCDEFGHIJ"

_BRACKETED = re.compile(r"\s*[(（]\s*([A-J])\s*[)）]")
# Looser forms are words of a sentence too ("A man"), so they count only where all options agree.
_LOOSE = re.compile(r"\s*([A-J])\s*(?:[.．。、,，:：?？]|(?=\s))")
_NEXT = re.compile(r"\s+(?=[(（]?[B-J][)）.．、])")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Texts in the order of *letters*; *note* is a code and a sentence where they were odd."""

    letters: str
    texts: tuple[str, ...]
    note: tuple[str, str] | None = None


def read_options(options: Sequence[str]) -> ReadOptions:
    """*options* without their letters.

    A printed letter counts where every option has another one; otherwise the
    place in the list does, and the note says that letters repeat or are missing.
    """
    letters = ALPHABET[: len(options)]
    read = [_split(option, loosely=False) for option in options]
    loose = [_split(option, loosely=True) for option in options]
    if sorted(letter for letter, _ in loose) == list(letters):
        read = loose
    printed = "".join(letter for letter, _ in read)
    texts = [text for _, text in read]
    if printed == letters:
        return ReadOptions(letters, tuple(texts))
    if sorted(printed) == list(letters):
        in_order = tuple(texts[printed.index(letter)] for letter in letters)
        text = f"The options stood as {', '.join(printed)}; they were put in order."
        return ReadOptions(letters, in_order, ("options_reordered", text))
    shown = ", ".join(letter or "none" for letter, _ in read)
    text = f"The options are lettered {shown}; their places were taken instead."
    return ReadOptions(letters, tuple(texts), ("option_letters", text))


def apart(options: list[str]) -> list[str]:
    """Options that stand in one text (``A. one<tab>B. two``) as a list; others as they are."""
    return _NEXT.split(options[0].strip()) if len(options) == 1 else options


def _split(option: str, *, loosely: bool) -> tuple[str, str]:
    """The printed letter, "" without one, and the rest of the option."""
    match = _BRACKETED.match(option)
    if match is None and loosely:
        match = _LOOSE.match(option)
    if match is None:
        return "", option.strip()
    return match[1], option[match.end() :].strip()

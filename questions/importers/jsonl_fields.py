"""One question of our exam format: a JSON object to a QuestionRecord and back.

The keys, their types and limits are documented in docs/datasets.md. Whatever a
machine could misread is refused here; what only a person can settle (a key
outside the offered letters) is taken and named by ``contradictions``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, TypeVar

from questions.importers.records import QuestionRecord, ScoringPointRecord
from questions.rules.vocabulary import Language, Named, Part, QuestionType, Subject

REQUIRED_KEYS = ("dataset", "task", "id", "type", "language", "stem", "sub_marks")
OPTIONAL_KEYS = (
    "position",
    "subject",
    "letters",
    "answer",
    "reference_answer",
    "analysis",
    "year",
    "paper",
    "paper_published",
    "rubric",
    "images",
    "extra",
)
POINT_KEYS = ("text", "points", "sub")
MAX_MARKS = 1000
MAX_NAME_LENGTH = 200

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd]")
_LETTERS = re.compile(r"[A-Z]{2,26}")

Member = TypeVar("Member", bound=Named)


class RowRefusal(ValueError):
    """A question that cannot be taken: a stable *code* and one English sentence."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def record_from_object(row: dict[str, Any], position: int) -> QuestionRecord:
    """The question that *row* describes; *position* counts where the row names none.

    Raises RowRefusal at the first key that is unknown, missing or wrong.
    """
    _check_keys(row, REQUIRED_KEYS, REQUIRED_KEYS + OPTIONAL_KEYS)
    record = QuestionRecord(
        dataset=_slug(row, "dataset"),
        task=_name(row, "task"),
        external_id=_name(row, "id"),
        position=_whole(row, "position", 0, 10**9, default=position) or 0,
        subject=_member(row, "subject", Subject) if row.get("subject") is not None else None,
        question_type=_member(row, "type", QuestionType),
        language=_member(row, "language", Language),
        stem=_text(row, "stem"),
        answer_key=tuple(_texts(row, "answer")),
        reference_answer=_text(row, "reference_answer"),
        analysis=_text(row, "analysis"),
        sub_marks=tuple(_marks(value, "sub_marks") for value in _list(row, "sub_marks")),
        letters=_text(row, "letters"),
        year=_whole(row, "year", 1900, 2100, default=None),
        paper=_text(row, "paper"),
        paper_published=_text(row, "paper_published"),
        rubric=tuple(_point(value) for value in _list(row, "rubric")),
        images=tuple(_texts(row, "images")),
        extra=_extra(row),
    )
    _check_whole(record)
    return record


def object_from_record(record: QuestionRecord) -> dict[str, Any]:
    """*record* as the object that ``record_from_object`` reads; empty keys are left out."""
    optional: dict[str, Any] = {
        "subject": record.subject,
        "letters": record.letters,
        "answer": list(record.answer_key),
        "reference_answer": record.reference_answer,
        "analysis": record.analysis,
        "year": record.year,
        "paper": record.paper,
        "paper_published": record.paper_published,
        "rubric": [
            {"text": point.text, "points": point.points, "sub": point.sub}
            for point in record.rubric
        ],
        "images": list(record.images),
        "extra": record.extra,
    }
    return {
        "dataset": record.dataset,
        "task": record.task,
        "id": record.external_id,
        "position": record.position,
        "type": record.question_type,
        "language": record.language,
        "stem": record.stem,
        "sub_marks": list(record.sub_marks),
    } | {key: value for key, value in optional.items() if value not in (None, "", [], {})}


def contradictions(record: QuestionRecord) -> Iterator[tuple[str, str]]:
    """What in *record* does not fit together, as (code, sentence); the record stays usable."""
    for number, key in enumerate(record.answer_key, start=1):
        if not set(key) <= set(record.letters):
            yield "key_outside_letters", f"Key {number} is {key}, offered are {record.letters}."
        if len(key) > 1 and record.question_type is not QuestionType.MULTIPLE_CHOICE:
            yield "several_letters", f"Key {number} is {key}, but one letter is asked for."
    if record.part is Part.OBJECTIVE and len(record.answer_key) != len(record.sub_marks):
        yield (
            "key_count",
            f"There are {len(record.answer_key)} keys for {len(record.sub_marks)} sub-questions.",
        )
    for sub, full in enumerate(record.sub_marks, start=1):
        points = [point.points for point in record.rubric if point.sub == sub]
        if record.rubric and sum(points, Decimal(0)) != full:
            yield (
                "rubric_sum",
                f"The rubric of sub-question {sub} gives {sum(points)} of {full} points.",
            )


def plain_number(value: Decimal) -> Decimal:
    """*value* in its one spelling: 2, 2.0 and 2.00 all become 2, so that hashes agree."""
    return Decimal(format(value.normalize(), "f"))


def _check_keys(row: dict[str, Any], required: tuple[str, ...], known: tuple[str, ...]) -> None:
    for key in row:
        if key not in known:
            raise RowRefusal("unknown_key", f"The key {key[:60]!r} is not part of the format.")
    for key in required:
        if key not in row:
            raise RowRefusal("missing_key", f"The key {key!r} is missing.")


def _check_whole(record: QuestionRecord) -> None:
    """Refuses what no later step could make sense of."""
    if not record.stem.strip():
        raise RowRefusal("bad_value", "The stem is empty.")
    if not record.sub_marks:
        raise RowRefusal("bad_value", "sub_marks is empty, so the question has no full marks.")
    if any(point.sub > len(record.sub_marks) for point in record.rubric):
        raise RowRefusal("bad_value", "A scoring point names a sub-question without marks.")
    if record.part is Part.OBJECTIVE:
        _check_letters(record)
    elif record.answer_key or record.letters:
        raise RowRefusal(
            "bad_value", "A marked question takes reference_answer, not answer or letters."
        )


def _check_letters(record: QuestionRecord) -> None:
    letters = record.letters
    if not _LETTERS.fullmatch(letters) or len(set(letters)) != len(letters):
        raise RowRefusal("bad_value", "letters must be the offered capital letters, like ABCD.")
    if not record.answer_key:
        raise RowRefusal("missing_key", "The key 'answer' is missing or empty.")
    for key in record.answer_key:
        if not key.isascii() or not key.isupper() or list(key) != sorted(set(key)):
            raise RowRefusal("bad_value", "Each answer must be sorted capital letters, like BD.")
        if not key.isalpha():
            raise RowRefusal("bad_value", "An answer holds something that is not a letter.")


def _wrong_type(key: str, wanted: str) -> RowRefusal:
    return RowRefusal("wrong_type", f"The value of {key!r} must be {wanted}.")


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key, "")
    if not isinstance(value, str):
        raise _wrong_type(key, "a text")
    return value


def _name(row: dict[str, Any], key: str) -> str:
    value = _text(row, key)
    if not value or value != value.strip() or len(value) > MAX_NAME_LENGTH:
        raise RowRefusal("bad_value", f"{key!r} must be 1 to 200 characters without outer spaces.")
    if _CONTROL.search(value):
        raise RowRefusal("bad_value", f"{key!r} must not hold control characters.")
    return value


def _slug(row: dict[str, Any], key: str) -> str:
    value = _text(row, key)
    if len(value) > 50 or not _SLUG.fullmatch(value):
        raise RowRefusal(
            "bad_value", f"{key!r} must be small letters, digits and single hyphens, at most 50."
        )
    return value


def _member(row: dict[str, Any], key: str, members: type[Member]) -> Member:
    value = _text(row, key)
    known = {member.value: member for member in members}
    if value not in known:
        wanted = ", ".join(known)
        raise RowRefusal("bad_value", f"{key!r} is {value[:60]!r}; it must be one of: {wanted}.")
    return known[value]


def _whole(row: dict[str, Any], key: str, low: int, high: int, default: int | None) -> int | None:
    value = row.get(key)
    if value is None:
        return default
    if type(value) is not int:  # bool is an int, and a year is not True
        raise _wrong_type(key, "a whole number")
    if not low <= value <= high:
        raise RowRefusal("bad_value", f"{key!r} must lie between {low} and {high}.")
    return value


def _list(row: dict[str, Any], key: str) -> list[Any]:
    value = row.get(key, [])
    if not isinstance(value, list):
        raise _wrong_type(key, "a list")
    return value


def _texts(row: dict[str, Any], key: str) -> list[str]:
    values = _list(row, key)
    if not all(isinstance(value, str) for value in values):
        raise _wrong_type(key, "a list of texts")
    return values


def _marks(value: object, key: str) -> Decimal:
    if type(value) is not int and not isinstance(value, Decimal):
        raise _wrong_type(key, "made of numbers")
    marks = plain_number(Decimal(value))
    if not 0 < marks <= MAX_MARKS or marks != round(marks, 2):
        raise RowRefusal(
            "bad_value", f"A number in {key!r} must be over 0, at most 1000, with two decimals."
        )
    return marks


def _point(value: object) -> ScoringPointRecord:
    if not isinstance(value, dict):
        raise _wrong_type("rubric", "a list of objects")
    _check_keys(value, POINT_KEYS[:2], POINT_KEYS)
    text = _text(value, "text")
    if not text.strip():
        raise RowRefusal("bad_value", "A scoring point has no text.")
    sub = _whole(value, "sub", 1, 1000, default=1) or 1
    return ScoringPointRecord(text=text, points=_marks(value["points"], "points"), sub=sub)


def _extra(row: dict[str, Any]) -> dict[str, str]:
    value = row.get("extra", {})
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise _wrong_type("extra", "an object of texts")
    return value

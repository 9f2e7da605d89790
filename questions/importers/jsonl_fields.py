"""One question of our exam format: a JSON object to a QuestionRecord and back.

The keys, their types and limits are documented in docs/datasets.md. Whatever a
machine could misread is refused here; what only a person can settle (a key
outside the offered letters) is taken and named by ``contradictions``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from questions.importers.jsonl_values import (
    check_keys,
    list_of,
    member_of,
    name_of,
    slug_of,
    text_of,
    texts_of,
    whole_of,
    wrong_type,
)
from questions.importers.records import QuestionRecord, ScoringPointRecord
from questions.rules.strict_json import JsonRefusal
from questions.rules.vocabulary import CHOICE_TYPES, Language, Part, QuestionType, Subject

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
MAX_DATASET_LENGTH = 50
MAX_TASK_LENGTH = 120
MAX_ID_LENGTH = 80
MAX_PAPER_LENGTH = 80

_LETTERS = re.compile(r"[A-Z]{2,26}")


def record_from_object(row: dict[str, Any], position: int) -> QuestionRecord:
    """The question that *row* describes; *position* counts where the row names none.

    Raises JsonRefusal at the first key that is unknown, missing or wrong.
    """
    check_keys(row, REQUIRED_KEYS, REQUIRED_KEYS + OPTIONAL_KEYS)
    record = QuestionRecord(
        dataset=slug_of(row, "dataset", MAX_DATASET_LENGTH),
        task=name_of(row, "task", MAX_TASK_LENGTH),
        external_id=name_of(row, "id", MAX_ID_LENGTH),
        position=whole_of(row, "position", 0, 10**9, default=position) or 0,
        subject=member_of(row, "subject", Subject) if row.get("subject") is not None else None,
        question_type=member_of(row, "type", QuestionType),
        language=member_of(row, "language", Language),
        stem=text_of(row, "stem"),
        answer_key=tuple(texts_of(row, "answer")),
        reference_answer=text_of(row, "reference_answer"),
        analysis=text_of(row, "analysis"),
        sub_marks=tuple(_marks(value, "sub_marks") for value in list_of(row, "sub_marks")),
        letters=text_of(row, "letters"),
        year=whole_of(row, "year", 1900, 2100, default=None),
        paper=text_of(row, "paper", MAX_PAPER_LENGTH),
        paper_published=text_of(row, "paper_published", MAX_PAPER_LENGTH),
        rubric=tuple(_point(value) for value in list_of(row, "rubric")),
        images=tuple(texts_of(row, "images")),
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
    keys = record.answer_key if record.question_type in CHOICE_TYPES else ()
    for number, key in enumerate(keys, start=1):
        if not key:
            yield "empty_key", f"Key {number} is empty."
        if not set(key) <= set(record.letters):
            yield "key_outside_letters", f"Key {number} is {key}, offered are {record.letters}."
        if len(key) > 1 and record.question_type is not QuestionType.MULTIPLE_CHOICE:
            yield "several_letters", f"Key {number} is {key}, but one letter is asked for."
    if record.question_type is QuestionType.EXACT_ANSWER and not all(record.answer_key):
        yield "empty_key", "The key is empty."
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


def _check_whole(record: QuestionRecord) -> None:
    """Refuses what no later step could make sense of."""
    if not record.stem.strip():
        raise JsonRefusal("bad_value", "The stem is empty.")
    if not record.sub_marks:
        raise JsonRefusal("bad_value", "sub_marks is empty, so the question has no full marks.")
    if any(point.sub > len(record.sub_marks) for point in record.rubric):
        raise JsonRefusal("bad_value", "A scoring point names a sub-question without marks.")
    if record.question_type in CHOICE_TYPES:
        _check_letters(record)
    elif record.question_type is QuestionType.EXACT_ANSWER:
        _check_exact(record)
    elif record.answer_key or record.letters:
        raise JsonRefusal(
            "bad_value", "A marked question takes reference_answer, not answer or letters."
        )


def _check_exact(record: QuestionRecord) -> None:
    if record.letters:
        raise JsonRefusal("bad_value", "An exact answer has no letters.")
    if not any(key.strip() for key in record.answer_key):
        raise JsonRefusal("missing_key", "The key 'answer' is missing or empty.")


def _check_letters(record: QuestionRecord) -> None:
    letters = record.letters
    if not _LETTERS.fullmatch(letters) or len(set(letters)) != len(letters):
        raise JsonRefusal("bad_value", "letters must be the offered capital letters, like ABCD.")
    if not record.answer_key:
        raise JsonRefusal("missing_key", "The key 'answer' is missing or empty.")
    for key in record.answer_key:
        if not key.isascii() or not key.isupper() or list(key) != sorted(set(key)):
            raise JsonRefusal("bad_value", "Each answer must be sorted capital letters, like BD.")
        if not key.isalpha():
            raise JsonRefusal("bad_value", "An answer holds something that is not a letter.")


def _marks(value: object, key: str) -> Decimal:
    if type(value) is not int and not isinstance(value, Decimal):
        raise wrong_type(key, "made of numbers")
    marks = plain_number(Decimal(value))
    if not 0 < marks <= MAX_MARKS or marks != round(marks, 2):
        raise JsonRefusal(
            "bad_value", f"A number in {key!r} must be over 0, at most 1000, with two decimals."
        )
    return marks


def _point(value: object) -> ScoringPointRecord:
    if not isinstance(value, dict):
        raise wrong_type("rubric", "a list of objects")
    check_keys(value, POINT_KEYS[:2], POINT_KEYS)
    text = text_of(value, "text")
    if not text.strip():
        raise JsonRefusal("bad_value", "A scoring point has no text.")
    sub = whole_of(value, "sub", 1, 1000, default=1) or 1
    return ScoringPointRecord(text=text, points=_marks(value["points"], "points"), sub=sub)


def _extra(row: dict[str, Any]) -> dict[str, str]:
    value = row.get("extra", {})
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise wrong_type("extra", "an object of texts")
    return value

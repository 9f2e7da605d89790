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

from gradeapp.common.strict_json import JsonRefusal
from questions.importers.jsonl_parts import (
    group_from,
    group_object,
    labels_from,
    labels_object,
    objects_of,
    point_from,
    point_object,
    rate_from,
    rate_object,
)
from questions.importers.jsonl_values import (
    check_keys,
    list_of,
    marks_of,
    member_of,
    name_of,
    slug_of,
    text_of,
    texts_of,
    whole_of,
    wrong_type,
)
from questions.importers.records import QuestionRecord
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint, reachable_by_sub
from questions.rules.vocabulary import CHOICE_TYPES, Language, Part, QuestionType, Subject

REQUIRED_KEYS = ("dataset", "task", "id", "type", "language", "stem", "sub_marks")
OPTIONAL_KEYS = (
    "position",
    "subject",
    "passage",
    "options",
    "letters",
    "answer",
    "reference_answer",
    "analysis",
    "year",
    "paper",
    "paper_published",
    "rubric",
    "rubric_groups",
    "labels",
    "human_rates",
    "images",
    "extra",
)
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
        passage=text_of(row, "passage"),
        options=tuple(texts_of(row, "options")),
        sub_marks=tuple(marks_of(value, "sub_marks") for value in list_of(row, "sub_marks")),
        letters=text_of(row, "letters"),
        year=whole_of(row, "year", 1900, 2100, default=None),
        paper=text_of(row, "paper", MAX_PAPER_LENGTH),
        paper_published=text_of(row, "paper_published", MAX_PAPER_LENGTH),
        rubric=tuple(point_from(value) for value in objects_of(row, "rubric")),
        rubric_groups=tuple(group_from(value) for value in objects_of(row, "rubric_groups")),
        labels=labels_from(row),
        human_rates=tuple(rate_from(value) for value in objects_of(row, "human_rates")),
        images=tuple(texts_of(row, "images")),
        extra=_extra(row),
    )
    _check_whole(record)
    return record


def object_from_record(record: QuestionRecord) -> dict[str, Any]:
    """*record* as the object that ``record_from_object`` reads; empty keys are left out."""
    optional: dict[str, Any] = {
        "subject": record.subject,
        "passage": record.passage,
        "options": list(record.options),
        "letters": record.letters,
        "answer": list(record.answer_key),
        "reference_answer": record.reference_answer,
        "analysis": record.analysis,
        "year": record.year,
        "paper": record.paper,
        "paper_published": record.paper_published,
        "rubric": [point_object(point) for point in record.rubric],
        "rubric_groups": [group_object(group) for group in record.rubric_groups],
        "human_rates": [rate_object(rate) for rate in record.human_rates],
        "images": list(record.images),
        "extra": record.extra,
    }
    labels = labels_object(record.labels)
    return {
        "dataset": record.dataset,
        "task": record.task,
        "id": record.external_id,
        "position": record.position,
        "type": record.question_type,
        "language": record.language,
        "stem": record.stem,
        "sub_marks": list(record.sub_marks),
        **({} if labels is None else {"labels": labels}),
        **{key: value for key, value in optional.items() if value not in (None, "", [], {})},
    }


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
    if record.rubric:
        yield from _rubric_sums(record)


def _rubric_sums(record: QuestionRecord) -> Iterator[tuple[str, str]]:
    points = (ScoringPoint(p.text, p.points, p.sub, p.group) for p in record.rubric)
    groups = (PointGroup(g.cap, g.text, g.sub, g.choose) for g in record.rubric_groups)
    sums = reachable_by_sub(RubricLines(tuple(points), tuple(groups)))
    for sub, full in enumerate(record.sub_marks, start=1):
        given = sums.get(sub, Decimal(0))
        if given != full:
            yield (
                "rubric_sum",
                f"The rubric of sub-question {sub} gives {given} of {full} points.",
            )


def _check_whole(record: QuestionRecord) -> None:
    """Refuses what no later step could make sense of."""
    if not record.stem.strip():
        raise JsonRefusal("bad_value", "The stem is empty.")
    if not record.sub_marks:
        raise JsonRefusal("bad_value", "sub_marks is empty, so the question has no full marks.")
    _check_rubric(record)
    if record.options and len(record.options) != len(record.letters):
        raise JsonRefusal("bad_value", "options must hold one text for each of the letters.")
    if record.question_type in CHOICE_TYPES:
        _check_letters(record)
    elif record.question_type is QuestionType.EXACT_ANSWER:
        _check_exact(record)
    elif record.answer_key or record.letters:
        raise JsonRefusal(
            "bad_value", "A marked question takes reference_answer, not answer or letters."
        )


def _check_rubric(record: QuestionRecord) -> None:
    subs = [*(p.sub for p in record.rubric), *(g.sub for g in record.rubric_groups)]
    if any(sub > len(record.sub_marks) for sub in subs):
        raise JsonRefusal("bad_value", "A scoring point names a sub-question without marks.")
    for point in record.rubric:
        if point.group is None:
            continue
        if point.group > len(record.rubric_groups):
            raise JsonRefusal("bad_value", "A scoring point names a group that is not there.")
        if record.rubric_groups[point.group - 1].sub != point.sub:
            raise JsonRefusal("bad_value", "A scoring point is of another sub than its group.")


def _check_exact(record: QuestionRecord) -> None:
    if record.letters:
        raise JsonRefusal("bad_value", "An exact answer has no letters.")
    if not record.answer_key:
        raise JsonRefusal("missing_key", "The key 'answer' is missing or empty.")


def _check_letters(record: QuestionRecord) -> None:
    letters = record.letters
    if not _LETTERS.fullmatch(letters) or len(set(letters)) != len(letters):
        raise JsonRefusal("bad_value", "letters must be the offered capital letters, like ABCD.")
    if not record.answer_key:
        raise JsonRefusal("missing_key", "The key 'answer' is missing or empty.")
    for key in filter(None, record.answer_key):
        if not key.isascii() or not key.isupper() or list(key) != sorted(set(key)):
            raise JsonRefusal("bad_value", "Each answer must be sorted capital letters, like BD.")
        if not key.isalpha():
            raise JsonRefusal("bad_value", "An answer holds something that is not a letter.")


def _extra(row: dict[str, Any]) -> dict[str, str]:
    value = row.get("extra", {})
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise wrong_type("extra", "an object of texts")
    return value

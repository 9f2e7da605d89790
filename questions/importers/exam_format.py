"""One line of the exam format: a JSON object to a record and back, and the format's JSON Schema.

The keys, their types and limits are the annotations of QuestionRecord and TaskRecord. Whatever a
machine could misread is refused here; what only a person can decide (a key outside the offered
letters) is taken and named by ``contradictions``.

``python -m questions.importers.exam_format`` prints the schema, as kept in docs/.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pydantic import RootModel, TypeAdapter

from gradeapp.common.strict_json import JsonRefusal
from questions.importers.records import QuestionRecord, TaskRecord
from questions.rules.json_schema import validated
from questions.rules.rubric import RubricLines, reachable_by_sub
from questions.rules.vocabulary import (
    CHOICE_TYPES,
    SEVERAL_ANSWERS,
    Part,
    QuestionType,
    RateKind,
)

_QUESTION = TypeAdapter(QuestionRecord)
_TASK = TypeAdapter(TaskRecord)


class ExamLine(RootModel[QuestionRecord | TaskRecord]):
    """One line of an exam file (.jsonl): a question, or what concerns a whole task."""


def record_from_object(row: dict[str, Any], position: int) -> QuestionRecord:
    """The question that *row* describes; *position* counts where the row names none.

    Raises JsonRefusal at the first key that is unknown, missing or wrong.
    """
    record = validated(_QUESTION, {"position": position} | row)
    _check_rubric(record)
    if any(rate.kind is not RateKind.AVERAGE for rate in record.human_rates):
        raise JsonRefusal("unknown_key", "The key 'kind' is not part of the format.")
    if record.options and len(record.options) != len(record.letters):
        raise JsonRefusal("bad_value", "options must hold one text for each of the letters.")
    if record.question_type in CHOICE_TYPES:
        _check_letters(record)
    elif record.question_type is QuestionType.EXACT_ANSWER:
        if record.letters:
            raise JsonRefusal("bad_value", "An exact answer has no letters.")
    elif record.answer_key or record.letters:
        raise JsonRefusal(
            "bad_value", "A marked question takes reference_answer, not answer or letters."
        )
    if record.part is Part.OBJECTIVE and not record.answer_key:
        raise JsonRefusal("missing_key", "The key 'answer' is missing or empty.")
    one = record.part is Part.OBJECTIVE and record.question_type not in SEVERAL_ANSWERS
    if one and len(record.sub_marks) > 1:
        kind = record.question_type
        raise JsonRefusal("bad_value", f"A question of the type {kind} has one sub-question.")
    return record


def object_from_record(record: QuestionRecord) -> dict[str, Any]:
    """*record* as the object that ``record_from_object`` reads; empty keys are left out."""
    return _dumped(_QUESTION, record) | {"position": record.position}


def task_from_object(row: dict[str, Any]) -> TaskRecord:
    """What a line with ``"about": "task"`` says of a task."""
    record = validated(_TASK, row)
    if len({example.number for example in record.examples}) < len(record.examples):
        raise JsonRefusal("duplicate_id", "Two examples of the task have the same number.")
    return record


def object_from_task(task: TaskRecord) -> dict[str, Any]:
    """*task* as the object that ``task_from_object`` reads."""
    return {"about": "task"} | _dumped(_TASK, task)


def _dumped(adapter: TypeAdapter[Any], record: object) -> dict[str, Any]:
    values: dict[str, Any] = adapter.dump_python(record, by_alias=True, exclude_defaults=True)
    return values


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
        # A rubric may be of an earlier text, which had more sub-questions.
        sums = reachable_by_sub(RubricLines(record.rubric, record.rubric_groups))
        marks = dict(enumerate(record.sub_marks, start=1))
        for sub in sorted(marks | sums):
            given, full = sums.get(sub, Decimal(0)), marks.get(sub, Decimal(0))
            if given != full:
                yield (
                    "rubric_sum",
                    f"The rubric of sub-question {sub} gives {given} of {full} points.",
                )


def _check_rubric(record: QuestionRecord) -> None:
    for point in record.rubric:
        if point.group is None:
            continue
        if point.group > len(record.rubric_groups):
            raise JsonRefusal("bad_value", "A scoring point names a group that is not there.")
        if record.rubric_groups[point.group - 1].sub != point.sub:
            raise JsonRefusal("bad_value", "A scoring point is of another sub than its group.")


def _check_letters(record: QuestionRecord) -> None:
    letters = record.letters
    if not letters or len(set(letters)) != len(letters):
        raise JsonRefusal("bad_value", "letters must be the offered capital letters, like ABCD.")
    for key in filter(None, record.answer_key):
        if not key.isascii() or not key.isupper() or list(key) != sorted(set(key)):
            raise JsonRefusal("bad_value", "Each answer must be sorted capital letters, like BD.")
        if not key.isalpha():
            raise JsonRefusal("bad_value", "An answer holds something that is not a letter.")


if __name__ == "__main__":
    print(json.dumps(ExamLine.model_json_schema(), indent=1))

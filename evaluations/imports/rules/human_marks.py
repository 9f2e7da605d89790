"""The teachers' marks that GAOKAO-Bench releases in the rows of a model's answers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from evaluations.imports.rules.answer_records import Marks
from gradeapp.common.strict_json import JsonRefusal
from questions.importers.gaokao_files import number_of

MARKS_KEY = "correction_score"
MOST_TEACHERS = 2


def human_marks(item: dict[str, Any]) -> Marks:
    """The marks ``[a, b]`` of *item* in points, None for a null; empty where there are none.

    Whether a mark is possible is for the bank to say, which knows the full marks.
    """
    if MARKS_KEY not in item:
        return ()
    values = item[MARKS_KEY]
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_TEACHERS:
        raise JsonRefusal("wrong_type", f"{MARKS_KEY!r} is not a list of one or two marks.")
    return tuple(None if value is None else _mark(value) for value in values)


def _mark(value: object) -> Decimal:
    mark = number_of(value, MARKS_KEY)
    if mark != round(mark, 2):
        raise JsonRefusal("bad_value", f"A mark has at most two decimals, not {mark}.")
    return mark

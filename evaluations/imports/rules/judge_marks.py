"""A judge model's gradings that GAOKAO-Bench releases in the rows of a model's answers."""

from __future__ import annotations

from typing import Any

from evaluations.imports.rules.answer_records import Grading
from gradeapp.common.strict_json import JsonRefusal
from questions.importers.gaokao_files import number_of, text_of

REPLY_KEY = "model_correction"
TOTALS_KEY = "model_correction_score"
JUDGE_KEY = "teacher_model_name"


def judge_grading(header: dict[str, str], item: dict[str, Any]) -> Grading | None:
    """The grading of *item* by the judge that the file's header names; None where there is none.

    The released totals are kept as they are: impossible ones too.
    """
    if REPLY_KEY not in item and TOTALS_KEY not in item:
        return None
    judge = header.get(JUDGE_KEY, "").strip()
    if not judge:
        raise JsonRefusal("no_judge", f"The file does not name the judge in {JUDGE_KEY!r}.")
    totals = item.get(TOTALS_KEY, [])
    if not isinstance(totals, list):
        raise JsonRefusal("wrong_type", f"{TOTALS_KEY!r} is not a list.")
    released = tuple(None if total is None else number_of(total, TOTALS_KEY) for total in totals)
    return Grading(judge=judge, reply=text_of(item, REPLY_KEY), released=released)

"""The statement that sums the fact table, and the frame of what it gives."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection

from evaluations.models.vocabulary import FactMarker
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.policies import Policy
from gradeapp.common.collector import collector_paused

if TYPE_CHECKING:
    import pandas as pd

# Frames of sums that a process keeps for a second look; one over 10,000 groups takes 1 MB.
MOST_KEPT = 8
# The outcome of a mark in the ledger: 0 wrong, 1 partly correct, 2 correct.
LEVEL = f"""CASE WHEN fact.marker <> '{FactMarker.KEY}' AND fact.points IS NOT NULL THEN CASE
    WHEN fact.points <= 0 THEN 0 WHEN fact.points >= fact.full_marks THEN 2 ELSE 1 END END"""
LEVELS = (LedgerOutcome.WRONG, LedgerOutcome.PARTIAL, LedgerOutcome.CORRECT)
# Rows that are Python objects at the same time.
ROWS_AT_ONCE = 10_000
BASE: dict[str, type] = {
    **dict.fromkeys(("run", "question", "revision", "key_revision"), np.int64),
    **dict.fromkeys(("outcome", "reason"), object),
    "is_message": np.bool_,
    "marker": object,
}
KEYS: dict[str, type] = {
    **BASE,
    **dict.fromkeys(("read", "option_order"), object),
    "each": np.float64,
    "response": np.int64,
    "repeat": np.int64,
}
COUNTS = ("n", "scored", "right", "zero")
TYPES = KEYS | dict.fromkeys(COUNTS, np.int64) | {"points": np.float64}
# Null where there is none; the frame has 0.
OPTIONAL = ("key_revision", "each")
# What stands for null, and in columns that were not asked for.
MISSING: dict[str, str | None] = {"read": None, "option_order": ""}


class Detail(Enum):
    """How far the facts are summed: what a row of the frame is about.

    ``QUESTIONS``: a run and a question; ``EXACT``: so too, but exact answers by what was read;
    ``OUTCOMES``: so too, and marks by their outcome in the ledger; ``ANSWERS``: objective answers
    by what was read and its points; ``RESPONSES``: one response.
    """

    QUESTIONS = "questions"
    EXACT = "exact"
    OUTCOMES = "outcomes"
    ANSWERS = "answers"
    RESPONSES = "responses"


# The columns that a frame has beside those of ``BASE`` and the sums.
EXTRA: dict[Detail, tuple[str, ...]] = {
    Detail.QUESTIONS: (),
    Detail.EXACT: ("read", "option_order"),
    Detail.OUTCOMES: ("read", "option_order", "each"),
    Detail.ANSWERS: ("read", "option_order", "each"),
    Detail.RESPONSES: ("read", "option_order", "response", "repeat"),
}


def statement(
    *,
    policy: str,
    runs: int,
    rounds: int,
    judge: bool,
    without_blind: bool,
    detail: Detail,
) -> str:
    """Return the statement that sums the facts; its parameters are runs, judge and rounds."""
    key = f"fact.marker = '{FactMarker.KEY}' AND fact.policy = '{Policy(policy).value}'"
    base = f"fact.marker = '{FactMarker.TEACHERS}' AND fact.giver = 0"
    many = ", ".join(["%s"] * rounds)
    if judge:
        own = f"fact.marker = '{FactMarker.JUDGE}' AND fact.giver = %s"
        given = f"{base} OR {own} AND fact.policy IN ('', '{Policy(policy).value}')"
    elif rounds:
        given = f"{base} OR fact.marker = '{FactMarker.TEACHERS}' AND fact.giver IN ({many})"
        if rounds > 1:  # the newest final mark of the chosen rounds
            given += f""" AND NOT EXISTS (SELECT 1 FROM evaluations_answerfact AS newer
                WHERE newer.response_id = fact.response_id AND newer.giver IN ({many})
                AND newer.marker = fact.marker AND newer.source > fact.source)"""
    else:
        given = f"fact.marker = '{FactMarker.TEACHERS}' AND fact.counts"
    groups = "fact.run_id, fact.question_id, fact.revision_id, fact.key_revision_id, fact.outcome,"
    groups += " fact.reason, fact.is_message, fact.marker"
    of_key = f"fact.marker = '{FactMarker.KEY}'"
    joined = ""
    given_by: dict[str, str] = {}
    if detail in (Detail.EXACT, Detail.OUTCOMES):
        joined = " JOIN questions_questionrevision AS revision ON revision.id = fact.revision_id"
        exact = "CASE WHEN revision.question_type = 'exact_answer' THEN {} END"
        given_by |= {"read": exact.format("fact.read"), "each": LEVEL}
        given_by["option_order"] = exact.format("fact.option_order")
    elif detail is Detail.ANSWERS:
        by_key = f"CASE WHEN {of_key} THEN {{}} END"
        columns = {"read": "fact.read", "option_order": "fact.option_order", "each": "fact.points"}
        given_by |= {name: by_key.format(column) for name, column in columns.items()}
    elif detail is Detail.RESPONSES:
        names = ("read", "option_order", "repeat")
        given_by |= {name: f"fact.{name}" for name in names} | {"response": "fact.response_id"}
    grouped = ", ".join([groups, *(given_by[name] for name in EXTRA[detail])])
    blind = " AND NOT fact.images_omitted" if without_blind else ""
    return f"""SELECT {grouped}, COUNT(*), COUNT(fact.points),
        SUM(CASE WHEN fact.points >= fact.full_marks THEN 1 ELSE 0 END),
        SUM(CASE WHEN fact.points <= 0 THEN 1 ELSE 0 END), COALESCE(SUM(fact.points), 0)
    FROM evaluations_answerfact AS fact{joined}
    WHERE fact.run_id IN ({", ".join(["%s"] * runs)}) AND ({key} OR {given}){blind}
    GROUP BY {grouped}"""


@lru_cache(maxsize=MOST_KEPT)
def kept_sums(
    dataset: str, version: int, query: str, given: tuple[int, ...], detail: Detail
) -> pd.DataFrame:
    """Return the sums of the facts of one *version*; the caller copies them."""
    return fetched(query, given, detail)


@collector_paused()
def fetched(query: str, given: tuple[int, ...], detail: Detail) -> pd.DataFrame:
    """Return the rows of a ``statement`` as a frame; texts that are equal are one object."""
    import pandas as pd

    names = [*BASE, *EXTRA[detail], *COUNTS, "points"]
    parts: dict[str, list[np.ndarray[Any, Any]]] = {name: [] for name in names}
    texts: dict[object, object] = {}
    with connection.cursor() as cursor:
        cursor.execute(query, given)
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            for name, values in zip(names, zip(*rows, strict=True), strict=True):
                parts[name].append(_column(name, values, texts))
    n = sum(map(len, parts["n"]))
    frame = {}
    for name, kind in TYPES.items():
        arrays = parts.get(name)
        if arrays:
            frame[name] = pd.Series(np.concatenate(arrays), dtype=kind)
        else:
            nothing = MISSING.get(name, 0)
            frame[name] = pd.Series(np.full(n, nothing, dtype=kind), dtype=kind)
    return pd.DataFrame(frame)


def _column(
    name: str, values: tuple[Any, ...], texts: dict[object, object]
) -> np.ndarray[Any, Any]:
    """Return *values* as an array of the type of the column *name*."""
    kind = TYPES[name]
    if kind is object:
        column = np.empty(len(values), dtype=object)
        nothing = MISSING.get(name)
        column[:] = [nothing if one is None else texts.setdefault(one, one) for one in values]
        return column
    if name in OPTIONAL:
        return np.array([one or 0 for one in values], dtype=kind)
    return np.array(values, dtype=kind)

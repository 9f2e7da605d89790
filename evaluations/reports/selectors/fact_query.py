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
KEYS: dict[str, type] = {
    **dict.fromkeys(("run", "question", "revision", "key_revision"), np.int64),
    **dict.fromkeys(("outcome", "reason"), object),
    "is_message": np.bool_,
    **dict.fromkeys(("marker", "read", "option_order"), object),
    "each": np.float64,
    "response": np.int64,
    "repeat": np.int64,
}
COUNTS = ("n", "scored", "right", "zero")
TYPES = KEYS | dict.fromkeys(COUNTS, np.int64) | {"points": np.float64}
# Null where there is none; the frame has 0.
OPTIONAL = ("key_revision", "each")


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
    if detail is Detail.QUESTIONS:
        extra: tuple[str, ...] = ("NULL", "NULL", "0", "0", "0")
    elif detail in (Detail.EXACT, Detail.OUTCOMES):
        joined = " JOIN questions_questionrevision AS revision ON revision.id = fact.revision_id"
        exact = "CASE WHEN revision.question_type = 'exact_answer' THEN {} END"
        level = LEVEL if detail is Detail.OUTCOMES else "0"
        extra = (exact.format("fact.read"), exact.format("fact.option_order"), level, "0", "0")
    elif detail is Detail.ANSWERS:
        by_key = f"CASE WHEN {of_key} THEN {{}} END"
        extra = (*map(by_key.format, ("fact.read", "fact.option_order", "fact.points")), "0", "0")
    else:
        extra = ("fact.read", "fact.option_order", "0", "fact.response_id", "fact.repeat")
    grouped = ", ".join([groups, *(one for one in extra if one not in ("NULL", "0"))])
    blind = " AND NOT fact.images_omitted" if without_blind else ""
    return f"""SELECT {groups}, {", ".join(extra)}, COUNT(*), COUNT(fact.points),
        SUM(CASE WHEN fact.points >= fact.full_marks THEN 1 ELSE 0 END),
        SUM(CASE WHEN fact.points <= 0 THEN 1 ELSE 0 END), COALESCE(SUM(fact.points), 0)
    FROM evaluations_answerfact AS fact{joined}
    WHERE fact.run_id IN ({", ".join(["%s"] * runs)}) AND ({key} OR {given}){blind}
    GROUP BY {grouped}"""


@lru_cache(maxsize=MOST_KEPT)
def kept_sums(dataset: str, version: int, query: str, given: tuple[int, ...]) -> pd.DataFrame:
    """Return the sums of the facts of one *version*; the caller copies them."""
    return fetched(query, given)


def fetched(query: str, given: tuple[int, ...]) -> pd.DataFrame:
    """Return the rows of a ``statement`` as a frame; texts that are equal are one object."""
    import pandas as pd

    parts: dict[str, list[np.ndarray[Any, Any]]] = {name: [] for name in TYPES}
    texts: dict[object, object] = {}
    with connection.cursor() as cursor:
        cursor.execute(query, given)
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            for (name, kind), values in zip(TYPES.items(), zip(*rows, strict=True), strict=True):
                if kind is object:
                    column = np.empty(len(values), dtype=object)
                    column[:] = [texts.setdefault(one, one) for one in values]
                elif name in OPTIONAL:
                    column = np.array([one or 0 for one in values], dtype=kind)
                else:
                    column = np.array(values, dtype=kind)
                parts[name].append(column)
    whole = {
        name: np.concatenate(arrays) if arrays else np.empty(0, dtype=TYPES[name])
        for name, arrays in parts.items()
    }
    whole["option_order"][whole["option_order"] == None] = ""  # noqa: E711
    return pd.DataFrame(
        {name: pd.Series(column, dtype=TYPES[name]) for name, column in whole.items()}
    )

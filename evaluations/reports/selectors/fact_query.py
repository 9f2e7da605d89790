"""The statement that sums the fact table, and the frame of what it gives."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection

from evaluations.models.vocabulary import FactMarker
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.policies import Policy
from gradeapp.common.collector import collector_paused
from gradeapp.common.kept import KeptValues

if TYPE_CHECKING:
    import pandas as pd

# Frames of sums that a process keeps for a second look; one over 10,000 groups takes 1 MB.
MOST_BYTES = 12_000_000
_kept = KeptValues(MOST_BYTES)
# The outcome of a mark in the ledger: 0 wrong, 1 partly correct, 2 correct.
LEVEL = f"""CASE WHEN fact.marker <> '{FactMarker.KEY}' AND fact.points IS NOT NULL THEN CASE
    WHEN fact.points <= 0 THEN 0 WHEN fact.points >= fact.full_marks THEN 2 ELSE 1 END END"""
LEVELS = (LedgerOutcome.WRONG, LedgerOutcome.PARTIAL, LedgerOutcome.CORRECT)
# Rows that are Python objects at the same time.
ROWS_AT_ONCE = 10_000
Keys = tuple[str, ...]
KEYS_OF_ROWS = ("run", "question", "revision", "key_revision")
TYPES: dict[str, type] = {
    **dict.fromkeys(("run", "question", "revision", "key_revision"), np.int64),
    **dict.fromkeys(("outcome", "reason", "marker", "read", "option_order", "given"), object),
    "is_message": np.bool_,
    "each": np.float64,
    "response": np.int64,
    "repeat": np.int64,
    **dict.fromkeys(("n", "scored", "right", "zero"), np.int64),
    "points": np.float64,
}
COUNTS = ("n", "scored", "right", "zero")
SUMS = (*COUNTS, "points")
# Null where there is none; the frame has 0.
OPTIONAL = ("key_revision", "each")
# What stands for null, and in columns that were not asked for.
MISSING: dict[str, str | None] = {
    **dict.fromkeys(("outcome", "reason", "option_order"), ""),
    **dict.fromkeys(("read", "given")),
}


class Detail(Enum):
    """How far the facts are summed: what a row of the frame is about.

    ``QUESTIONS``: a run and a question; ``EXACT``: so too, but exact answers by what was read;
    ``LEDGER``: a run, a question and an outcome; ``OUTCOMES``: so too, but exact answers by what
    was read, and marks by their outcome in the ledger; ``ANSWERS``: a run and a question, with
    all that was read as one text (``given``); ``RESPONSES``: one response.
    """

    QUESTIONS = "questions"
    EXACT = "exact"
    LEDGER = "ledger"
    OUTCOMES = "outcomes"
    ANSWERS = "answers"
    RESPONSES = "responses"


# The objective answers of a row, a line each: the points, the order in which options were shown,
# and what was read. The points are written so that reading them gives the same number; on SQLite
# whole ones as integers, which takes a seventh off the statement.
GIVEN_LINE = """CASE WHEN fact.marker = '{key}' THEN
    COALESCE({points}, '') || ' ' || fact.option_order || ' ' || COALESCE(fact.read, '') END"""
GIVEN = {
    "sqlite": (
        "group_concat({}, char(10))",
        """CASE WHEN fact.points = CAST(fact.points AS INTEGER) THEN CAST(fact.points AS INTEGER)
            WHEN fact.points IS NOT NULL THEN printf('%%!.17g', fact.points) END""",
    ),
    "postgresql": ("string_agg({}, chr(10))", "fact.points::text"),
}
# What every row is about, and what else with so much detail.
ALWAYS = ("run", "question", "revision", "reason")
EXTRA: dict[Detail, tuple[str, ...]] = {
    Detail.QUESTIONS: (),
    Detail.EXACT: ("outcome", "read", "option_order"),
    Detail.LEDGER: ("outcome",),
    Detail.OUTCOMES: ("outcome", "read", "option_order", "each"),
    Detail.ANSWERS: ("given",),
    Detail.RESPONSES: ("outcome", "read", "option_order", "response", "repeat"),
}


def keys_of(detail: Detail, *, judge: bool, rounds: bool, strict: bool, repaired: bool) -> Keys:
    """Return the columns by which the facts are summed: each one that is not needed costs time.

    Who gave the points matters where a *judge* or *rounds* are chosen, whether a text is an error
    message only if the policy is *strict*, and by which key it was scored only if some key was
    *repaired*.
    """
    given = ("marker",) if judge or rounds else ()
    messages = ("is_message",) if strict else ()
    keys = ("key_revision",) if strict and repaired else ()
    return (*ALWAYS, *given, *messages, *keys, *EXTRA[detail])


def statement(
    *,
    policy: str,
    runs: int,
    rounds: int,
    judge: bool,
    without_blind: bool,
    detail: Detail,
    keys: Keys,
) -> str:
    """Return the statement that sums the facts by *keys*.

    Its parameters are runs, judge and rounds.
    """
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
    joined = ""
    given_by = {name: f"fact.{name}_id" for name in KEYS_OF_ROWS} | {"response": "fact.response_id"}
    if detail in (Detail.EXACT, Detail.OUTCOMES):
        joined = " JOIN questions_questionrevision AS revision ON revision.id = fact.revision_id"
        exact = "CASE WHEN revision.question_type = 'exact_answer' THEN {} END"
        given_by |= {"read": exact.format("fact.read"), "each": LEVEL}
        given_by["option_order"] = exact.format("fact.option_order")
    chosen = {name: given_by.get(name, f"fact.{name}") for name in keys}
    grouped = ", ".join(chosen.values())
    if detail is Detail.ANSWERS:
        chosen["given"] = _given()
        grouped = ", ".join(chosen[name] for name in keys if name != "given")
    blind = " AND NOT fact.images_omitted" if without_blind else ""
    return f"""SELECT {", ".join(chosen.values())}, COUNT(*), COUNT(fact.points),
        SUM(CASE WHEN fact.points >= fact.full_marks THEN 1 ELSE 0 END),
        SUM(CASE WHEN fact.points <= 0 THEN 1 ELSE 0 END), COALESCE(SUM(fact.points), 0)
    FROM evaluations_answerfact AS fact{joined}
    WHERE fact.run_id IN ({", ".join(["%s"] * runs)}) AND ({key} OR {given}){blind}
    GROUP BY {grouped}"""


def _given() -> str:
    """Return the column ``given`` in the SQL of the database."""
    joined, points = GIVEN[connection.vendor]
    return joined.format(GIVEN_LINE.format(key=FactMarker.KEY.value, points=points))


def kept_sums(version: int, query: str, given: tuple[int, ...], keys: Keys) -> pd.DataFrame:
    """Return the sums of the facts of one *version*; the caller copies them.

    The runs among *given* tell the dataset.
    """
    key = (version, query, given)
    found: pd.DataFrame | None = _kept.get(key)
    if found is None:
        found = fetched(query, given, keys)
        _kept.put(key, found, int(found.memory_usage().sum()))
    return found


def forget() -> None:
    """Drop what is kept. For tests, where versions begin anew."""
    _kept.forget()


@collector_paused()
def fetched(query: str, given: tuple[int, ...], keys: Keys) -> pd.DataFrame:
    """Return the rows of a ``statement`` as a frame; texts that are equal are one object.

    Without the columns that were not asked for, but for the outcome, which is "" then.
    """
    import pandas as pd

    names = [*keys, *SUMS]
    parts: dict[str, list[np.ndarray[Any, Any]]] = {name: [] for name in names}
    texts: dict[object, object] = {}
    with connection.cursor() as cursor:
        cursor.execute(query, given)
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            for name, values in zip(names, zip(*rows, strict=True), strict=True):
                parts[name].append(_column(name, values, texts))
    n = sum(map(len, parts["n"]))
    frame = {}
    for name in names if "outcome" in keys else [*names, "outcome"]:
        kind = TYPES[name]
        if arrays := parts.pop(name, None):
            column = np.concatenate(arrays)
        else:
            column = np.full(n, MISSING.get(name, 0), dtype=kind)
        frame[name] = pd.Series(column, dtype=kind, copy=False)
    return pd.DataFrame(frame, copy=False)


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

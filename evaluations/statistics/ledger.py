"""Compute the report ``ledger``: counts of outcomes that add up to the number of answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from evaluations.statistics.figure import Figure, Report, ReportRow
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.rows import ModelCondition, ScoredAnswer
from evaluations.statistics.tally import Params

OUTCOMES = tuple(outcome.value for outcome in LedgerOutcome)


def outcome_of(row: ScoredAnswer) -> str:
    """Return the outcome of *row*, one of ``OUTCOMES``.

    Rows scored by rule contain it. For marked rows it follows from the points: full marks or more
    are ``correct``, 0 is ``wrong``, between is ``partial``, no points is ``not_scored``. Raises
    ValueError for an unknown outcome.
    """
    if row.outcome in OUTCOMES:
        return row.outcome
    if row.outcome:
        raise ValueError(f"response {row.response}: {row.outcome!r} is not an outcome")
    if row.points is None:
        return "not_scored"
    if row.points <= 0:
        return "wrong"
    return "correct" if row.points >= row.full else "partial"


def ledger_of(
    counted: Iterable[tuple[str, str, str, Counter[str]]], *, params: Params | None = None
) -> Report:
    """Return the report of ``ledger`` from the counts of outcomes by model, condition and task."""
    report_rows = [
        ReportRow(
            ModelCondition(model, condition)._asdict() | {"task": task},
            {name: Figure(counts[name], counts.total()) for name in OUTCOMES},
        )
        for model, condition, task, counts in sorted(counted, key=lambda row: row[:3])
    ]
    return Report("ledger", dict(params or {}), report_rows)


def ledger(rows: Iterable[ScoredAnswer], *, params: Params | None = None) -> Report:
    """Return the counts of the ten outcomes per model, condition and task.

    One row is one answer (an item, not a sub-answer). Every outcome is listed, also with count 0; n
    is the number of answers of that model, condition and task.
    """
    groups: dict[tuple[ModelCondition, str], Counter[str]] = defaultdict(Counter)
    for row in rows:
        groups[row.asked, row.task][outcome_of(row)] += 1
    report_rows = [
        ReportRow(
            asked._asdict() | {"task": task},
            {name: Figure(counts[name], counts.total()) for name in OUTCOMES},
        )
        for (asked, task), counts in sorted(groups.items())
    ]
    return Report("ledger", dict(params or {}), report_rows)

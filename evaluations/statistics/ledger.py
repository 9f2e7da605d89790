"""Report ``ledger``: what became of every answer; the counts add up to all of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from evaluations.statistics.figure import Figure, Report, ReportRow
from evaluations.statistics.rows import ScoredAnswer
from evaluations.statistics.tally import Params

OUTCOMES = (
    "correct",
    "partial",
    "wrong",
    "no_answer",
    "ambiguous",
    "refused",
    "truncated",
    "api_error",
    "not_scored",
    "excluded",
)


def outcome_of(row: ScoredAnswer) -> str:
    """The row's outcome, one of ``OUTCOMES``.

    Objective scoring writes it on the row. A marked row carries none and is
    placed by its points: full marks or more are ``correct``, 0 is ``wrong``,
    between is ``partial``, no points is ``not_scored``. Raises ValueError for a
    word that is not in the ledger: an unknown outcome must not vanish.
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


def ledger(rows: Iterable[ScoredAnswer], *, params: Params | None = None) -> Report:
    """Counts of the ten outcomes per model and task.

    One row is one answer (an item, not a sub-answer). A count of 0 is a value:
    every outcome is always listed, and n beside each is the number of answers of
    that model and task, to which the ten counts add up.
    """
    groups: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in rows:
        groups[row.model, row.task][outcome_of(row)] += 1
    report_rows = [
        ReportRow(
            {"model": model, "task": task},
            {name: Figure(counts[name], counts.total()) for name in OUTCOMES},
        )
        for (model, task), counts in sorted(groups.items())
    ]
    return Report("ledger", dict(params or {}), report_rows)

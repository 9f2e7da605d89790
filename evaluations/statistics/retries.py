"""Compute the report ``retries``: whether answers that needed more than one call differ.

A call that fails may fail because of its item: a long answer runs into a timeout more often. Then
the answers that were obtained by a second call are not like the others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from statistics import fmean, variance

from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from evaluations.statistics.rows import ModelCondition, ScoredAnswer
from evaluations.statistics.tally import Params

# A difference of more standard errors than this is flagged.
FLAGGED_ABOVE = 2.0


def retries(
    rows: Iterable[ScoredAnswer], retried: Collection[int], *, params: Params | None = None
) -> Report:
    """Return the mean share of full marks of *retried* and other responses, per condition.

    ``retried`` and ``others`` are means over responses with points (points over full marks, 0 to
    1); n is the number of responses. ``difference`` is the first less the second,
    ``standard_error`` that of the difference of two means with unequal variances (Welch), and
    ``flagged`` 1 if the difference exceeds 2 standard errors, else 0.
    Reasons: ``no_data`` without responses of a kind, ``too_few`` with fewer than 2 of a kind.
    """
    groups: dict[ModelCondition, dict[bool, list[float]]] = defaultdict(
        lambda: {True: [], False: []}
    )
    for row in rows:
        if row.points is not None and row.full > 0:
            groups[row.asked][row.response in retried].append(row.points / row.full)
    made = [
        ReportRow(asked._asdict(), compared(group[True], group[False]))
        for asked, group in sorted(groups.items())
    ]
    return Report("retries", dict(params or {}), made)


def compared(retried: Sequence[float], others: Sequence[float]) -> dict[str, Figure]:
    """Return the figures of one row; see :func:`retries`."""
    n = len(retried) + len(others)
    figures = {
        name: Figure(fmean(values), len(values)) if values else missing("no_data")
        for name, values in (("retried", retried), ("others", others))
    }
    if not retried or not others:
        figures["difference"] = missing("no_data", n)
    else:
        figures["difference"] = Figure(fmean(retried) - fmean(others), n)
    if min(len(retried), len(others)) < 2:
        return figures | {name: missing("too_few", n) for name in ("standard_error", "flagged")}
    error = math.sqrt(variance(retried) / len(retried) + variance(others) / len(others))
    difference = figures["difference"].value or 0.0
    flagged = abs(difference) > FLAGGED_ABOVE * error
    return figures | {
        "standard_error": Figure(error, n),
        "flagged": Figure(float(flagged), n),
    }

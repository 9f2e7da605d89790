"""Compute the report ``retries``: whether answers that needed more than one call differ.

A call that fails may fail because of its item: a long answer runs into a timeout more often. Then
the answers that were obtained by a second call are not like the others.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from evaluations.statistics.tally import Params

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

# A difference of more standard errors than this is flagged.
FLAGGED_ABOVE = 2.0


def retries_of(
    frame: pd.DataFrame, retried: Collection[int], *, params: Params | None = None
) -> Report:
    """Return the mean share of full marks of *retried* and other responses, per condition.

    *frame* has a row for each response, with ``model, condition, response, scored`` (1 with points,
    else 0), ``points`` and ``full_each``.
    ``retried`` and ``others`` are means over responses with points (points over full marks, 0 to
    1); n is the number of responses. ``difference`` is the first less the second,
    ``standard_error`` that of the difference of two means with unequal variances (Welch), and
    ``flagged`` 1 if the difference exceeds 2 standard errors, else 0.
    Reasons: ``no_data`` without responses of a kind, ``too_few`` with fewer than 2 of a kind.
    """
    scored = frame[(frame["scored"] > 0) & (frame["full_each"] > 0)]
    rates = scored.assign(
        rate=scored["points"] / scored["full_each"], again=scored["response"].isin(retried)
    )
    made = []
    for (model, condition), own in rates.groupby(["model", "condition"]):
        rate, again = own["rate"].to_numpy(), own["again"].to_numpy()
        figures = compared(rate[again], rate[~again])
        made.append(ReportRow({"model": model, "condition": condition}, figures))
    return Report("retries", dict(params or {}), made)


def compared(retried: Floats, others: Floats) -> dict[str, Figure]:
    """Return the figures of one row; see :func:`retries_of`."""
    n = len(retried) + len(others)
    figures = {
        name: Figure(float(values.mean()), len(values)) if len(values) else missing("no_data")
        for name, values in (("retried", retried), ("others", others))
    }
    if not len(retried) or not len(others):
        figures["difference"] = missing("no_data", n)
    else:
        figures["difference"] = Figure(float(retried.mean() - others.mean()), n)
    if min(len(retried), len(others)) < 2:
        return figures | {name: missing("too_few", n) for name in ("standard_error", "flagged")}
    error = math.sqrt(sum(float(np.var(one, ddof=1)) / len(one) for one in (retried, others)))
    difference = figures["difference"].value or 0.0
    flagged = abs(difference) > FLAGGED_ABOVE * error
    return figures | {
        "standard_error": Figure(error, n),
        "flagged": Figure(float(flagged), n),
    }

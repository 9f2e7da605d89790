"""Compute the report ``trend`` and the leakage check: how figures change with the year of a paper.

Both read a frame with a row per model, condition and question (``question_frame``). Source:
GAOKAO-Bench (Zhang et al. 2023, arXiv:2305.12474), figure 3 (totals by year) and table 5 (leakage).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from evaluations.statistics.accuracy import WHERES, Tallies, stream_totals
from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from evaluations.statistics.grouped import rate_figures
from evaluations.statistics.intervals import sum_half_width
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import Params, tallies_by
from questions.rules.vocabulary import Part, Stream

if TYPE_CHECKING:
    import pandas as pd


KEYS = ("model", "condition", "year", "subject", "part")


def trend(frame: pd.DataFrame, *, policy: str, params: Params | None = None) -> Report:
    """Return the points out of 750 per model, condition, year and stream.

    Each year is converted as the whole examination is (``converted_report``), so the figures of a
    row are those of its ``ALL``: ``total``, ``unscored``, and under policy ``published``
    ``total_full_precision``. A year that lacks a part has no total; the reason names what is
    missing, such as ``missing:Physics/subjective``. Questions without a year are in no row.
    """
    dated = frame[frame["year"].notna()]
    rows = []
    groups: dict[tuple[str, str, int], Tallies] = {}
    for (*about, subject, part), sums in tallies_by(dated, KEYS):
        tallies = groups.setdefault((about[0], about[1], about[2]), {})
        if (where := WHERES.get((subject, part))) is not None:
            tallies[where] = sums
    for (model, condition, year), tallies in groups.items():
        asked = ModelCondition(model, condition)
        for stream in Stream:
            key = asked._asdict() | {"year": str(year), "stream": stream.value}
            rows.append(ReportRow(key, stream_totals(stream, tallies, policy)))
    return Report("trend", dict(params or {}), rows)


def leakage(
    frame: pd.DataFrame, newest: Collection[int], *, params: Params | None = None
) -> Report:
    """Return the scoring rates of the *newest* years and of all others, and their difference.

    Per model, condition and part: a model that has seen old papers in its training falls on new
    ones. Figures: ``base`` (the other years) and ``newest`` as in ``rates``, and ``difference`` =
    newest - base, -1 to 1, with the interval of two independent samples of questions
    (``intervals.sum_half_width``, ``Ratios.variances_in_sum``); none if one of them has fewer than
    two questions. Questions without a year are left out. Reason: ``no_data`` if one of the two has
    nothing scored.
    """
    dated = frame[frame["year"].notna()]
    rows = []
    for (model, condition, part), own in dated.groupby(["model", "condition", "part"], sort=True):
        codes = own["year"].isin(newest).to_numpy(np.intp)
        (base, new), estimates = rate_figures(own, codes, 2)
        if base.value is None or new.value is None:
            difference = missing("no_data", base.n + new.n)
        else:
            change, half = new.value - base.value, None
            if ((variances := estimates.variances_in_sum()) > 0).all():
                degrees = (estimates.clusters - 1).astype(int).tolist()
                half = sum_half_width(variances.tolist(), degrees)
            bounds = (max(-1.0, change - half), min(1.0, change + half)) if half else (None, None)
            difference = Figure(change, base.n + new.n, *bounds)
        key = ModelCondition(model, condition)._asdict() | {"part": part}
        rows.append(ReportRow(key, {"base": base, "newest": new, "difference": difference}))
    order = {(part.value): place for place, part in enumerate(Part)}
    rows.sort(key=lambda row: (row.asked, order[row.key["part"]]))
    return Report("leakage", dict(params or {}), rows)

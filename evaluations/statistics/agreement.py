"""Compute the report ``agreement`` of two markers of the same responses.

All coefficients are computed on points. Items with different full marks differ more than responses
to one item do, which raises every coefficient of association; so read the rows of single subjects
before the row ``ALL``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evaluations.statistics.coefficients import (
    alpha_interval,
    ccc,
    icc_2_1,
    icc_2_k,
    kappa_quadratic,
    kendall_tau_b,
    pearson,
    spearman,
)
from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from evaluations.statistics.intervals import Z, share
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL, Params, subject_order

if TYPE_CHECKING:
    import pandas as pd

# Two pairs always correlate at -1 or 1.
MIN_PAIRS = 3

# Marks are multiples of 0.01; this allows for the binary rounding of differences.
EPSILON = 1e-9

Floats = NDArray[np.float64]

COEFFICIENTS: dict[str, Callable[[Floats, Floats], float | None]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall_tau_b": kendall_tau_b,
    "icc_2_1": icc_2_1,
    "icc_2_k": icc_2_k,
    "kappa_quadratic": kappa_quadratic,
    "alpha_interval": alpha_interval,
    "ccc": ccc,
}


@dataclass(frozen=True, slots=True)
class MarkPair:
    """Two marks in points of one response by two markers.

    ``pair`` is ``teacher-teacher`` (x first, y second mark) or ``teachers-judge:NAME`` (x the
    teachers' final mark, y the judge's). ``full`` are the full marks of the item, ``tolerance`` the
    largest accepted difference. ``response`` is the key of the response, ``answer`` that of the
    response in the round of the marks, or of the final one; no figure depends on them.
    """

    model: str
    condition: str
    subject: str
    pair: str
    x: float
    y: float
    full: float
    tolerance: float
    response: int = field(default=0, compare=False)
    answer: int = field(default=0, compare=False)

    @property
    def asked(self) -> ModelCondition:
        """The model and its condition."""
        return ModelCondition(self.model, self.condition)

    @property
    def difference(self) -> float:
        """y - x in points."""
        return self.y - self.x

    @property
    def share_difference(self) -> float:
        """(y - x) as a share of the full marks, -1 to 1."""
        return self.difference / self.full


# The columns of a frame of pairs: the fields of ``MarkPair``.
COLUMNS = (
    *("model", "condition", "subject", "pair", "x", "y", "full", "tolerance"),
    *("response", "answer"),
)


def pairs_frame(pairs: Iterable[MarkPair]) -> pd.DataFrame:
    """Return *pairs* as a frame with ``COLUMNS``."""
    import pandas as pd

    rows = [tuple(getattr(one, name) for name in COLUMNS) for one in pairs]
    return pd.DataFrame(rows, columns=[*COLUMNS])


def pairs_of(frame: pd.DataFrame) -> list[MarkPair]:
    """Return the rows of a frame of pairs."""
    return [MarkPair(*row) for row in frame[[*COLUMNS]].itertuples(index=False, name=None)]


def agreement_report(frame: pd.DataFrame, *, params: Params | None = None) -> Report:
    """Return the figures of ``agreement`` per model, condition, subject (and ``ALL``) and pair.

    *frame* has a row for each pair, with ``COLUMNS``.
    """
    rows = []
    for whole in (False, True):
        own = frame if whole else frame[frame["subject"] != ""]
        keys = (
            ["model", "condition", "pair"] if whole else ["model", "condition", "pair", "subject"]
        )
        for (model, condition, pair, *subject), group in own.groupby(keys, sort=False):
            about = {"model": model, "condition": condition, "subject": ALL, "pair": pair}
            if subject:
                about["subject"] = subject[0]
            rows.append(ReportRow(about, frame_agreement(group)))
    rows.sort(key=lambda row: (row.asked, row.key["pair"], subject_order(row.key["subject"])))
    return Report("agreement", dict(params or {}), rows)


def frame_agreement(frame: pd.DataFrame) -> dict[str, Figure]:
    """Return the figures of ``agreement`` of the pairs of one model and condition in *frame*."""
    return agreement_of(*(frame[name].to_numpy(np.float64) for name in ("x", "y", "tolerance")))


def agreement(pairs: Sequence[MarkPair]) -> dict[str, Figure]:
    """Return every figure of agreement of one group of pairs; n is the number of pairs.

    ``exact``, ``within_1`` (point) and ``within_tolerance`` are shares of differences up to the
    bound; ``mean_abs_difference``, ``bias`` = mean(y - x), ``limits_low`` and ``limits_high`` are
    in points. The limits of agreement are mean(y - x) -+ 1.96 sd(y - x), with n - 1 in the
    denominator of the standard deviation; if differences are roughly normal, about 95 % are between
    them. Source: Bland and Altman (1986), Lancet i, 307-310.

    Reasons: ``no_data`` without pairs, ``too_few_pairs`` below 3 for a coefficient (below 2 for the
    limits), ``no_variance`` if a coefficient is not defined because the marks do not vary. Raises
    ValueError for pairs of two models or conditions.
    """
    if len(asked := {pair.asked for pair in pairs}) > 1:
        raise ValueError(f"{' and '.join(map(str, sorted(asked)))} would be pooled")
    columns = np.array([(pair.x, pair.y, pair.tolerance) for pair in pairs], dtype=np.float64)
    return agreement_of(*columns.reshape(-1, 3).T)


def agreement_of(x: Floats, y: Floats, tolerance: Floats) -> dict[str, Figure]:
    """Return the figures of ``agreement`` of the marks *x* and *y* of the same responses."""
    n = len(x)
    apart = np.abs(x - y)
    figures = {
        "pairs": Figure(n, n),
        "exact": share(int(np.sum(apart <= EPSILON)), n),
        "within_1": share(int(np.sum(apart <= 1 + EPSILON)), n),
        "within_tolerance": share(int(np.sum(apart <= tolerance + EPSILON)), n),
        "mean_abs_difference": Figure(float(np.mean(apart)), n) if n else missing("no_data"),
        "bias": Figure(float(np.mean(y - x)), n) if n else missing("no_data"),
    }
    too_few = missing("too_few_pairs" if n else "no_data", n)
    for name, formula in COEFFICIENTS.items():
        value = formula(x, y) if n >= MIN_PAIRS else None
        undefined = missing("no_variance", n) if n >= MIN_PAIRS else too_few
        figures[name] = undefined if value is None else Figure(value, n)
    if n < 2:
        return figures | {"limits_low": too_few, "limits_high": too_few}
    bias = float(np.mean(y - x))
    reach = Z * float(np.std(y - x, ddof=1))
    return figures | {"limits_low": Figure(bias - reach, n), "limits_high": Figure(bias + reach, n)}

"""Report ``agreement``: how far two markers of the same responses agree.

All coefficients are computed on points. Items with different full marks differ
more among themselves than responses to one item do, which raises every
coefficient of association; read the row of one subject before the row ``ALL``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

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
from evaluations.statistics.tally import ALL, Params, subject_order

# Below this a coefficient is an artefact: two pairs always correlate at -1 or 1.
MIN_PAIRS = 3

# Marks are multiples of 0.01 at the finest; this absorbs binary rounding of differences.
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

    ``pair`` is ``teacher-teacher`` (x first, y second mark) or
    ``teachers-judge:NAME`` (x the teachers' final mark, y the judge's). ``full``
    are the item's full marks, ``tolerance`` the largest difference that passes.
    ``response`` leads back to what was marked; no figure depends on it.
    """

    model: str
    subject: str
    pair: str
    x: float
    y: float
    full: float
    tolerance: float
    response: int = field(default=0, compare=False)

    @property
    def difference(self) -> float:
        """y - x in points."""
        return self.y - self.x

    @property
    def share_difference(self) -> float:
        """(y - x) as a share of full marks, -1 to 1: comparable across items."""
        return self.difference / self.full


def agreement_report(pairs: Iterable[MarkPair], *, params: Params | None = None) -> Report:
    """Agreement per model, subject (and ``ALL``) and pair; figures as ``agreement`` gives them."""
    groups: dict[tuple[str, str, str], list[MarkPair]] = defaultdict(list)
    for one in pairs:
        groups[one.model, one.subject, one.pair].append(one)
        groups[one.model, ALL, one.pair].append(one)

    def order(key: tuple[str, str, str]) -> tuple[str, str, tuple[int, str]]:
        return key[0], key[2], subject_order(key[1])

    rows = [
        ReportRow({"model": model, "subject": subject, "pair": pair}, agreement(group))
        for (model, subject, pair), group in sorted(groups.items(), key=lambda kv: order(kv[0]))
    ]
    return Report("agreement", dict(params or {}), rows)


def agreement(pairs: Sequence[MarkPair]) -> dict[str, Figure]:
    """Every figure of agreement over one group of pairs; n is the number of pairs.

    ``exact``, ``within_1`` (point) and ``within_tolerance`` are shares, a
    difference equal to the bound passes; ``mean_abs_difference``, ``bias`` =
    mean(y - x), ``limits_low`` and ``limits_high`` are in points. Reasons:
    ``no_data`` without pairs, ``too_few_pairs`` below 3 for a coefficient (below
    2 for the limits), ``no_variance`` where a coefficient is not defined because
    the marks do not vary.
    """
    x = np.array([pair.x for pair in pairs], dtype=np.float64)
    y = np.array([pair.y for pair in pairs], dtype=np.float64)
    tolerance = np.array([pair.tolerance for pair in pairs], dtype=np.float64)
    figures = {"pairs": Figure(len(pairs), len(pairs))}
    figures |= _closeness(x, y, tolerance)
    figures |= {name: _coefficient(formula, x, y) for name, formula in COEFFICIENTS.items()}
    return figures | _limits(x, y)


def _closeness(x: Floats, y: Floats, tolerance: Floats) -> dict[str, Figure]:
    n = len(x)
    apart = np.abs(x - y)
    figures = {
        "exact": share(int(np.sum(apart <= EPSILON)), n),
        "within_1": share(int(np.sum(apart <= 1 + EPSILON)), n),
        "within_tolerance": share(int(np.sum(apart <= tolerance + EPSILON)), n),
    }
    if n == 0:
        return figures | {"mean_abs_difference": missing("no_data"), "bias": missing("no_data")}
    return figures | {
        "mean_abs_difference": Figure(float(np.mean(apart)), n),
        "bias": Figure(float(np.mean(y - x)), n),
    }


def _coefficient(formula: Callable[[Floats, Floats], float | None], x: Floats, y: Floats) -> Figure:
    n = len(x)
    if n < MIN_PAIRS:
        return missing("too_few_pairs" if n else "no_data", n)
    value = formula(x, y)
    return missing("no_variance", n) if value is None else Figure(value, n)


def _limits(x: Floats, y: Floats) -> dict[str, Figure]:
    """Limits of agreement, mean(y - x) -+ 1.96 sd(y - x), in points.

    About 95 % of differences lie between them if they are roughly normal. The
    standard deviation has n - 1 in the denominator; needs two pairs. Source:
    Bland and Altman (1986), Lancet i, 307-310.
    """
    n = len(x)
    if n < 2:
        reason = "too_few_pairs" if n else "no_data"
        return {"limits_low": missing(reason, n), "limits_high": missing(reason, n)}
    bias = float(np.mean(y - x))
    reach = Z * float(np.std(y - x, ddof=1))
    return {"limits_low": Figure(bias - reach, n), "limits_high": Figure(bias + reach, n)}

"""Rates of many groups of questions at once, with intervals, from a frame of questions.

The frame has a row per model, condition and question, with the columns ``points`` (sum over the
repeats that have points), ``full`` (sum of their full marks), ``n`` (their number), ``units``,
``subs`` and ``right`` (repeats with full marks). A question with all its repeats is one cluster.
The formulas are those of ``intervals``, over arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evaluations.statistics.figure import Figure, missing
from evaluations.statistics.intervals import (
    ROUNDING_OF_VARIANCE,
    Interval,
    sum_half_width,
    t_quantile,
    uniform_interval,
    uniform_variance,
    wilson,
)

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Ratios:
    """Ratio estimates of groups: arrays with one entry per group, NaN for none.

    ``value`` is sum(points) / sum(full); ``variance`` that of the ratio estimator over clusters
    (``intervals.ratio_variance``), NaN for fewer than two; ``clusters`` how many have points;
    ``effective`` how many of equal weight tell as much (``intervals.effective_number``).
    """

    value: Floats
    variance: Floats
    clusters: Floats
    effective: Floats

    def interval(self, group: int, *, least: float = 0.0) -> Interval | None:
        """Return R +- t(m - 1) se within *least* to 1; None as in ``intervals.ratio_interval``."""
        variance = self.variance[group]
        if not variance > 0:
            return None
        rate = float(self.value[group])
        half = t_quantile(self.clusters[group] - 1) * float(np.sqrt(variance))
        return max(least, rate - half), max(rate, min(1.0, rate + half))

    def uniform(self, group: int) -> Interval | None:
        """Return ``intervals.uniform_interval`` of a group whose clusters have one rate."""
        if self.variance[group] > 0:
            return None
        return uniform_interval(float(self.value[group]), float(self.effective[group]))

    def variances_in_sum(self) -> Floats:
        """Return the variances of the rates as summands of one sum.

        Those of ``intervals.uniform_variance`` for groups of several clusters that have one rate: a
        variance of 0 would make the interval of the sum too narrow.
        """
        found = self.variance.copy()
        for group in np.flatnonzero(found == 0):
            rate, clusters = float(self.value[group]), float(self.effective[group])
            found[group] = uniform_variance(rate, clusters, len(found)) or 0.0
        return found


def ratios(codes: Codes, groups: int, points: Floats, full: Floats) -> Ratios:
    """Return the ratio estimates of *groups* groups; ``codes`` has the group of each cluster.

    Clusters with ``full`` 0 have no points and do not count.
    """
    kept = full > 0
    codes, points, full = codes[kept], points[kept], full[kept]
    total = np.bincount(codes, weights=full, minlength=groups)
    clusters = np.bincount(codes, minlength=groups).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.bincount(codes, weights=points, minlength=groups) / total
        squares = np.bincount(codes, weights=(points - value[codes] * full) ** 2, minlength=groups)
        variance = clusters * squares / ((clusters - 1) * total**2)
        effective = total**2 / np.bincount(codes, weights=full**2, minlength=groups)
    variance[variance < ROUNDING_OF_VARIANCE] = 0.0
    variance[clusters < 2] = np.nan
    return Ratios(value, variance, clusters, effective)


def rate_figures(
    frame: pd.DataFrame, codes: Codes, groups: int, *, over_repeats: bool = False
) -> tuple[list[Figure], Ratios]:
    """Return the scoring rate of each group, with its interval, and the estimates behind it.

    n counts ``units`` with points. The interval is Wilson's where each question of the
    group is one answer, all are worth the same and each earned everything or nothing, and over the
    repeats where the group is one such question and *over_repeats* holds; where every question
    earned nothing, or everything, in all its repeats, it is Wilson's over the questions; else that
    of the ratio estimator. Reason: ``no_data`` if nothing in a group has points.
    """
    points, full = (frame[name].to_numpy(np.float64) for name in ("points", "full"))
    answers, right = (frame[name].to_numpy(np.float64) for name in ("n", "right"))
    estimates = ratios(codes, groups, points, full)
    scored = full > 0
    n = np.bincount(codes, weights=frame["units"].to_numpy(np.float64), minlength=groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = full / answers
    # Every answer earned all or nothing if the points are the full marks of the right ones.
    whole = (np.abs(points - right * each) < 1e-9) & (frame["subs"].to_numpy(np.float64) == 1)
    mixed = np.bincount(codes, weights=scored & ~whole, minlength=groups) > 0
    repeated = np.bincount(codes, weights=scored & (answers > 1), minlength=groups) > 0
    most, least = np.full(groups, -np.inf), np.full(groups, np.inf)
    np.maximum.at(most, codes[scored], each[scored])
    np.minimum.at(least, codes[scored], each[scored])
    single = ~mixed & (most == least) & (~repeated | (over_repeats & (estimates.clusters == 1)))
    successes = np.bincount(codes[scored], weights=right[scored], minlength=groups)
    given = np.bincount(codes[scored], weights=answers[scored], minlength=groups)
    figures = []
    for group in range(groups):
        if np.isnan(estimates.value[group]):
            figures.append(missing("no_data"))
            continue
        if single[group]:
            interval = wilson(float(successes[group]), float(given[group]))
        else:
            interval = estimates.interval(group) or estimates.uniform(group)
        value = float(estimates.value[group])
        figures.append(Figure(value, int(n[group]), *(interval or (None, None))))
    return figures, estimates


def mean_rate(rates: Ratios, rows: Sequence[Figure]) -> Figure:
    """Return the mean of the scoring rates of groups, each with equal weight; n is their number.

    As ``mean_figure``, with the variances of ``Ratios.variances_in_sum``. *rows* are the figures of
    the groups: of one group the mean has its interval. Where each group is one question and all
    were earned, or none, it has Wilson's over them.
    """
    mean = mean_figure(rates.value, rates.variances_in_sum(), rates.clusters)
    if mean.value is None:
        return mean
    if len(rows) == 1:
        return replace(mean, low=rows[0].low, high=rows[0].high)
    of_questions = bool((rates.clusters == 1).all())
    if of_questions and (interval := uniform_interval(mean.value, mean.n)) is not None:
        return Figure(mean.value, mean.n, *interval)
    return mean


def mean_figure(
    values: Floats, variances: Floats, clusters: Floats, *, least: float = 0.0
) -> Figure:
    """Return the mean of independent groups, each with equal weight; n is their number.

    The interval adds the variances of the groups (``intervals.sum_half_width``). Groups of one
    question each are themselves the sample: R +- t(k - 1) sd / sqrt(k). No interval if some group
    has too few questions and others have several, or if some group has a variance of 0, which would
    make the interval too narrow. Reason: ``missing_rows`` if a group has no
    value, because the mean of the others would be another figure; ``no_data`` without groups.
    """
    n = len(values)
    if n == 0:
        return missing("no_data")
    if np.isnan(values).any():
        return missing("missing_rows", n)
    mean = float(np.mean(values))
    half = None
    if (clusters == 1).all():
        spread = float(np.var(values, ddof=1)) if n > 1 else 0.0
        half = t_quantile(n - 1) * float(np.sqrt(spread / n)) if spread > 0 else None
    elif (variances > 0).all():
        half = sum_half_width((variances / n**2).tolist(), (clusters - 1).astype(int).tolist())
    if half is None:
        return Figure(mean, n)
    return Figure(mean, n, max(least, mean - half), max(mean, min(1.0, mean + half)))

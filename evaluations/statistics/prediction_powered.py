"""Estimate a scoring rate from a judge's marks of all responses and people's marks of a sample.

The target is R = sum(points) / sum(full) over all rows of a finite table, of which a random sample
was marked by people. The estimate is

    R_ppi = R_human + lambda (R_judge(all rows) - R_judge(marked rows)),

with ratio estimates of the marked rows. It is unbiased in large samples whatever the judge does;
lambda says how far the judge is used (0: not at all). Sources: Angelopoulos, Bates, Fannjiang,
Jordan, Zrnic (2023), Prediction-powered inference, Science 382, 669-674; Angelopoulos, Duchi, Zrnic
(2023), PPI++, arXiv:2311.01453 (lambda from the data); Cochran (1977), Sampling Techniques, 3rd
ed., 6.4, 6.11, 7.4 and 9A (ratio, combined ratio, regression estimator, clusters, finite
population).

Two small-sample corrections keep the level with few marks (bench/ppi_simulation.py measures it):

- **Capped tuning.** lambda <= 1 / (1 + sqrt(12 / n)). A sample of n shows nothing of differences
  between judge and people that are rarer than about 2 in n. With the cap, what they may add to the
  variance is at most a fifth of the part that people's marks leave in it, so that the interval of a
  judge that looks perfect stays honest instead of having no width.
- **Degrees of freedom** of the variance by Satterthwaite with the kurtosis of the residuals,
  d / (1 + d k / (2 n)), k >= 0, because points pile up at 0 and at full marks.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluations.statistics.student import t_quantile_of

Vector = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

CAP = 12.0
# Strata with fewer sampled units than this are joined: they show no variance of their own.
SMALLEST_STRATUM = 2


@dataclass(frozen=True, slots=True)
class Estimated:
    """A scoring rate (0 to 1) and its interval; no bounds where the sample gives none."""

    value: float
    low: float | None
    high: float | None

    @property
    def width(self) -> float | None:
        """The width of the interval; None without one."""
        return None if self.low is None or self.high is None else self.high - self.low


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """Both estimates of one table: *n* rows, *marked* of them marked by people."""

    n: int
    marked: int
    human_only: Estimated
    ppi: Estimated
    tuning: float


@dataclass(frozen=True, slots=True)
class MarkedTable:
    """Rows with full marks, judge's points and people's points (NaN: not marked).

    ``units`` numbers the clusters that rows are drawn in (each row its own without clusters),
    ``strata`` the strata of units, both from 0. Raises ValueError if arrays differ in length.
    """

    full: Vector
    judge: Vector
    human: Vector
    units: Codes
    strata: Codes

    @classmethod
    def of(
        cls,
        full: Vector,
        judge: Vector,
        human: Vector,
        *,
        stratum: Codes | None = None,
        cluster: Codes | None = None,
    ) -> MarkedTable:
        """Return the table; strata that cut through clusters are left out (wider, still valid)."""
        rows = np.arange(len(full), dtype=np.int64)
        units = rows if cluster is None else np.unique(cluster, return_inverse=True)[1]
        count = int(units.max()) + 1 if len(units) else 0
        strata = np.zeros(count, dtype=np.int64)
        if stratum is not None:
            codes = np.unique(stratum, return_inverse=True)[1].astype(np.int64)
            strata[units] = codes
            if np.any(strata[units] != codes):
                strata = np.zeros(count, dtype=np.int64)
        if not len(full) == len(judge) == len(human) == len(units):
            raise ValueError("arrays of different lengths")
        return cls(full, judge, human, units.astype(np.int64), strata)

    def per_unit(self, values: Vector, chosen: npt.NDArray[np.bool_] | None = None) -> Vector:
        """Return the sums of *values* by unit, over the *chosen* rows."""
        weights = values if chosen is None else np.where(chosen, values, 0.0)
        return np.bincount(self.units, weights=weights, minlength=len(self.strata)).astype(
            np.float64
        )


def estimate(table: MarkedTable, *, level: float = 0.95) -> PredictionPowered:
    """Return the human-only and the prediction-powered estimate of *table*.

    Strata have to be sampled in proportion to their units, clusters as wholes (a cluster of which
    only some rows are marked counts with these rows). Intervals have the coverage *level* (0 to 1)
    and the finite-population correction. Where the judge would widen the interval, lambda is 0 and
    both estimates are equal. Raises ValueError without a marked row.
    """
    marked = ~np.isnan(table.human)
    if not marked.any():
        raise ValueError("no row is marked")
    sampled = table.per_unit(marked.astype(float)) > 0
    judged, full = table.per_unit(table.judge), table.per_unit(table.full)
    sample = _Sample(
        human=table.per_unit(np.where(marked, table.human, 0.0))[sampled],
        judge=table.per_unit(table.judge, marked)[sampled],
        full=table.per_unit(table.full, marked)[sampled],
        strata=joined(table.strata, sampled, judged, full),
        sampled=sampled,
        whole=float(marked[np.isin(table.units, np.flatnonzero(sampled))].mean()),
    )
    human = sample.rate(sample.human)
    residuals = sample.human - human * sample.full
    human_half = sample.half_width(residuals, level, estimated=0)
    human_only = bounded(human, human_half, sample, level)
    judge_rate = sample.rate(sample.judge)
    judge_residuals = sample.judge - judge_rate * sample.full
    tuning = min(sample.tuning(residuals, judge_residuals), most_tuning(sample.n))
    ppi = human_only
    half = sample.half_width(residuals - tuning * judge_residuals, level, estimated=1)
    if tuning and half is not None and human_half is not None and half <= human_half:
        offset = float(table.judge.sum() / table.full.sum()) - judge_rate
        ppi = bounded(human + tuning * offset, half, sample, level)
    else:
        tuning = 0.0
    return PredictionPowered(len(table.full), int(marked.sum()), human_only, ppi, tuning)


def most_tuning(n: int) -> float:
    """Return the largest lambda with *n* sampled units (0 to 1)."""
    return 1 / (1 + math.sqrt(CAP / n))


def joined(strata: Codes, sampled: npt.NDArray[np.bool_], judged: Vector, full: Vector) -> Codes:
    """Return *strata* (by unit) with those joined of which fewer than two units were sampled.

    The one with the fewest sampled units joins the one whose rate of the judge, *judged* over
    *full* (both by unit), is nearest, until each has two: what two strata differ by counts as
    variance, so that strata that are alike cost little. Source: Cochran (1977), 5A.12.
    """
    count = int(strata.max()) + 1
    points = np.bincount(strata, weights=judged, minlength=count)
    marks = np.bincount(strata, weights=full, minlength=count)
    order = np.argsort(points / marks, kind="stable")
    taken = np.bincount(strata[sampled], minlength=count)[order].tolist()
    sums = [[float(points[i]), float(marks[i])] for i in order]
    # In the order of rates the nearest is a neighbour, also of what has been joined.
    left, right = list(range(-1, count - 1)), list(range(1, count + 1))
    into = list(range(count))
    queue = [(n, i) for i, n in enumerate(taken)]
    heapq.heapify(queue)
    while queue[0][0] < SMALLEST_STRATUM:
        n, i = heapq.heappop(queue)
        if into[i] != i or n != taken[i]:
            continue
        beside = [j for j in (left[i], right[i]) if 0 <= j < count]
        if not beside:
            break
        rate = sums[i][0] / sums[i][1]
        near = min(beside, key=lambda j: abs(sums[j][0] / sums[j][1] - rate))
        into[i] = near
        taken[near] += n
        sums[near] = [sums[near][0] + sums[i][0], sums[near][1] + sums[i][1]]
        if left[i] >= 0:
            right[left[i]] = right[i]
        if right[i] < count:
            left[right[i]] = left[i]
        heapq.heappush(queue, (taken[near], near))
    places = np.argsort(order, kind="stable")
    return np.unique(_ends(into)[places[strata]], return_inverse=True)[1].astype(np.int64)


def _ends(into: list[int]) -> Codes:
    """Return where each chain of *into* ends (a number that leads to itself)."""
    ends = np.array(into, dtype=np.int64)
    while np.any(ends[ends] != ends):
        ends = ends[ends]
    return ends


class _Sample:
    """The sampled units with the sums of their marked rows, and the strata of all units."""

    def __init__(
        self,
        *,
        human: Vector,
        judge: Vector,
        full: Vector,
        strata: Codes,
        sampled: npt.NDArray[np.bool_],
        whole: float,
    ) -> None:
        self.human, self.judge, self.full = human, judge, full
        self.n = len(human)
        self.strata = strata[sampled]
        self.units = np.bincount(strata).astype(float)
        self.taken = np.bincount(self.strata, minlength=len(self.units)).astype(float)
        # The share of each stratum that is known: less where only parts of clusters are marked.
        self.known = whole * self.taken / self.units
        # What one sampled unit stands for.
        self.weights = (self.units / np.maximum(self.taken, 1))[self.strata]

    def rate(self, points: Vector) -> float:
        """Return the combined ratio of *points* to full marks."""
        return float((self.weights * points).sum() / (self.weights * self.full).sum())

    def centred(self, values: Vector) -> Vector:
        """Return *values* without the mean of their stratum."""
        means = np.bincount(self.strata, weights=values, minlength=len(self.units))
        centred: Vector = values - (means / np.maximum(self.taken, 1))[self.strata]
        return centred

    def _scale(self) -> Vector:
        """Return the factor by which each unit's centred residual enters the standard error."""
        divisor = np.maximum(self.taken * (self.taken - 1), 1)
        scale: Vector = (self.units * np.sqrt((1 - self.known) / divisor))[self.strata]
        return scale

    def tuning(self, human: Vector, judge: Vector) -> float:
        """Return the lambda (0 to 1) of least variance, one for all strata."""
        scale = self._scale()
        x, y = scale * self.centred(judge), scale * self.centred(human)
        spread = float(x @ x)
        # Rounding leaves a spread where the judge gives the same rate to every row.
        if spread <= 1e-20 * float((self.weights * self.full).sum()) ** 2:
            return 0.0
        return min(max(float(x @ y) / spread, 0.0), 1.0)

    def half_width(self, residuals: Vector, level: float, *, estimated: int) -> float | None:
        """Return the half width of the interval; None if the sample shows no variance.

        *estimated* is the number of coefficients that were fitted to the residuals.
        """
        strata = int((self.taken > 0).sum())
        degrees = self.n - strata - estimated
        if (self.known == 1).all():
            return 0.0
        if degrees < 1:
            return None
        # A unit with much of the full marks pulls the ratio to itself: its residual is too small.
        share = self.weights * self.full / (self.weights * self.full).sum()
        parts = self._scale() * self.centred(residuals) * (1 - 1 / self.n) / (1 - share)
        squares = parts * parts
        variance = float(squares.sum())
        total = float((self.weights * self.full).sum())
        if variance <= 1e-20 * total * total:
            return None
        kurtosis = max(0.0, self.n * float((squares**2).sum()) / variance**2 - 3)
        freedom = degrees / (1 + kurtosis * degrees / (2 * self.n))
        variance *= (degrees + estimated) / degrees
        return quantile(level, freedom) * math.sqrt(variance) / total


def quantile(level: float, degrees: float) -> float:
    """Return the two-sided quantile of Student's t for *level* (0 to 1)."""
    return t_quantile_of(float(degrees), level)


def bounded(value: float, half: float | None, sample: _Sample, level: float) -> Estimated:
    """Return the estimate with its bounds, within 0 to 1.

    Where the marks show no variance (all 0, or all full), the bounds are Wilson's for as many
    answers as there are units, which is conservative for points between.
    """
    centre = value
    if half is None:
        if sample.n < SMALLEST_STRATUM:
            return Estimated(value, None, None)
        z, n = quantile(level, math.inf), sample.n
        centre = (value + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(value * (1 - value) / n + (z / (2 * n)) ** 2) / (1 + z * z / n)
    # Rounding must not push a bound past the value.
    return Estimated(
        value, min(value, max(0.0, centre - half)), max(value, min(1.0, centre + half))
    )


def large_sample_mean(
    human: Vector, judge: Vector, unmarked: Vector, *, level: float = 0.95
) -> tuple[Estimated, float]:
    """Return the PPI++ estimate of a mean and its lambda, as published, for large samples.

    *human* and *judge* are the marks of n marked responses, *unmarked* the judge's marks of N
    others from the same unlimited population: no finite-population correction, no cap, the normal
    quantile. For comparison with other implementations (ppi-python's ``ppi_mean_ci``); the product
    uses ``estimate``. Raises ValueError for empty arrays.
    """
    n, others = len(human), len(unmarked)
    if not n or not others or len(judge) != n:
        raise ValueError("empty arrays, or arrays of different lengths")
    covariance = float(((human - human.mean()) * (judge - judge.mean())).mean())
    spread = float(np.concatenate([judge, unmarked]).var(ddof=1))
    tuning = min(max(covariance / ((1 + n / others) * spread), 0.0), 1.0) if spread else 0.0
    value = float(tuning * unmarked.mean() + (human - tuning * judge).mean())
    variance = (
        tuning**2 * float(unmarked.var()) / others + float((human - tuning * judge).var()) / n
    )
    half = quantile(level, math.inf) * math.sqrt(variance)
    return Estimated(value, value - half, value + half), tuning

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
# Strata with fewer sampled units are joined for the variance: they show none of their own.
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

    Units have to be drawn at random in each stratum, in any proportion, clusters as wholes (where
    only some rows of them are marked, these stand for all of their stratum). A stratum that is
    marked whole is known: its points are added as they are, and the rest is estimated. One without
    a mark is taken as part of its nearest (``joined``), which is right where both were drawn in
    proportion. Intervals have the coverage *level* (0 to 1) and the finite-population correction.
    Where the judge would widen the interval, lambda is 0 and both estimates are equal. Raises
    ValueError without a marked row.
    """
    marked = ~np.isnan(table.human)
    if not marked.any():
        raise ValueError("no row is marked")
    sampled = table.per_unit(marked.astype(float)) > 0
    judged, full = table.per_unit(table.judge), table.per_unit(table.full)
    strata = joined(table.strata, sampled, judged, full, least=1)
    missing = np.bincount(strata, weights=table.per_unit((~marked).astype(float)))
    open_ = (missing > 0)[strata]
    rows = open_[table.units]
    total = float(table.full.sum())
    known = float(table.human[~rows].sum()) / total
    if not open_.any():
        whole = Estimated(known, known, known)
        return PredictionPowered(len(table.full), int(marked.sum()), whole, whole, 0.0)
    units, codes = (
        np.unique(numbers, return_inverse=True)[1].astype(np.int64)
        for numbers in (table.units[rows], strata[open_])
    )
    rest = MarkedTable(table.full[rows], table.judge[rows], table.human[rows], units, codes)
    share = float(rest.full.sum()) / total

    def with_known(one: Estimated) -> Estimated:
        # Rounding must not push a rate above 1.
        low, high = (
            None if at is None else min(known + share * at, 1.0) for at in (one.low, one.high)
        )
        return Estimated(min(known + share * one.value, 1.0), low, high)

    human_only, ppi, tuning = _estimated(rest, level)
    return PredictionPowered(
        len(table.full), int(marked.sum()), with_known(human_only), with_known(ppi), tuning
    )


def _estimated(table: MarkedTable, level: float) -> tuple[Estimated, Estimated, float]:
    """Return both estimates of *table* and lambda; each stratum has a marked and an unmarked row.

    For the value each stratum has its own weight. For the variance those with a single sampled unit
    are joined.
    """
    sample = _Sample(table)
    human = sample.rate(sample.human)
    residuals = sample.human - human * sample.full
    human_half = sample.half_width(residuals, level, estimated=0)
    human_only = bounded(human, human_half, sample, level)
    judge_rate = sample.rate(sample.judge)
    judge_residuals = sample.judge - judge_rate * sample.full
    tuning = min(sample.tuning(residuals, judge_residuals), most_tuning(sample.n))
    half = sample.half_width(residuals - tuning * judge_residuals, level, estimated=1)
    if tuning and half is not None and human_half is not None and half <= human_half:
        offset = float(table.judge.sum() / table.full.sum()) - judge_rate
        return human_only, bounded(human + tuning * offset, half, sample, level), tuning
    return human_only, human_only, 0.0


def most_tuning(n: int) -> float:
    """Return the largest lambda with *n* sampled units (0 to 1)."""
    return 1 / (1 + math.sqrt(CAP / n))


def joined(
    strata: Codes,
    sampled: npt.NDArray[np.bool_],
    judged: Vector,
    full: Vector,
    *,
    least: int = SMALLEST_STRATUM,
) -> Codes:
    """Return *strata* (by unit) with those joined of which fewer than *least* units were sampled.

    The one with the fewest sampled units joins the one whose rate of the judge, *judged* over
    *full* (both by unit), is nearest, until each has as many: what two strata differ by counts as
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
    while queue[0][0] < least:
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
    """The sampled units of a table with the sums of their marked rows, and what they stand for."""

    def __init__(self, table: MarkedTable) -> None:
        marked = ~np.isnan(table.human)
        rows, read = np.bincount(table.units), table.per_unit(marked.astype(float))
        sampled = read > 0
        self.human = table.per_unit(np.where(marked, table.human, 0.0))[sampled]
        self.judge = table.per_unit(table.judge, marked)[sampled]
        self.full = table.per_unit(table.full, marked)[sampled]
        self.n = len(self.human)
        strata = table.strata[sampled]
        units, taken = np.bincount(table.strata).astype(float), np.bincount(strata)
        judged, full = table.per_unit(table.judge), table.per_unit(table.full)
        # What one sampled unit stands for, also for rows of sampled clusters that are not marked.
        of_marked = np.bincount(strata, full[sampled]) / np.bincount(strata, self.full)
        self.weights = (units / taken * of_marked)[strata]
        self.groups = joined(table.strata, sampled, judged, full)[sampled]
        self.sizes = np.bincount(self.groups)
        # Units that are marked, less where only parts of clusters are.
        known = taken * np.bincount(strata, read[sampled]) / np.bincount(strata, rows[sampled])
        alone = taken[strata] == self.sizes[self.groups]
        # The finite-population correction. The squared distance of single units from others has
        # the variance of a draw, which is that of a sample of one: it needs none (5A.12).
        drawn = np.minimum((units - known) / np.maximum(units - 1, 1), 1)
        self.unknown = np.where(alone, (1 - known / units)[strata], drawn[strata])

    def rate(self, points: Vector) -> float:
        """Return the combined ratio of *points* to full marks."""
        return float((self.weights * points).sum() / (self.weights * self.full).sum())

    def parts(self, values: Vector) -> Vector:
        """Return the part of each unit in the error of the total of *values*.

        Their squares add up to its variance: n / (n - 1) times the squared distance of what the
        units of a group stand for, from its mean.
        """
        total = self.weights * np.sqrt(self.unknown) * values
        means = np.bincount(self.groups, weights=total) / self.sizes
        spread = np.sqrt(self.sizes / np.maximum(self.sizes - 1, 1))
        parts: Vector = (total - means[self.groups]) * spread[self.groups]
        return parts

    def tuning(self, human: Vector, judge: Vector) -> float:
        """Return the lambda (0 to 1) of least variance, one for all strata."""
        x, y = self.parts(judge), self.parts(human)
        spread = float(x @ x)
        # Rounding leaves a spread where the judge gives the same rate to every row.
        if spread <= 1e-20 * float((self.weights * self.full).sum()) ** 2:
            return 0.0
        return min(max(float(x @ y) / spread, 0.0), 1.0)

    def half_width(self, residuals: Vector, level: float, *, estimated: int) -> float | None:
        """Return the half width of the interval; None if the sample shows no variance.

        *estimated* is the number of coefficients that were fitted to the residuals.
        """
        degrees = self.n - len(self.sizes) - estimated
        if degrees < 1:
            return None
        # A unit with much of the full marks pulls the ratio to itself: its residual is too small.
        share = self.weights * self.full / (self.weights * self.full).sum()
        parts = self.parts(residuals) * (1 - 1 / self.n) / (1 - share)
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

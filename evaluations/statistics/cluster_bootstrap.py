"""Draw clusters of pairs of marks again and again, and compute coefficients of all draws at once.

A draw takes as many clusters (questions) as there are, with replacement; all pairs of a cluster go
together, because responses to one question are not independent. The coefficients are those of
``evaluations.statistics.coefficients`` of the drawn pairs, computed from weights: a pair that was
drawn twice counts twice. Source: Davison and Hinkley (1997), Bootstrap Methods and their
Application, section 3.8 (strategy 1), and 5.3.1 for percentile intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluations.statistics.intervals import Interval, Z

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

DRAWS = 1000
# Percentiles of fewer clusters are too narrow: no interval is better than a wrong one.
FEWEST_CLUSTERS = 8
# Draws in which a coefficient is not defined are left out; if they are many, there is no interval.
MOST_UNDEFINED = 0.05
# tau-b compares all kinds of pairs with each other: above so many there is no interval of it.
MOST_KINDS = 3000


@dataclass(frozen=True, slots=True)
class Draws:
    """How often each cluster was drawn: ``counts`` is draws x clusters, ``clusters`` by row."""

    counts: Matrix
    clusters: Codes

    @classmethod
    def of(cls, clusters: Codes, rng: np.random.Generator, draws: int = DRAWS) -> Draws | None:
        """Return *draws* draws of the clusters of rows; None if these are too few."""
        codes = np.unique(clusters, return_inverse=True)[1].astype(np.int64)
        number = int(codes.max()) + 1 if len(codes) else 0
        if number < FEWEST_CLUSTERS:
            return None
        counts = rng.multinomial(number, np.full(number, 1 / number), size=draws)
        return cls(counts.astype(np.float64), codes)

    def sums(self, values: Vector) -> Vector:
        """Return the sum of *values* (by row) in each draw."""
        totals = np.bincount(self.clusters, weights=values, minlength=self.counts.shape[1])
        sums: Vector = self.counts @ totals
        return sums

    def means(self, values: Vector) -> Vector:
        """Return the mean of *values* (by row) in each draw."""
        means: Vector = self.sums(values) / self.sums(np.ones(len(values)))
        return means

    def deviations(self, values: Vector) -> Vector:
        """Return the standard deviation (n - 1) of *values* in each draw; NaN for one row."""
        n = self.sums(np.ones(len(values)))
        shifted = values - values.mean()
        squares = self.sums(shifted**2) - self.sums(shifted) ** 2 / n
        with np.errstate(divide="ignore", invalid="ignore"):
            deviations: Vector = np.sqrt(np.maximum(squares, 0) / (n - 1))
        return deviations


def interval(values: Vector) -> Interval | None:
    """Return the 2.5th and 97.5th percentile of a figure over draws; None if undefined in many."""
    defined = values[np.isfinite(values)]
    if len(defined) < (1 - MOST_UNDEFINED) * len(values):
        return None
    low, high = np.quantile(defined, [0.025, 0.975])
    return float(low), float(high)


class WeightedPairs:
    """Kinds of pairs (x, y) with the number of each in every draw (``weights``: draws x kinds)."""

    def __init__(self, x: Vector, y: Vector, draws: Draws) -> None:
        kinds, of_row = np.unique(np.column_stack([x, y]), axis=0, return_inverse=True)
        of_row = of_row.reshape(-1)
        self.x, self.y = kinds[:, 0], kinds[:, 1]
        table = np.zeros((draws.counts.shape[1], len(kinds)))
        np.add.at(table, (draws.clusters, of_row), 1)
        self.weights: Matrix = draws.counts @ table
        self.n: Vector = self.weights.sum(axis=1)

    def means_and_spreads(self) -> tuple[Vector, Vector, Vector, Vector, Vector]:
        """Return mean x, mean y, and the variances and covariance with n in the denominator."""
        # Shifted, so that little is lost where marks are large and vary little.
        offset = float(self.x.mean())
        return _means_and_spreads(self.weights, self.n, self.x - offset, self.y - offset)


def _means_and_spreads(
    weights: Matrix, n: Vector, x: Vector | Matrix, y: Vector | Matrix
) -> tuple[Vector, Vector, Vector, Vector, Vector]:
    """Return weighted means, variances and covariance of x and y by draw (rows of *weights*)."""

    def mean(values: Vector | Matrix) -> Vector:
        found: Vector = (weights * values).sum(axis=1) / n
        return found

    mean_x, mean_y = mean(x), mean(y)
    var_x = np.maximum(mean(x * x) - mean_x**2, 0)
    var_y = np.maximum(mean(y * y) - mean_y**2, 0)
    return mean_x, mean_y, var_x, var_y, mean(x * y) - mean_x * mean_y


def _over(numerator: Vector, denominator: Vector) -> Vector:
    """Return the quotients; NaN where the denominator is 0 but for rounding."""
    small = denominator <= 1e-12
    found: Vector = np.where(small, np.nan, numerator / np.where(small, 1, denominator))
    return found


def ccc(pairs: WeightedPairs) -> Vector:
    """Return the concordance correlation, which equals kappa with quadratic weights, by draw."""
    mean_x, mean_y, var_x, var_y, cov = pairs.means_and_spreads()
    return _over(2 * cov, var_x + var_y + (mean_x - mean_y) ** 2)


def icc_2_1(pairs: WeightedPairs) -> Vector:
    """Return ICC(2,1) by draw."""
    mean_x, mean_y, var_x, var_y, cov = pairs.means_and_spreads()
    n = pairs.n
    # Of two markers: rows from the variance of means, error from that of differences.
    rows = 2 * n * (var_x + var_y + 2 * cov) / 4 / (n - 1)
    error = n * (var_x + var_y - 2 * cov) / 2 / (n - 1)
    columns = n * (mean_x - mean_y) ** 2 / 2
    return _over(rows - error, rows + error + 2 * (columns - error) / n)


def spearman(pairs: WeightedPairs) -> Vector:
    """Return Spearman's rank correlation with mid-ranks by draw."""
    ranks = []
    for values in (pairs.x, pairs.y):
        levels, of_kind = np.unique(values, return_inverse=True)
        table = np.zeros((len(values), len(levels)))
        table[np.arange(len(values)), of_kind] = 1
        counts = pairs.weights @ table
        middle = counts.cumsum(axis=1) - counts / 2
        ranks.append((middle / pairs.n[:, None])[:, of_kind])
    _mean_x, _mean_y, var_x, var_y, cov = _means_and_spreads(
        pairs.weights, pairs.n, ranks[0], ranks[1]
    )
    return _over(cov, np.sqrt(var_x * var_y))


def kendall_tau_b(pairs: WeightedPairs) -> Vector:
    """Return tau-b by draw; NaN for more than ``MOST_KINDS`` kinds of pairs."""
    if len(pairs.x) > MOST_KINDS:
        return np.full(len(pairs.n), np.nan)
    sign_x = np.sign(pairs.x[:, None] - pairs.x[None, :])
    sign_y = np.sign(pairs.y[:, None] - pairs.y[None, :])

    def form(signs: Matrix) -> Vector:
        found: Vector = ((pairs.weights @ signs) * pairs.weights).sum(axis=1)
        return found

    untied = form(np.abs(sign_x)), form(np.abs(sign_y))
    return _over(form(sign_x * sign_y), np.sqrt(untied[0] * untied[1]))


COEFFICIENTS: dict[str, Callable[[WeightedPairs], Vector]] = {
    "spearman": spearman,
    "kendall_tau_b": kendall_tau_b,
    "kappa_quadratic": ccc,
    "icc_2_1": icc_2_1,
    "ccc": ccc,
}


def agreement_intervals(x: Vector, y: Vector, draws: Draws | None) -> dict[str, Interval | None]:
    """Return the intervals of the figures of agreement of pairs (x, y), by name; {} without draws.

    The names are those of ``agreement``; the bias is that of y - x.
    """
    if draws is None:
        return {}
    pairs = WeightedPairs(x, y, draws)
    apart = y - x
    bias, reach = draws.means(apart), Z * draws.deviations(apart)
    own = {
        "bias": bias,
        "mean_abs_difference": draws.means(np.abs(apart)),
        "limits_low": bias - reach,
        "limits_high": bias + reach,
    }
    own |= {name: formula(pairs) for name, formula in COEFFICIENTS.items()}
    return {name: interval(values) for name, values in own.items()}

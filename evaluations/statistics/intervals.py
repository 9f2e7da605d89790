"""Confidence intervals without resampling.

All are two-sided at 95 %: (low, high), or None if there is no interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from evaluations.statistics.figure import Figure, missing
from evaluations.statistics.student import t_quantile_of

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
# How far rounding may move a rate.
ROUNDING = 1e-9
# Clusters of equal rates differ by rounding only.
ROUNDING_OF_VARIANCE = 1e-24

Interval = tuple[float, float]


def wilson(successes: float, n: float) -> Interval | None:
    """Return Wilson's score interval for a proportion of *successes* among *n*.

    Within 0 to 1, and of positive width also at 0 or n successes; None for n = 0. If *successes* is
    a sum of fractions, which vary less than 0 and 1, the interval is conservative. *n* may be an
    effective number, which is not whole. Source: Wilson (1927), JASA 22, 209-212; recommended for
    small n by Newcombe (1998), Statistics in Medicine 17, 857-872, method 3.
    """
    if n == 0:
        return None
    share = successes / n
    scale = 1 + Z * Z / n
    centre = (share + Z * Z / (2 * n)) / scale
    half = Z * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n)) / scale
    # At 0 or n successes a bound equals the share; rounding must not push it past.
    return min(share, max(0.0, centre - half)), max(share, min(1.0, centre + half))


def share(successes: float, n: int) -> Figure:
    """Return a proportion with Wilson's interval; reason ``no_data`` for n = 0."""
    interval = wilson(successes, n)
    if interval is None:
        return missing("no_data")
    return Figure(successes / n, n, *interval)


def ratio_variance(points: Sequence[float], full: Sequence[float]) -> float | None:
    """Return the estimated variance of the ratio R = sum(points) / sum(full) over clusters.

    One entry per cluster (an item with all its repeats). With residuals e_i = points_i - R full_i
    the variance is sum(e_i^2) / ((m - 1) m mean(full)^2), without a finite-population correction.
    None for fewer than two clusters or no full marks. Source: Cochran (1977), Sampling Techniques,
    3rd ed., eq. 6.13; clusters as in section 9A.
    """
    clusters = len(points)
    total_full = math.fsum(full)
    if clusters < 2 or total_full <= 0:
        return None
    ratio = math.fsum(points) / total_full
    squares = math.fsum((p - ratio * f) ** 2 for p, f in zip(points, full, strict=True))
    variance = clusters * squares / ((clusters - 1) * total_full * total_full)
    return variance if variance > ROUNDING_OF_VARIANCE else 0.0


def effective_number(full: Sequence[float]) -> float:
    """Return how many clusters of equal weight tell as much: (sum f)^2 / sum f^2.

    At most their number, which it is for equal *full*; 0 without full marks. Source: Kish (1965),
    Survey Sampling.
    """
    squares = math.fsum(f * f for f in full)
    return math.fsum(full) ** 2 / squares if squares > 0 else 0.0


def uniform_interval(rate: float, clusters: float) -> Interval | None:
    """Return Wilson's interval of a *rate* of 0 or 1 that every cluster has; None for other rates.

    *clusters* is the ``effective_number`` of clusters, not of answers: repeats of one question are
    not independent.
    """
    if abs(rate) < ROUNDING:
        return wilson(0.0, clusters)
    return wilson(clusters, clusters) if abs(rate - 1) < ROUNDING else None


def uniform_variance(rate: float, clusters: float, summands: int) -> float | None:
    """Return a variance of a *rate* (0 to 1) that every cluster has; None for other rates.

    For a sum of *summands* independent rates: p (1 - p) / (n + 4/k) with p = (rate n + 2/k) /
    (n + 4/k), where n is the ``effective_number`` of *clusters* and k the number of summands. Four
    observations are added to all of them together, two of them right. Source: Price and Bonett
    (2004), Computational Statistics & Data Analysis 45, 449-456, of rates of right answers; shares
    of the full marks with the same mean vary less.
    """
    if clusters <= 0 or not -ROUNDING < rate < 1 + ROUNDING:
        return None
    n = clusters + 4 / summands
    share = (min(max(rate, 0.0), 1.0) * clusters + 2 / summands) / n
    return share * (1 - share) / n


def t_quantile(degrees: float) -> float:
    """Return the 97.5 % point of Student's t with *degrees* of freedom (> 0, may be fractional)."""
    return t_quantile_of(float(degrees), CONFIDENCE)


def ratio_interval(points: Sequence[float], full: Sequence[float]) -> Interval | None:
    """Return the normal-theory interval of a scoring rate, R +- t(m - 1) se, limited to 0 to 1.

    None for fewer than two clusters, and if all clusters have the same rate: an interval of width 0
    would claim certainty. The upper bound is never below a rate above 1 (a released impossible
    total).
    """
    variance = ratio_variance(points, full)
    if variance is None or variance <= 0:
        return None
    rate = math.fsum(points) / math.fsum(full)
    half = t_quantile(len(points) - 1) * math.sqrt(variance)
    return max(0.0, rate - half), max(rate, min(1.0, rate + half))


def sum_half_width(variances: Sequence[float], degrees: Sequence[int]) -> float | None:
    """Return the half width of the interval of a sum of independent estimates.

    t(df) sqrt(sum v), with the Welch-Satterthwaite degrees of freedom (sum v)^2 / sum(v^2 / d).
    None if all variances are 0. Source: Satterthwaite (1946), Biometrics Bulletin 2, 110-114.
    """
    total = math.fsum(variances)
    if total <= 0:
        return None
    spread = math.fsum(v * v / d for v, d in zip(variances, degrees, strict=True))
    return t_quantile(total * total / spread) * math.sqrt(total)

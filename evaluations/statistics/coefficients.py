"""Coefficients of agreement and association between two markers.

Each takes the marks x and y of the same responses (at least 3 pairs, finite, equally long) and
returns None if it is not defined because the marks do not vary.

They are computed with NumPy alone: ``scipy.stats`` takes a second and 50 MB to load. Tests hold
them equal to it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Up to so many combinations of a mark of x with one of y are counted in a table, 8 bytes each.
LARGEST_TABLE = 1_000_000

# A product of vectors up to so long is computed by one thread. BLAS starts as many threads as there
# are cores for longer ones: they wait for each other where other processes work, and the last
# digits of the figure depend on the machine.
ONE_THREAD = 8_192


def _varies(values: Floats) -> bool:
    # By range, not by variance: the variance of equal floats may come out as 1e-34.
    return bool(np.ptp(values) > 0)


def pearson(x: Floats, y: Floats) -> float | None:
    """Return Pearson's correlation, -1 to 1; a constant shift does not change it.

    None when x or y is constant. As scipy.stats.pearsonr.
    """
    if not (_varies(x) and _varies(y)):
        return None
    from_x, from_y = x - x.mean(), y - y.mean()
    # Each divided by its length first, so that squares of large marks do not overflow.
    found = _product(from_x / _length(from_x), from_y / _length(from_y))
    return min(1.0, max(-1.0, found))


def _product(x: Floats, y: Floats) -> float:
    """Return the inner product, computed by one thread."""
    starts = range(0, len(x), ONE_THREAD)
    parts = [np.dot(x[i : i + ONE_THREAD], y[i : i + ONE_THREAD]) for i in starts]
    return float(np.sum(parts))


def _length(values: Floats) -> float:
    return math.sqrt(_product(values, values))


def spearman(x: Floats, y: Floats) -> float | None:
    """Return Spearman's rank correlation with mid-ranks for ties, -1 to 1.

    None when x or y is constant. As scipy.stats.spearmanr.
    """
    return pearson(_ranks(x), _ranks(y))


def _ranks(values: Floats) -> Floats:
    """Return the rank of each value from 1; equal values share the mean of their ranks."""
    _levels, places, numbers = np.unique(values, return_inverse=True, return_counts=True)
    middle: Floats = np.cumsum(numbers) - (numbers - 1) / 2
    return middle[places]


def kendall_tau_b(x: Floats, y: Floats) -> float | None:
    """Return Kendall's tau-b, a rank correlation corrected for ties, -1 to 1.

    (C - D) / sqrt((P - Tx) (P - Ty)) over the P pairs of responses: C in the same and D in the
    opposite order, Tx with equal x, Ty with equal y. None when x or y is constant. Source: Kendall
    (1945), Biometrika 33, 239-251; as scipy.stats.kendalltau, variant b.
    """
    if not (_varies(x) and _varies(y)):
        return None
    _levels, rows, of_x = np.unique(x, return_inverse=True, return_counts=True)
    _levels, columns, of_y = np.unique(y, return_inverse=True, return_counts=True)
    if len(of_x) * len(of_y) > LARGEST_TABLE:  # thousands of different marks
        from scipy import stats

        return float(stats.kendalltau(x, y, variant="b").statistic)
    cells = np.bincount(rows * len(of_y) + columns, minlength=len(of_x) * len(of_y))
    table = cells.reshape(len(of_x), len(of_y))
    higher = table[::-1].cumsum(axis=0)[::-1] - table  # by y, those with a greater x
    up_to = higher.cumsum(axis=1)
    in_order = up_to[:, -1:] - up_to
    against = up_to - higher
    balance = int((table * (in_order - against)).sum())
    pairs = len(x) * (len(x) - 1) // 2
    untied = [pairs - int((numbers * (numbers - 1) // 2).sum()) for numbers in (of_x, of_y)]
    # As scipy: two roots, because the product of two whole numbers may be too large for a float.
    found = balance / float(np.sqrt(untied[0])) / float(np.sqrt(untied[1]))
    return min(1.0, max(-1.0, found))


def _mean_squares(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Return the mean squares of a table of responses by markers: rows, columns, error."""
    n = len(x)
    table = np.column_stack([x, y])
    grand = table.mean()
    rows = 2 * float(np.sum(((x + y) / 2 - grand) ** 2))
    columns = n * float(np.sum((table.mean(axis=0) - grand) ** 2))
    # For two markers the error follows from the differences; in this form it is never below 0.
    differences = y - x
    error = float(np.sum((differences - differences.mean()) ** 2)) / 2
    return rows / (n - 1), columns, error / (n - 1)


def icc_2_1(x: Floats, y: Floats) -> float | None:
    """Return the intraclass correlation ICC(2,1): absolute agreement of single marks.

    Two-way random effects, (MSR - MSE) / (MSR + MSE + 2 (MSC - MSE) / n) for two
    markers. At most 1; may be negative when responses differ less than markers.
    None when all marks are equal. Source: Shrout and Fleiss (1979), Psychological
    Bulletin 86, 420-428, case 2.
    """
    rows, columns, error = _mean_squares(x, y)
    if not _varies(np.concatenate([x, y])):
        return None
    return (rows - error) / (rows + error + 2 * (columns - error) / len(x))


def icc_2_k(x: Floats, y: Floats) -> float | None:
    """Return the intraclass correlation ICC(2,k), k = 2: absolute agreement of the mean mark.

    (MSR - MSE) / (MSR + (MSC - MSE) / n); at most 1, and unbounded below when
    markers disagree more than responses differ. None when that denominator is
    not positive (all marks, or all responses' means, are equal). Source: Shrout
    and Fleiss (1979), case 2.
    """
    rows, columns, error = _mean_squares(x, y)
    denominator = rows + (columns - error) / len(x)
    if not _varies(np.concatenate([x, y])) or denominator <= 0:
        return None
    return (rows - error) / denominator


def kappa_quadratic(x: Floats, y: Floats) -> float | None:
    """Return Cohen's kappa with quadratic weights, -1 to 1.

    The categories are the points, and the weight of a disagreement is the squared difference in
    points, so unevenly spaced marks (0, 2.5, 5) keep their distances: 1 - mean((x_i - y_i)^2) /
    mean over all i, j of (x_i - y_j)^2. None if both markers give the same single mark throughout.
    It equals ``ccc`` (Schuster 2004, Educational and Psychological Measurement 64, 243-253); both
    are reported because readers know either name. Source: Cohen (1968), Psychological Bulletin 70,
    213-220.
    """
    observed = float(np.mean((x - y) ** 2))
    # Mean over all n^2 pairings, without building them.
    expected = float(np.var(x) + np.var(y) + (x.mean() - y.mean()) ** 2)
    return 1 - observed / expected if _varies(np.concatenate([x, y])) else None


def alpha_interval(x: Floats, y: Floats) -> float | None:
    """Return Krippendorff's alpha for interval data, two markers, no missing marks.

    1 - Do / De, where Do = mean((x_i - y_i)^2) and De is the mean squared difference over all
    ordered pairs of the 2n marks, which is twice their variance with 2n - 1 in the denominator. At
    most 1; 0 is chance, below 0 systematic disagreement. None if all marks are equal. Source:
    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section E.
    """
    observed = float(np.mean((x - y) ** 2))
    both = np.concatenate([x, y])
    expected = 2 * float(np.var(both, ddof=1))
    return 1 - observed / expected if _varies(both) else None


def ccc(x: Floats, y: Floats) -> float | None:
    """Return the concordance correlation coefficient, -1 to 1.

    2 s_xy / (s_x^2 + s_y^2 + (mean x - mean y)^2) with n in the denominators. None if both markers
    give the same single mark throughout. Source: Lin (1989), Biometrics 45, 255-268.
    """
    if not _varies(np.concatenate([x, y])):
        return None
    denominator = float(np.var(x) + np.var(y) + (x.mean() - y.mean()) ** 2)
    covariance = float(np.mean((x - x.mean()) * (y - y.mean())))
    return 2 * covariance / denominator

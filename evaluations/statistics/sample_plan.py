"""Plan how many questions people mark so that a total is known within so many points.

Questions are drawn at random in strata (subject and task), more where their points vary more
(Neyman allocation), at least two of each. Source: Cochran (1977), Sampling Techniques, 3rd ed.,
5.5 and 5.9 (optimum allocation, finite population), 7.8 (regression estimate).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evaluations.statistics.prediction_powered import most_tuning, quantile

Vector = npt.NDArray[np.float64]

FEWEST_IN_A_STRATUM = 2
# A stratum of few questions borrows the spread of all, as if that were so many questions more.
BORROWED = 5


@dataclass(frozen=True, slots=True)
class Stratum:
    """Questions of one subject and task.

    ``units`` is the number of questions, ``marked`` of which people have marked; ``deviation`` is
    the standard deviation of what a question adds to the total, in points of the total.
    """

    subject: str
    task: str
    units: int
    deviation: float
    marked: int = 0


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """How many questions of each stratum are marked in all, and the half width to expect."""

    drawn: tuple[int, ...]
    half_width: float

    @property
    def size(self) -> int:
        """The questions marked in all."""
        return sum(self.drawn)


def deviations(full: Vector, judge: Vector, strata: npt.NDArray[np.int64]) -> Vector:
    """Return the deviation of each stratum (numbered from 0), from a judge's points.

    *full* and *judge* are by question, in points of the total. The residual to the ratio of all is
    taken, and a stratum borrows the spread per full mark of all strata.
    """
    number = int(strata.max()) + 1
    counts = np.bincount(strata, minlength=number).astype(np.float64)
    residuals = judge - judge.sum() / full.sum() * full
    means = np.bincount(strata, weights=residuals, minlength=number) / np.maximum(counts, 1)
    squares = np.bincount(strata, weights=(residuals - means[strata]) ** 2, minlength=number)
    size = np.bincount(strata, weights=full**2, minlength=number) / np.maximum(counts, 1)
    degrees = max(float(counts.sum()) - number, 1.0)
    relative = float((squares / np.maximum(size, 1e-12)).sum()) / degrees
    free = np.maximum(counts - 1, 0)
    found: Vector = np.sqrt((squares + BORROWED * relative * size) / (free + BORROWED))
    return found


def even_deviations(full: Vector, strata: npt.NDArray[np.int64]) -> Vector:
    """Return the deviation of each stratum if points are spread evenly from 0 to full marks.

    *full* is by question, in points of the total. An even spread over a width w has the deviation
    w / sqrt(12); a stratum has the root of the mean square of those of its questions.
    """
    number = int(strata.max()) + 1
    counts = np.bincount(strata, minlength=number)
    squares = np.bincount(strata, weights=full**2 / 12, minlength=number)
    found: Vector = np.sqrt(squares / np.maximum(counts, 1))
    return found


def judge_gain(correlation: float, n: int) -> float:
    """Return by what share of it (0 to 1) a judge leaves the deviation, with *n* marked.

    *correlation* is that of judge's and teachers' points; 0 or less gains nothing. lambda is
    capped as in ``prediction_powered``.
    """
    rho = max(correlation, 0.0)
    tuning = min(rho, most_tuning(n))
    return math.sqrt(max(1 - 2 * tuning * rho + tuning**2, 0.0))


def standard_error(strata: Sequence[Stratum], drawn: Sequence[int]) -> float:
    """Return the standard error of the total in its points, with finite-population correction."""
    return math.sqrt(
        math.fsum(
            one.units**2 * (1 - n / one.units) * one.deviation**2 / n
            for one, n in zip(strata, drawn, strict=True)
            if n
        )
    )


def allocation(strata: Sequence[Stratum], size: int) -> tuple[int, ...]:
    """Return how many of *size* questions each stratum gets; at least 2, and those marked before.

    In proportion to units times deviation. A stratum that would get more than it has is marked
    whole, and the others share the rest.
    """
    least = [max(min(FEWEST_IN_A_STRATUM, one.units), one.marked) for one in strata]
    drawn = list(least)
    need = [one.units * one.deviation for one in strata]
    open_ = {i for i, one in enumerate(strata) if drawn[i] < one.units}
    while open_:
        rest = size - sum(n for i, n in enumerate(drawn) if i not in open_)
        share = math.fsum(need[i] for i in open_)
        wanted = {i: rest * (need[i] / share if share else 1 / len(open_)) for i in sorted(open_)}
        fixed = {i for i in open_ if wanted[i] <= least[i] or wanted[i] >= strata[i].units}
        if not fixed:
            for i in open_:
                drawn[i] = math.floor(wanted[i])
            by_rest = sorted(open_, key=lambda i: (math.floor(wanted[i]) - wanted[i], i))
            for i in by_rest[: max(size - sum(drawn), 0)]:
                drawn[i] += 1
            break
        # Too little first: raising one to its least leaves less for the others.
        low = {i for i in fixed if wanted[i] <= least[i]}
        for i in low or fixed:
            drawn[i] = least[i] if i in low else strata[i].units
        open_ -= low or fixed
    return tuple(drawn)


def planned(
    strata: Sequence[Stratum], size: int, *, correlation: float = 0.0, level: float = 0.95
) -> SamplePlan:
    """Return the plan of *size* questions, with a judge of this *correlation* (0: none).

    Strata that are marked whole are known: they add nothing to the width, nor to the degrees of
    freedom.
    """
    drawn = allocation(strata, size)
    sampled = [n for one, n in zip(strata, drawn, strict=True) if n < one.units]
    if not sampled:
        return SamplePlan(drawn, 0.0)
    n = sum(sampled)
    degrees = max(n - len(sampled) - 1, 1)
    error = standard_error(strata, drawn) * judge_gain(correlation, n)
    return SamplePlan(drawn, quantile(level, degrees) * error)


def needed(
    strata: Sequence[Stratum],
    half_width: float,
    *,
    correlation: float = 0.0,
    level: float = 0.95,
) -> SamplePlan:
    """Return the smallest plan whose half width is at most *half_width* points.

    All questions where nothing less is enough. Raises ValueError without a stratum.
    """
    if not strata:
        raise ValueError("there are no questions")
    low = sum(max(min(FEWEST_IN_A_STRATUM, one.units), one.marked) for one in strata)
    high = sum(one.units for one in strata)
    while low < high:
        middle = (low + high) // 2
        plan = planned(strata, middle, correlation=correlation, level=level)
        if plan.half_width <= half_width:
            high = middle
        else:
            low = middle + 1
    return planned(strata, low, correlation=correlation, level=level)


def widths(
    strata: Sequence[Stratum], *, correlation: float, points: int = 20
) -> list[tuple[int, float, float]]:
    """Return sizes from the smallest to all, each with the half widths without and with the judge.

    The curve of the page: *points* sizes at most.
    """
    low = sum(max(min(FEWEST_IN_A_STRATUM, one.units), one.marked) for one in strata)
    high = sum(one.units for one in strata)
    sizes: Iterable[float] = np.unique(np.linspace(low, high, points).round())
    return [
        (
            int(size),
            planned(strata, int(size)).half_width,
            planned(strata, int(size), correlation=correlation).half_width,
        )
        for size in sizes
    ]


def with_deviations(strata: Sequence[Stratum], found: Sequence[float]) -> list[Stratum]:
    """Return *strata* with other deviations."""
    return [replace(one, deviation=d) for one, d in zip(strata, found, strict=True)]

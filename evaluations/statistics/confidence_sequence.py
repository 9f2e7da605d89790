"""Intervals that stay valid however often they are looked at while people mark.

A 95 % interval that is looked at after every mark, to stop as soon as it is narrow or leaves out a
value, misses the truth far more often than in 5 % of studies. A confidence sequence misses it in at
most 5 % over all looks together. This one is asymptotic: a mixture of Gaussian supermartingales
around the estimate, on the time scale of sampling without replacement. Source: Waudby-Smith,
Arbour, Sinha, Kennedy and Ramdas (2024), Time-uniform central limit theory and asymptotic
confidence sequences, Annals of Statistics 52, 2613-2640, theorem 2.2; Waudby-Smith and Ramdas
(2020), Confidence sequences for sampling without replacement, NeurIPS 33.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluations.statistics.prediction_powered import (
    SMALLEST_STRATUM,
    Codes,
    Estimated,
    MarkedTable,
    PredictionPowered,
    estimate,
    quantile,
)

# Before so many units are marked, the normal approximation says too little.
FIRST_LOOK = 30


def boundary(n: int, size: int, *, narrowest: int, level: float = 0.95) -> float:
    """Return how many standard errors (with finite-population correction) reach to the bound.

    *n* of *size* units are marked; the sequence is narrowest, relative to a usual interval, when
    *narrowest* are. About 3.0 there at 95 %, where a single look needs 1.96. Raises ValueError
    unless 0 < n <= size and 0 < narrowest < size.
    """
    if not (0 < n <= size and 0 < narrowest < size):
        raise ValueError("marked and narrowest must be between 0 and the number of units")
    if n == size:
        return 0.0
    alpha = 1 - level
    best = -2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))
    # The variance of the martingale of n draws without replacement goes with n / (N - n).
    time = n / (size - n) * (size - narrowest) / narrowest * best
    return math.sqrt((time + 1) / time * math.log((time + 1) / alpha**2))


def at_any_time(
    made: PredictionPowered, *, units: int, sampled: int, narrowest: int, level: float = 0.95
) -> PredictionPowered:
    """Return *made*, estimated at *level*, with bounds that hold over all looks together.

    *sampled* of *units* are marked. No bounds before ``FIRST_LOOK`` sampled units.
    """
    if sampled < FIRST_LOOK:
        reach = None
    else:
        reach = boundary(sampled, units, narrowest=narrowest, level=level)
        reach /= quantile(level, math.inf)
    return replace(made, human_only=_wider(made.human_only, reach), ppi=_wider(made.ppi, reach))


def _wider(one: Estimated, reach: float | None) -> Estimated:
    """Return *one* with each side of its interval times *reach*, within 0 to 1."""
    if reach is None or one.low is None or one.high is None:
        return Estimated(one.value, None, None)
    low = one.value - reach * (one.value - one.low)
    high = one.value + reach * (one.high - one.value)
    return Estimated(one.value, max(0.0, low), min(1.0, high))


@dataclass(frozen=True, slots=True)
class Looks:
    """Shares of draws in which an interval missed the truth at some look (0 to 1)."""

    draws: int
    looks: int
    usual: float
    sequence: float
    sequence_human_only: float


def false_alarms(
    table: MarkedTable,
    *,
    draws: int,
    looks: Sequence[int],
    narrowest: int,
    rng: np.random.Generator,
    parts: Sequence[Sequence[int]] = (),
) -> Looks:
    """Draw the units of a fully marked *table* in random order, and look when *looks* are marked.

    With *parts* the sample is stratified: each part has the number of units that are drawn from
    each stratum, and is marked in random order before the next. A look without bounds is no alarm,
    nor is one while a stratum has too few marked units for a total: nothing is concluded from it.
    """
    truth = float(table.human.sum() / table.full.sum())
    units = len(table.strata)
    least = np.minimum(np.bincount(table.strata), SMALLEST_STRATUM) if parts else np.zeros(1)
    missed = np.zeros(3)
    for _draw in range(draws):
        order = _in_parts(table.strata, parts, rng) if parts else rng.permutation(units)
        found = np.zeros(3, dtype=np.bool_)
        for n in looks:
            kept = np.zeros(units, dtype=np.bool_)
            kept[order[:n]] = True
            if parts and np.any(np.bincount(table.strata[kept], minlength=len(least)) < least):
                continue
            made = estimate(replace(table, human=np.where(kept[table.units], table.human, np.nan)))
            always = at_any_time(made, units=units, sampled=n, narrowest=narrowest)
            found |= [_misses(one, truth) for one in (made.ppi, always.ppi, always.human_only)]
        missed += found
    usual, sequence, human_only = (missed / draws).tolist()
    return Looks(draws, len(looks), usual, sequence, human_only)


def _in_parts(strata: Codes, parts: Sequence[Sequence[int]], rng: np.random.Generator) -> Codes:
    """Return drawn units (keys into *strata*), part after part, each part in random order."""
    queues = [rng.permutation(np.flatnonzero(strata == code)) for code in range(len(parts[0]))]
    drawn, taken = [], np.zeros(len(queues), dtype=np.int64)
    for part in parts:
        own = [queue[i : i + n] for queue, i, n in zip(queues, taken, part, strict=True)]
        drawn.append(rng.permutation(np.concatenate(own)))
        taken += np.array(part)
    return np.concatenate(drawn)


def _misses(one: Estimated, truth: float) -> bool:
    if one.low is None or one.high is None:
        return False
    return not one.low - 1e-12 <= truth <= one.high + 1e-12

"""Draw samples of a fully marked table again and again, and see how prediction-powered does."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from evaluations.statistics.prediction_powered import SMALLEST_STRATUM, MarkedTable, estimate


@dataclass(frozen=True, slots=True)
class Simulated:
    """What *draws* samples of one fully marked table showed.

    ``coverage`` (0 to 1) is how often the prediction-powered interval held the rate of all rows,
    ``width_ratio`` its mean width over that of the human-only interval, ``label_ratio`` how many
    labels human-only would need for that width, over those drawn. The last two are None where the
    human-only interval has no width.
    """

    draws: int
    coverage: float
    width_ratio: float | None
    label_ratio: float | None


def simulate(
    table: MarkedTable, *, draws: int, marked: int, rng: np.random.Generator, level: float = 0.95
) -> Simulated:
    """Draw *marked* rows of *table* again and again, and return how the estimates do.

    Every row has to be marked. Units are drawn without replacement, in each stratum in proportion
    (largest remainders); with clusters, as many clusters as hold *marked* rows on average. An
    interval without bounds counts as not holding the rate. Raises ValueError for fewer than two
    units, or all of them.
    """
    count = len(table.strata)
    wanted = round(marked * count / len(table.full))
    if not SMALLEST_STRATUM <= wanted < count:
        raise ValueError("too few or too many rows to draw")
    truth = float(table.human.sum() / table.full.sum())
    strata = [np.flatnonzero(table.strata == code) for code in range(int(table.strata.max()) + 1)]
    shares = allocated([len(units) for units in strata], wanted)
    held, widths = 0, np.zeros(2)
    for _draw in range(draws):
        drawn = [rng.choice(u, k, replace=False) for u, k in zip(strata, shares, strict=True)]
        kept = np.zeros(count, dtype=np.bool_)
        kept[np.concatenate(drawn)] = True
        human = np.where(kept[table.units], table.human, np.nan)
        made = estimate(replace(table, human=human), level=level)
        one = made.ppi
        held += one.low is not None and one.high is not None and one.low <= truth <= one.high
        widths += made.human_only.width or 0.0, one.width or 0.0
    human_width, own_width = widths
    if human_width <= 0:
        return Simulated(draws, held / draws, None, None)
    ratio = float(own_width / human_width)
    # Widths go with sqrt(1 / m - 1 / N): solved for the m of human-only.
    needed = 1 / (ratio**2 * (1 / wanted - 1 / count) + 1 / count)
    return Simulated(draws, held / draws, ratio, needed / wanted)


def allocated(sizes: list[int], wanted: int) -> list[int]:
    """Return how many of *wanted* units each stratum of *sizes* gets, by largest remainders."""
    exact = [wanted * size / sum(sizes) for size in sizes]
    shares = [math.floor(share) for share in exact]
    by_remainder = sorted(range(len(sizes)), key=lambda i: (shares[i] - exact[i], i))
    for i in by_remainder[: wanted - sum(shares)]:
        shares[i] += 1
    return shares

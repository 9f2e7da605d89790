"""Planning of samples, and intervals for people who look while they mark."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from evaluations.statistics.confidence_sequence import at_any_time, boundary, false_alarms
from evaluations.statistics.prediction_powered import MarkedTable, estimate
from evaluations.statistics.sample_plan import (
    Stratum,
    allocation,
    deviations,
    judge_gain,
    needed,
    planned,
    standard_error,
    widths,
)

STRATA = [Stratum("A", "a", 20, 1.0), Stratum("A", "b", 10, 3.0), Stratum("B", "c", 30, 0.5)]


def test_allocation_is_the_best_of_all() -> None:
    for size in (8, 15, 25, 40):
        best = min(
            (
                (n1, n2, size - n1 - n2)
                for n1, n2 in itertools.product(range(2, 21), range(2, 11))
                if 2 <= size - n1 - n2 <= 30
            ),
            key=lambda drawn: standard_error(STRATA, drawn),
        )
        found = allocation(STRATA, size)
        assert sum(found) == size
        assert standard_error(STRATA, found) <= 1.02 * standard_error(STRATA, best)
    # The second is worth 30 of 65 shares, but has ten questions only.
    assert allocation(STRATA, 40)[1] == 10
    assert allocation(STRATA, 60) == (20, 10, 30)
    assert allocation([*STRATA, Stratum("C", "d", 1, 0.0)], 8)[3] == 1
    marked = [Stratum("A", "a", 20, 1.0, marked=12), *STRATA[1:]]
    assert allocation(marked, 20)[0] == 12
    assert standard_error(STRATA, (20, 10, 30)) == 0


def test_the_smallest_plan_that_is_enough() -> None:
    plan = needed(STRATA, 12.0)
    assert plan.half_width <= 12.0
    assert planned(STRATA, plan.size - 1).half_width > 12.0
    with_judge = needed(STRATA, 12.0, correlation=0.9)
    assert with_judge.size < plan.size
    assert needed(STRATA, 0.0).size == 60
    assert judge_gain(0.0, 100) == judge_gain(-1.0, 100) == 1.0
    assert judge_gain(0.9, 10**9) == pytest.approx(math.sqrt(1 - 0.81))
    curve = widths(STRATA, correlation=0.9)
    assert [size for size, *_ in curve][::19] == [6, 60]
    assert all(judge <= human for _, human, judge in curve)
    with pytest.raises(ValueError, match="no questions"):
        needed([], 6)
    # What is marked whole is known: two degrees of freedom of 4 questions, t(2) = 4.302653.
    some = planned([Stratum("A", "a", 2, 1.0), Stratum("A", "b", 10, 3.0)], 6)
    assert some.drawn == (2, 4)
    assert some.half_width == pytest.approx(4.302653 * 10 * 3 * math.sqrt((1 - 0.4) / 4))
    assert planned(STRATA, 60, correlation=0.9).half_width == 0


def test_a_plan_holds_what_it_promises() -> None:
    """Strata drawn by the plan: the estimate's half width is near the planned one, and covers."""
    rng = np.random.default_rng(5)
    strata = np.repeat(np.arange(4), [100, 60, 30, 80])
    full = np.repeat([1.0, 2.0, 0.5, 1.5], [100, 60, 30, 80])
    human = full * np.clip(rng.normal([0.4, 0.6, 0.5, 0.7], 0.25, (270, 4))[:, 0], 0, 1)
    human = np.where(strata % 2 == 1, full * rng.beta(1, 1, 270), human)
    judge = np.clip(human + rng.normal(0, 0.1, 270) * full, 0, full)
    spread = deviations(full, judge, strata)
    sizes = np.bincount(strata).tolist()
    lines = [Stratum("", str(i), n, s) for i, (n, s) in enumerate(zip(sizes, spread, strict=True))]
    plan = needed(lines, 20.0)
    truth, held, half = float(human.sum()), 0, []
    for _ in range(300):
        marked = np.zeros(270, dtype=bool)
        for i, n in enumerate(plan.drawn):
            marked[rng.choice(np.flatnonzero(strata == i), n, replace=False)] = True
        table = MarkedTable.of(full, judge, np.where(marked, human, np.nan), stratum=strata)
        made = estimate(table).human_only
        assert made.low is not None
        assert made.high is not None
        held += made.low * full.sum() <= truth <= made.high * full.sum()
        half.append((made.high - made.low) / 2 * full.sum())
    assert np.mean(half) == pytest.approx(plan.half_width, rel=0.15)
    assert held / 300 > 0.92


def test_a_confidence_sequence_is_wider_and_misses_seldom() -> None:
    assert boundary(100, 1000, narrowest=100) == pytest.approx(3.03, abs=0.01)
    assert boundary(100, 100, narrowest=50) == 0
    assert boundary(30, 1000, narrowest=100) > boundary(60, 1000, narrowest=100) > 3.03
    with pytest.raises(ValueError, match="between"):
        boundary(0, 100, narrowest=50)
    rng = np.random.default_rng(2)
    full = rng.integers(4, 16, 400).astype(float)
    human = np.round(full * rng.beta(2, 2, 400))
    judge = np.clip(human + rng.normal(0, 2, 400), 0, full)
    table = MarkedTable.of(full, judge, human)
    found = false_alarms(table, draws=60, looks=range(30, 200, 10), narrowest=100, rng=rng)
    assert found.usual > 0.05 >= found.sequence  # one in four misses at some look
    made = estimate(MarkedTable.of(full, judge, np.where(np.arange(400) < 20, human, np.nan)))
    early = at_any_time(made, units=400, sampled=20, narrowest=100)
    assert (early.ppi.low, early.ppi.high) == (None, None)
    assert early.ppi.value == made.ppi.value

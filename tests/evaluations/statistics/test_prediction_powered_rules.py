"""Prediction-powered estimates: against ppi-python, by hand, and by drawing again and again."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from evaluations.statistics.estimate_simulation import allocated, simulate
from evaluations.statistics.prediction_powered import (
    MarkedTable,
    estimate,
    joined,
    large_sample_mean,
    most_tuning,
)

HUMAN = np.array([0, 2, 5, 7, 3, 10, 4, 6, 8, 1, 9, 5.0])
JUDGE = np.array([1, 2, 6, 6, 4, 9, 5, 5, 9, 0, 9, 6.0])
OTHERS = np.array([3, 4, 7, 2, 8, 9, 10, 0, 1, 5, 6, 6, 7, 3, 2, 8, 4, 5, 9, 10, 1, 0, 5, 6.0])


def test_the_large_sample_estimate_is_that_of_ppi_python() -> None:
    """Values of ppi_mean_pointestimate and ppi_mean_ci, ppi-python 0.2.3, two judges."""
    good, tuning = large_sample_mean(HUMAN, JUDGE, OTHERS)
    assert good.value == pytest.approx(4.92393924, abs=1e-8)
    assert good.low == pytest.approx(3.826082559903597, abs=1e-9)
    assert good.high == pytest.approx(6.0217959150081874, abs=1e-9)
    assert 0 < tuning < 1
    reverse, tuning = large_sample_mean(HUMAN, 10 - JUDGE, OTHERS, level=0.9)
    assert (reverse.value, tuning) == (5, 0)
    assert reverse.low == pytest.approx(3.5623858017571086, abs=1e-9)
    assert reverse.high == pytest.approx(6.437614198242891, abs=1e-9)
    with pytest.raises(ValueError, match="empty"):
        large_sample_mean(HUMAN, JUDGE, OTHERS[:0])


def test_one_stratum_of_equal_full_marks_is_the_regression_estimator() -> None:
    """Cochran 7.4 for equal full marks: mean, slope and residuals by their definitions."""
    human = np.concatenate([HUMAN, np.full(24, np.nan)])
    judge = np.concatenate([JUDGE, OTHERS])
    made = estimate(MarkedTable.of(np.full(36, 10.0), judge, human))
    slope = ((HUMAN - 5) * (JUDGE - JUDGE.mean())).sum() / ((JUDGE - JUDGE.mean()) ** 2).sum()
    tuning = min(slope, 1 / (1 + math.sqrt(12 / 12)))
    value = (5 + tuning * (judge.mean() - JUDGE.mean())) / 10
    residuals = HUMAN - 5 - tuning * (JUDGE - JUDGE.mean())
    kurtosis = max(0.0, stats.kurtosis(residuals))
    degrees = 10 / (1 + kurtosis * 10 / 24)
    variance = (1 - 12 / 36) * (residuals**2).sum() / 10 / 12 / 100
    half = stats.t.ppf(0.975, degrees) * math.sqrt(variance)
    assert (made.n, made.marked, made.tuning) == (36, 12, pytest.approx(tuning))
    assert made.ppi.value == pytest.approx(value, abs=1e-12)
    assert made.ppi.high == pytest.approx(value + half, abs=1e-12)
    plain = stats.t.ppf(0.975, 11 / (1 + max(0.0, stats.kurtosis(HUMAN)) * 11 / 24))
    error = math.sqrt((1 - 12 / 36) * HUMAN.var(ddof=1) / 12) / 10
    assert made.human_only.value == pytest.approx(0.5)
    assert made.human_only.low == pytest.approx(0.5 - plain * error, abs=1e-12)


def test_a_sample_without_variance_has_honest_bounds() -> None:
    full = np.full(40, 4.0)
    none = np.concatenate([np.zeros(10), np.full(30, np.nan)])
    made = estimate(MarkedTable.of(full, full / 2, none))
    z = NormalDist().inv_cdf(0.975)
    assert made.human_only.value == 0
    assert made.human_only.high == pytest.approx(z * z / (10 + z * z))  # Wilson, 0 of 10
    assert made.ppi == made.human_only
    one = np.concatenate([[2.0], np.full(39, np.nan)])
    assert estimate(MarkedTable.of(full, full, one)).human_only.low is None
    whole = estimate(MarkedTable.of(full, full, full / 4))
    assert (whole.ppi.low, whole.ppi.value, whole.ppi.high) == (0.25, 0.25, 0.25)
    with pytest.raises(ValueError, match="no row"):
        estimate(MarkedTable.of(full, full, np.full(40, np.nan)))


def test_strata_and_clusters() -> None:
    assert allocated([50, 30, 20], 11) == [6, 3, 2]  # 5.5, 3.3, 2.2
    sampled = np.array([True, True, True, True, False, True, False])
    strata = np.array([0, 0, 1, 1, 2, 3, 3])
    # Each joins the stratum with the nearest rate of the judge: 0.3 joins 0.2, and 0.8 joins 0.9.
    judged, ones = np.array([0.9, 0.2, 0.3, 0.8])[strata], np.ones(7)
    assert joined(strata, sampled, judged, ones).tolist() == [1, 1, 0, 0, 0, 1, 1]
    # One of which nothing is sampled always joins another, one of a single unit only if asked.
    assert joined(strata, sampled, judged, ones, least=1).tolist() == [2, 2, 0, 0, 0, 1, 1]
    one = np.array([True, False])
    assert joined(np.array([0, 1]), one, judged[:2], ones[:2]).tolist() == [0, 0]
    # A cluster across strata leaves strata out; a table of clusters of one is a plain table.
    full, halves = np.full(36, 10.0), np.arange(36) % 2
    human = np.concatenate([HUMAN, np.full(24, np.nan)])
    judge = np.concatenate([JUDGE, OTHERS])
    plain = estimate(MarkedTable.of(full, judge, human))
    own = MarkedTable.of(full, judge, human, cluster=np.arange(36)[::-1].copy())
    assert estimate(own).ppi.value == pytest.approx(plain.ppi.value)
    pairs = np.arange(36) // 2
    crossed = MarkedTable.of(full, judge, human, stratum=halves, cluster=pairs)
    assert estimate(crossed) == estimate(MarkedTable.of(full, judge, human, cluster=pairs))


def test_each_stratum_has_its_own_weight_whatever_share_of_it_is_drawn() -> None:
    """All 36 samples of a small world: their estimates are the truth in the mean.

    An essay of 60 points is drawn whole, 2 of 4 questions of a task, 1 of 3 and 1 of 2 of others.
    Full marks of these are equal, so that the ratio is linear and has no bias of its own.
    """
    full = np.array([60.0] + [10.0] * 9)
    human = np.array([54.0, 1, 4, 6, 7, 2, 5, 8, 9, 10])
    task = np.array([0, 1, 1, 1, 1, 2, 2, 2, 3, 3])
    values = []
    for pair, b, c in itertools.product(itertools.combinations([1, 2, 3, 4], 2), [5, 6, 7], [8, 9]):
        marked = np.isin(np.arange(10), [0, *pair, b, c])
        table = MarkedTable.of(full, full / 2, np.where(marked, human, np.nan), stratum=task)
        one = estimate(table).human_only
        expected = 54 + 2 * human[list(pair)].sum() + 3 * human[b] + 2 * human[c]
        assert one.value * 150 == pytest.approx(expected)
        assert one.low is not None
        assert one.low >= 54 / 150
        values.append(one.value * 150)
    assert len(values) == 36
    assert np.mean(values) == pytest.approx(human.sum())


def test_what_is_known_whole_is_added_and_only_the_rest_has_an_interval() -> None:
    """An essay with full marks, and 4 of 30 questions of 5 points: 5, 5, 0, 0.

    60 + 30 * 2.5 = 135 of 210 points. The rest is known within 0 and 1 only: its standard error is
    sqrt((1 - 4 / 30) * 25 / 3 / 4) / 5 = 0.27, and t(3) is 3.18. Without a mark of the essay, what
    is marked stands for it. A judge gives the same as people, to 8 questions, and 5 to the others,
    130 of 150: only the rest is moved by lambda (130 / 150 - 1 / 2), and lambda goes by 8 marks.
    """
    full = np.array([60.0] + [5.0] * 30)
    human = np.concatenate([[60.0, 5, 5, 0, 0], np.full(26, np.nan)])
    task = np.minimum(np.arange(31), 1)
    one = estimate(MarkedTable.of(full, full / 2, human, stratum=task)).human_only
    assert one.value == pytest.approx(135 / 210)
    assert (one.low, one.high) == (pytest.approx(60 / 210), pytest.approx(1))
    human[0] = np.nan
    assert estimate(MarkedTable.of(full, full / 2, human, stratum=task)).human_only.value == 0.5
    human[0] = 60
    human[1:9] = np.tile([5, 0], 4)
    judge = np.concatenate([[0], human[1:9], np.full(22, 5.0)])
    made = estimate(MarkedTable.of(full, judge, human, stratum=task))
    tuning = 1 / (1 + math.sqrt(12 / 8))
    assert made.tuning == pytest.approx(tuning)
    assert made.ppi.value == pytest.approx((60 + 150 * (0.5 + tuning * 11 / 30)) / 210)


def test_a_cluster_that_is_marked_in_part_keeps_the_weight_of_its_stratum() -> None:
    """An essay of 60 points with two answers, one of them marked; 2 of 4 questions of 5 with both.

    Essays: 120 points times 1. The others: 40 times 10 of 20. That is 140 of 160.
    """
    full, question = np.repeat([60.0, 5, 5, 5, 5], 2), np.repeat(np.arange(5), 2)
    human = np.array([60, np.nan, 5, 5, 0, 0, *[np.nan] * 4])
    task = np.minimum(question, 1)
    table = MarkedTable.of(full, full / 2, human, stratum=task, cluster=question)
    assert estimate(table).human_only.value == pytest.approx(140 / 160)


def test_strata_with_one_sampled_unit_are_collapsed_for_the_variance() -> None:
    """One of two questions in four strata: Cochran's 5A.12 with pairs of alike rates of the judge.

    Totals of the strata less their share of all points: 2 * (4 - 5.5), and so on: -3, -1, 1, 3. The
    variance is (-3 + 1)^2 + (1 - 3)^2 = 8, without a finite-population correction, of 80 points.
    """
    human = np.array([4, np.nan, 5, np.nan, 6, np.nan, 7, np.nan])
    judge, strata = np.repeat([1, 2, 8, 9.0], 2), np.repeat(np.arange(4), 2)
    one = estimate(MarkedTable.of(np.full(8, 10.0), judge, human, stratum=strata)).human_only
    assert one.value == pytest.approx(0.55)
    assert one.high == pytest.approx(0.55 + stats.t.ppf(0.975, 2) * math.sqrt(8) / 80)


def drawn(judge: str, seed: int = 3) -> MarkedTable:
    """600 rows of 40 clusters, full marks 2 to 12, many at 0 and at full."""
    rng = np.random.default_rng(seed)
    full = rng.choice([2.0, 4, 6, 12], 600)
    level = np.repeat(rng.normal(0.4, 0.15, 40), 15)
    human = np.round(np.clip(level + rng.normal(0, 0.45, 600), 0, 1) * full)
    rare = np.where(rng.random(600) < 0.03, full - human, human)
    judges = {
        "noisy": np.clip(np.round(human + rng.normal(0, 0.12, 600) * full), 0, full),
        "generous": np.clip(human + 0.15 * full, 0, full),
        "rarely wrong": rare,
        "perfect": human,
        "useless": rng.permutation(human / full) * full,
        "constant": full / 2,
    }
    quarters = np.repeat(np.arange(4), 150)
    return MarkedTable.of(full, judges[judge], human, stratum=quarters)


@pytest.mark.parametrize(
    ("judge", "least_labels"),
    [
        ("noisy", 2),
        ("generous", 2),
        ("rarely wrong", 2),
        ("perfect", 4),
        ("useless", 0.9),
        ("constant", 1),
    ],
)
def test_the_interval_keeps_its_level_whatever_the_judge_is(
    judge: str, least_labels: float
) -> None:
    """600 draws: 95 % within four standard errors of the simulation; never 10 % wider."""
    for marked in (30, 90):
        made = simulate(drawn(judge), draws=600, marked=marked, rng=np.random.default_rng(marked))
        assert made.width_ratio is not None
        assert made.label_ratio is not None
        assert 0.92 <= made.coverage <= 0.98, (marked, made)
        assert made.width_ratio <= 1.1
        assert made.label_ratio >= least_labels


def test_without_the_cap_a_judge_that_looks_perfect_has_no_honest_interval() -> None:
    """Three of 100 judgements are far off: most samples of 30 show none of them, or one."""
    assert most_tuning(12) == 0.5
    table = drawn("rarely wrong")
    truth = table.human.sum() / table.full.sum()
    held = 0
    for seed in range(200):
        kept = np.random.default_rng(seed).choice(600, 30, replace=False)
        differences = (table.human - table.judge)[kept]
        shift = differences.sum() / table.full[kept].sum()
        error = (differences - shift * table.full[kept]).std(ddof=1) / math.sqrt(30)
        value = table.judge.sum() / table.full.sum() + shift
        held += abs(value - truth) <= 2.05 * error / table.full[kept].mean()
    assert held / 200 < 0.85

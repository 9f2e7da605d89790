"""Calibration of a judge against scipy, pingouin, krippendorff, statsmodels and scikit-learn."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pingouin
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests

from evaluations.statistics.alternative_annotator import (
    JudgedItem,
    alternative_annotator,
    benjamini_yekutieli,
)
from evaluations.statistics.calibration import JudgedMark, calibration, calibration_report
from evaluations.statistics.cluster_bootstrap import COEFFICIENTS, Draws, WeightedPairs
from evaluations.statistics.coefficients import icc_2_1, kappa_quadratic

EXACT = 1e-9


def mark(place: int, final: float, points: float, **fields: object) -> JudgedMark:
    given = {
        "judge": "j",
        "model": "m",
        "condition": "c",
        "response": place,
        "question": place,
        "full": 12.0,
        "tolerance": 1.0,
        "marks": None,
        "length": 10 * place,
        "totals": (points,),
        "labels": {"subject": "Physics"},
    }
    return JudgedMark(final=final, points=points, **(given | fields))  # type: ignore[arg-type]


@pytest.fixture
def released(shared_data: Path) -> list[JudgedMark]:
    """The released marks of two teachers, and a judge that gives a little more than their mean."""
    rng = np.random.default_rng(2026)
    marks: list[JudgedMark] = []
    for path in sorted((shared_data / "human-marks").glob("*.json")):
        for item in json.loads(path.read_text("utf-8"))["example"]:
            given, full = item["correction_score"], float(item["score"])
            first, second = (given if isinstance(given, list) else [given, given])[:2]
            if first is None or second is None:
                continue
            mean = (first + second) / 2
            judge = float(np.clip(np.round(2 * (mean + rng.normal(0.3, 0.15 * full))) / 2, 0, full))
            place = len(marks)
            marks.append(
                mark(
                    place,
                    mean,
                    judge,
                    full=full,
                    question=place // 2,
                    marks=(float(first), float(second)),
                    length=len(item["model_output"]),
                )
            )
    return marks


def test_released_marks_against_other_implementations(released: list[JudgedMark]) -> None:
    assert len(released) == 864
    found = calibration(released, rng=np.random.default_rng(1))
    x = np.array([one.final for one in released])
    y = np.array([one.points for one in released])
    long = pd.DataFrame({"r": [*range(len(x))] * 2, "m": [0] * len(x) + [1] * len(x)})
    iccs = pingouin.intraclass_corr(long.assign(s=np.r_[x, y]), "r", "m", "s").set_index("Type")
    icc = iccs.loc[next(name for name in iccs.index if name in ("ICC2", "ICC(A,1)")), "ICC"]
    levels = np.arange(0, 100 * max(x.max(), y.max()) + 1)
    kappa = cohen_kappa_score(
        np.round(100 * x).astype(int),
        np.round(100 * y).astype(int),
        weights="quadratic",
        labels=levels.astype(int),
    )
    full = np.array([one.full for one in released])
    expected = {
        "bias": np.mean(y - x),
        "rate_bias": y.sum() / full.sum() - x.sum() / full.sum(),
        "mean_abs_difference": np.abs(x - y).mean(),
        "spearman": stats.spearmanr(x, y).statistic,
        "kendall_tau_b": stats.kendalltau(x, y).statistic,
        "icc_2_1": icc,
        "kappa_quadratic": kappa,
        "ccc": 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2),
        "limits_low": (y - x).mean() - stats.norm.ppf(0.975) * (y - x).std(ddof=1),
        "length_spearman": stats.spearmanr(
            [one.length for one in released], (y - x) / full
        ).statistic,
    }
    for name, value in expected.items():
        figure = found[name]
        assert figure.value == pytest.approx(value, abs=EXACT), name
        assert figure.n == len(released)
        assert figure.low is not None, name
        assert figure.high is not None, name
        assert figure.low < figure.value < figure.high, name
    first, second = (np.array([one.marks[i] for one in released if one.marks]) for i in (0, 1))
    assert found["teachers_mean_abs_difference"].value == pytest.approx(
        np.abs(first - second).mean(), abs=EXACT
    )
    excess = (np.abs(y - first) + np.abs(y - second)) / 2 - np.abs(first - second)
    assert found["excess"].value == pytest.approx(excess.mean(), abs=EXACT)
    assert found["excess"].low > 0  # type: ignore[operator]  # the judge is outside the human band


def test_a_draw_has_the_coefficients_of_its_pairs() -> None:
    rng = np.random.default_rng(3)
    x = np.round(rng.uniform(0, 12, 60) * 2) / 2
    y = np.clip(np.round((x + rng.normal(0, 2, 60)) * 2) / 2, 0, 12)
    clusters = rng.integers(0, 20, 60)
    draws = Draws.of(clusters, rng, draws=25)
    assert draws is not None
    pairs = WeightedPairs(x, y, draws)
    by_name = {name: formula(pairs) for name, formula in COEFFICIENTS.items()}
    for place, counts in enumerate(draws.counts):
        times = counts[draws.clusters].astype(int)
        a, b = np.repeat(x, times), np.repeat(y, times)
        expected = {
            "spearman": stats.spearmanr(a, b).statistic,
            "kendall_tau_b": stats.kendalltau(a, b).statistic,
            "kappa_quadratic": kappa_quadratic(a, b),
            "icc_2_1": icc_2_1(a, b),
        }
        for name, value in expected.items():
            assert by_name[name][place] == pytest.approx(value, abs=EXACT), name
        assert draws.deviations(y - x)[place] == pytest.approx((b - a).std(ddof=1), abs=EXACT)
    assert Draws.of(np.arange(5), rng) is None  # too few clusters for percentiles


def test_clusters_widen_intervals_and_rows_are_cut() -> None:
    rng = np.random.default_rng(5)
    shift = np.repeat(rng.normal(0, 2, 30), 10)  # the judge is wrong by question
    rows = [
        mark(i, 6.0, float(np.clip(6 + shift[i], 0, 12)), question=i // 10, length=20 + i)
        for i in range(300)
    ]
    alone = [mark(i, 6.0, one.points) for i, one in enumerate(rows)]
    width = [
        (found := calibration(marks, rng=np.random.default_rng(1))["bias"]).high - found.low  # type: ignore[operator]
        for marks in (rows, alone)
    ]
    assert width[0] > 2 * width[1]
    report = calibration_report(
        [*rows, mark(900, 0, 1, length=5000, totals=(1.0, 2.0)), mark(901, 12, 12, totals=(3, 3))],
        by="length",
        rng=np.random.default_rng(1),
    )
    assert [(row.key["value"], row.figures["pairs"].value) for row in report.rows] == [
        ("ALL", 302),
        ("0-99", 80),
        ("100-299", 200),
        ("300-999", 20),
        ("1000+", 2),
    ]
    assert report.rows[0].figures["flips"].value == 0.5
    assert report.rows[1].figures["flips"].reason == "not_judged_again"
    assert report.rows[1].figures["excess"].reason == "no_pairs_of_teachers"
    assert report.rows[4].figures["icc_2_1"].reason == "too_few_pairs"
    assert report.rows[1].figures["spearman"].reason == "no_variance"
    assert [row.key["value"] for row in calibration_report(rows[:1], by="band", rng=rng).rows] == [
        "ALL",
        "50-75%",
    ]
    with pytest.raises(ValueError, match="pooled"):
        calibration([rows[0], mark(1, 1, 1, judge="other")], rng=rng)


def test_alternative_annotator_against_scipy_and_statsmodels() -> None:
    rng = np.random.default_rng(11)
    items = []
    for _ in range(120):
        truth = rng.uniform(2, 10)
        present = rng.choice(5, 3, replace=False)
        teachers = {int(t): float(np.round(truth + rng.normal(0, 1 + t / 3))) for t in present}
        items.append(JudgedItem(float(np.round(truth + rng.normal(0, 1.5))), teachers))
    found = alternative_annotator(items, epsilon=0.1)
    advantages, ps = [], []
    for row in found.teachers:
        judge, own = [], []
        for item in items:
            if row.teacher in item.teachers:
                others = np.array([m for t, m in item.teachers.items() if t != row.teacher])
                judge.append(np.sqrt(np.mean((item.judge - others) ** 2)))
                own.append(np.sqrt(np.mean((item.teachers[row.teacher] - others) ** 2)))
        wins = np.array([(a <= b + 1e-9, b <= a + 1e-9) for a, b in zip(judge, own, strict=True)])
        test = stats.ttest_1samp(
            wins[:, 1].astype(float) - wins[:, 0].astype(float), 0.1, alternative="less"
        )
        assert row.n == len(judge) >= 30
        assert row.p == pytest.approx(test.pvalue, abs=EXACT)
        assert row.judge_nearer == pytest.approx(wins[:, 0].mean(), abs=EXACT)
        ps.append(test.pvalue)
        advantages.append(wins[:, 0].mean())
    rejected = multipletests(ps, alpha=0.05, method="fdr_by")[0]
    assert [row.rejected for row in found.teachers] == rejected.tolist()
    assert found.winning_rate == pytest.approx(rejected.mean(), abs=EXACT)
    assert 0 < found.winning_rate < 1  # the data show both
    assert found.advantage == pytest.approx(np.mean(advantages), abs=EXACT)
    for values in itertools.product([0.001, 0.02, 0.04, 0.5], repeat=3):
        expected = multipletests(values, alpha=0.05, method="fdr_by")[0].tolist()
        assert benjamini_yekutieli(values, 0.05) == expected


def test_alternative_annotator_refuses_with_a_reason() -> None:
    two = [JudgedItem(5.0, {1: 4.0, 2: 6.0})] * 50
    assert alternative_annotator(two).reason == "too_few_teachers"
    few = [JudgedItem(5.0, {1: 4.0, 2: 6.0, 3: 5.0})] * 29
    assert alternative_annotator(few).reason == "too_few_items"
    assert alternative_annotator(few).passed is None
    # The judge gives what all give: at least as near to all, without any variance.
    same = alternative_annotator([JudgedItem(5.0, {1: 5.0, 2: 5.0, 3: 5.0})] * 30)
    assert (same.winning_rate, same.advantage, same.passed) == (1.0, 1.0, True)

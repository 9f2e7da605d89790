"""Agreement: every coefficient against another implementation or a value worked by hand."""

from __future__ import annotations

import os
import subprocess
import sys

import krippendorff
import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluations.statistics.agreement import MarkPair, agreement, agreement_report, pairs_frame
from evaluations.statistics.coefficients import kendall_tau_b, pearson, spearman

FIGURES = [
    "pairs",
    "exact",
    "within_1",
    "within_tolerance",
    "mean_abs_difference",
    "bias",
    "pearson",
    "spearman",
    "kendall_tau_b",
    "icc_2_1",
    "icc_2_k",
    "kappa_quadratic",
    "alpha_interval",
    "ccc",
    "limits_low",
    "limits_high",
]
COEFFICIENTS = FIGURES[6:14]

# Eight responses out of 12 points, with ties, half points, a shift and one outlier.
X = [0.0, 2.0, 4.5, 4.5, 7.0, 9.0, 12.0, 3.0]
Y = [1.0, 2.0, 4.0, 5.5, 7.5, 10.0, 12.0, 8.0]


def pairs(x: list[float], y: list[float], tolerance: float = 1.0) -> list[MarkPair]:
    return [
        MarkPair("m", "zero-shot", "Physics", "teacher-teacher", a, b, 12.0, tolerance)
        for a, b in zip(x, y, strict=True)
    ]


def value(name: str, x: list[float], y: list[float]) -> float | None:
    return agreement(pairs(x, y))[name].value


def test_the_figures_of_the_interface_in_order() -> None:
    assert list(agreement(pairs(X, Y))) == FIGURES
    assert {figure.n for figure in agreement(pairs(X, Y)).values()} == {8}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Differences y - x: 1, 0, -0.5, 1, 0.5, 1, 0, 5
        ("pairs", 8),
        ("exact", 2 / 8),
        ("within_1", 7 / 8),
        ("within_tolerance", 4 / 8),  # tolerance 0.5: 0, -0.5, 0.5, 0
        ("mean_abs_difference", 9 / 8),
        ("bias", 8 / 8),
        # Squares about the mean 1: 0, 1, 2.25, 0, 0.25, 0, 1, 16 = 20.5; sd = sqrt(20.5 / 7)
        ("limits_low", 1 - 1.959964 * (20.5 / 7) ** 0.5),
        ("limits_high", 1 + 1.959964 * (20.5 / 7) ** 0.5),
    ],
)
def test_differences_by_hand(name: str, expected: float) -> None:
    assert agreement(pairs(X, Y, tolerance=0.5))[name].value == pytest.approx(expected, abs=1e-5)


def test_associations_are_scipys() -> None:
    assert value("pearson", X, Y) == pytest.approx(np.corrcoef(X, Y)[0, 1])
    assert value("spearman", X, Y) == pytest.approx(
        np.corrcoef(stats.rankdata(X), stats.rankdata(Y))[0, 1]
    )


@given(st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), min_size=3, max_size=40))
def test_correlations_are_scipys_with_any_ties(halves: list[tuple[int, int]]) -> None:
    x, y = (np.array(marks) / 2 for marks in zip(*halves, strict=True))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    assert kendall_tau_b(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)


def test_a_figure_does_not_depend_on_the_number_of_cores() -> None:
    # Some machines have a BLAS that always uses one thread; there the two are equal anyhow.
    program = (
        "import numpy as np; from evaluations.statistics.coefficients import pearson, spearman;"
        "rng = np.random.default_rng(7); x = rng.random(100_000); y = x + rng.random(100_000);"
        "print(repr(pearson(x, y)), repr(spearman(x, y)))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for threads in ("1", "4")
    }
    assert len(found) == 1


def test_kendall_tau_b_of_thousands_of_different_marks() -> None:
    x = np.arange(1500) / 10
    y = np.roll(x, 700)
    # Of the pairs, 700 * 800 change their order and all others keep it.
    assert kendall_tau_b(x, y) == pytest.approx(1 - 2 * 700 * 800 / (1500 * 1499 / 2))


def test_kendall_tau_b_by_hand() -> None:
    # x 1 1 2 3, y 1 2 2 4: of 6 pairs one tied in x only (1,2), one in y only (2,3), 4 concordant:
    # tau-b = 4 / sqrt((6 - 1)(6 - 1)) = 0.8
    assert value("kendall_tau_b", [1, 1, 2, 3], [1, 2, 2, 4]) == pytest.approx(0.8)


@pytest.mark.parametrize(("name", "row"), [("icc_2_1", "ICC(A,1)"), ("icc_2_k", "ICC(A,k)")])
def test_icc_is_pingouins(name: str, row: str) -> None:
    n = len(X)
    long = pd.DataFrame({"response": [*range(n)] * 2, "marker": [1] * n + [2] * n, "mark": X + Y})
    table = pingouin.intraclass_corr(long, targets="response", raters="marker", ratings="mark")
    expected = table.set_index("Type").loc[row, "ICC"]
    assert value(name, X, Y) == pytest.approx(expected, abs=1e-8)


def test_icc_by_hand() -> None:
    # Rows (1,2), (3,4), (5,6): row means 1.5, 3.5, 5.5 about 3.5: MSR = 2 * 8 / 2 = 8;
    # column means 3 and 4: MSC = 3 * 0.5 = 1.5; no error. ICC(2,1) = 8 / (8 + 2 * 1.5 / 3) = 8/9;
    # ICC(2,2) = 8 / (8 + 1.5 / 3) = 16/17.
    assert value("icc_2_1", [1, 3, 5], [2, 4, 6]) == pytest.approx(8 / 9)
    assert value("icc_2_k", [1, 3, 5], [2, 4, 6]) == pytest.approx(16 / 17)


def test_kappa_from_the_confusion_matrix() -> None:
    # Cohen's own way: weights (i - j)^2, observed and expected from a table over 0 to 3.
    x, y = [0, 1, 1, 2, 3, 3], [0, 1, 2, 2, 2, 3]
    table = np.zeros((4, 4))
    for a, b in zip(x, y, strict=True):
        table[a, b] += 1
    weights = np.subtract.outer(np.arange(4), np.arange(4)) ** 2
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / 6
    by_table = 1 - (weights * table).sum() / (weights * expected).sum()
    assert value("kappa_quadratic", x, y) == pytest.approx(by_table)


def test_alpha_is_the_krippendorff_packages() -> None:
    expected = krippendorff.alpha(reliability_data=[X, Y], level_of_measurement="interval")
    assert value("alpha_interval", X, Y) == pytest.approx(expected)


def test_ccc_by_hand() -> None:
    # x 1 2 3, y 2 3 4: s_xy = s_x^2 = s_y^2 = 2/3, shift 1: 2 * 2/3 / (4/3 + 1) = 4/7.
    assert value("ccc", [1, 2, 3], [2, 3, 4]) == pytest.approx(4 / 7)


def test_a_constant_shift_shows_in_agreement_and_not_in_association() -> None:
    shifted = [x + 2 for x in X]
    for name in ("pearson", "spearman", "kendall_tau_b"):
        assert value(name, X, shifted) == pytest.approx(1.0)
    for name in ("icc_2_1", "kappa_quadratic", "alpha_interval", "ccc"):
        found = value(name, X, shifted)
        assert found is not None
        assert found < 0.95
    assert value("bias", X, shifted) == pytest.approx(2.0)


def test_equal_marks_agree_fully() -> None:
    for name in COEFFICIENTS:
        assert value(name, X, X) == pytest.approx(1.0), name
    figures = agreement(pairs(X, X))
    assert (figures["limits_low"].value, figures["limits_high"].value) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("x", "y", "name", "reason"),
    [
        ([], [], "exact", "no_data"),
        ([], [], "bias", "no_data"),
        ([], [], "pearson", "no_data"),
        ([], [], "limits_low", "no_data"),
        ([1], [2], "limits_high", "too_few_pairs"),
        ([1, 2], [2, 3], "pearson", "too_few_pairs"),
        ([1, 2], [2, 3], "alpha_interval", "too_few_pairs"),
        ([3, 3, 3], [1, 2, 3], "pearson", "no_variance"),
        ([1, 2, 3], [3, 3, 3], "spearman", "no_variance"),
        ([3, 3, 3], [1, 2, 3], "kendall_tau_b", "no_variance"),
        ([1, 2, 3], [3, 2, 1], "icc_2_k", "no_variance"),
        *[([0.1] * 7, [0.1] * 7, name, "no_variance") for name in COEFFICIENTS],
    ],
)
def test_reasons(x: list[float], y: list[float], name: str, reason: str) -> None:
    figure = agreement(pairs(x, y))[name]
    assert (figure.value, figure.reason, figure.n) == (None, reason, len(x))


def test_one_pair_still_has_its_difference() -> None:
    figures = agreement(pairs([4.0], [5.0]))
    assert figures["bias"].value == 1.0
    assert figures["within_tolerance"].value == 1.0  # a difference equal to the tolerance passes


def test_binary_rounding_does_not_miss_the_tolerance() -> None:
    assert 2.2 - 1.2 > 1  # by 2e-16
    figures = agreement(pairs([1.2], [2.2]))
    assert (figures["within_1"].value, figures["within_tolerance"].value) == (1.0, 1.0)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=3, max_size=40))
def test_ranges_and_kappa_equals_ccc(halves: list[tuple[int, int]]) -> None:
    figures = agreement(pairs([a / 2 for a, _ in halves], [b / 2 for _, b in halves]))
    for name in COEFFICIENTS:
        found = figures[name].value
        assert found is None or found <= 1 + 1e-9, name
        if name not in ("icc_2_1", "icc_2_k", "alpha_interval"):
            assert found is None or found >= -1 - 1e-9, name
    kappa, ccc = figures["kappa_quadratic"].value, figures["ccc"].value
    assert (kappa is None) == (ccc is None)
    assert kappa is None or kappa == pytest.approx(ccc, abs=1e-9)


def test_report_by_subject_pair_and_all() -> None:
    rows = [
        MarkPair("m", "zero-shot", "Physics", "teacher-teacher", 1, 2, 10, 1),
        MarkPair("m", "zero-shot", "History", "teacher-teacher", 4, 4, 10, 1),
        MarkPair("m", "zero-shot", "History", "teachers-judge:j", 4, 7, 20, 2),
        MarkPair("other", "zero-shot", "History", "teacher-teacher", 5, 5, 10, 1),
    ]
    report = agreement_report(pairs_frame(rows), params={"marker": "teachers"})
    assert [tuple(row.key.values()) for row in report.rows] == [
        ("m", "zero-shot", "Physics", "teacher-teacher"),
        ("m", "zero-shot", "History", "teacher-teacher"),
        ("m", "zero-shot", "ALL", "teacher-teacher"),
        ("m", "zero-shot", "History", "teachers-judge:j"),
        ("m", "zero-shot", "ALL", "teachers-judge:j"),
        ("other", "zero-shot", "History", "teacher-teacher"),
        ("other", "zero-shot", "ALL", "teacher-teacher"),
    ]
    assert [row.figures["pairs"].value for row in report.rows] == [1, 1, 2, 1, 1, 1, 1]
    assert report.as_dict()["report"] == "agreement"
    assert rows[2].share_difference == pytest.approx(0.15)

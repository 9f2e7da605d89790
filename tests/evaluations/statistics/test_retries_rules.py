"""R57: answers that needed more than one call beside the others, with values by hand."""

from __future__ import annotations

import pandas as pd
import pytest
from scipy import stats

from evaluations.statistics.retries import retries_of

RETRIED = (1.0, 0.0, 0.0, 0.0)
OTHERS = (1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0)


def frame(*shares: float) -> pd.DataFrame:
    """One response to an item of one point for each of *shares*, numbered from 1."""
    n = len(shares)
    return pd.DataFrame(
        {
            "model": ["m"] * n,
            "condition": [""] * n,
            "response": range(1, n + 1),
            "scored": [1] * n,
            "points": shares,
            "full_each": [1.0] * n,
        }
    )


def test_the_difference_is_that_of_welch() -> None:
    (row,) = retries_of(frame(*RETRIED, *OTHERS), {1, 2, 3, 4}).rows
    figures = {name: figure.value for name, figure in row.figures.items()}
    assert figures["retried"] == 0.25
    assert figures["others"] == 0.875
    assert figures["difference"] == -0.625
    welch = stats.ttest_ind(RETRIED, OTHERS, equal_var=False)
    assert figures["difference"] / figures["standard_error"] == pytest.approx(welch.statistic)
    assert figures["flagged"] == 1.0
    assert (row.figures["retried"].n, row.figures["others"].n) == (4, 8)


def test_a_difference_within_two_errors_is_not_flagged() -> None:
    (row,) = retries_of(frame(1.0, 0.0, 1.0, 0.0, 1.0, 1.0), {1, 2, 3}).rows
    assert row.figures["flagged"].value == 0.0


def test_without_retries_there_is_a_reason_and_no_zero() -> None:
    (row,) = retries_of(frame(1.0, 1.0), set()).rows
    assert row.figures["others"].n == 2
    for name, reason in (("retried", "no_data"), ("difference", "no_data"), ("flagged", "too_few")):
        assert row.figures[name].value is None
        assert row.figures[name].reason == reason

"""Shares, weaknesses and agreement of a capability review, worked by hand."""

from __future__ import annotations

import pytest

from evaluations.capability.rules.figures import (
    Judged,
    TimesNamed,
    both_judged,
    differing,
    reviewer_pairs,
    share_of_ones,
    weaknesses_named,
)
from evaluations.statistics.intervals import wilson

ANN, BEN, CAI = 1, 2, 3


def judged(item: int, reviewer: int, value: int | None, *weaknesses: str) -> Judged:
    return Judged(item, "lsat-lr", reviewer, {"reasoning": value}, weaknesses)


def test_a_share_counts_answers_and_its_interval_is_wilsons() -> None:
    # Ten answers, three of them 1: 0.3; Wilson (Newcombe 1998, method 3) by hand with z = 1.959964:
    # centre (0.3 + 3.841459 / 20) / 1.3841459 = 0.355507, half 1.959964 *
    # sqrt(0.3 * 0.7 / 10 + 3.841459 / 400) / 1.3841459 = 0.247716.
    rows = [judged(n, ANN, int(n <= 3)) for n in range(1, 11)]
    figure = share_of_ones(rows, "reasoning")
    assert (figure.value, figure.n) == (0.3, 10)
    assert (figure.low, figure.high) == pytest.approx((0.107791, 0.603222), abs=1e-6)


def test_an_answer_of_two_reviewers_counts_once_by_their_mean() -> None:
    # Means 1, 0.5 and 0 over three answers: 0.5, and n is 3 although there are five judgements.
    rows = [judged(1, ANN, 1), judged(1, BEN, 1), judged(2, ANN, 1), judged(2, BEN, 0)]
    rows.append(judged(3, BEN, 0))
    figure = share_of_ones(rows, "reasoning")
    assert (figure.value, figure.n) == (0.5, 3)
    assert (figure.low, figure.high) == wilson(1.5, 3)


def test_what_does_not_apply_is_no_zero() -> None:
    rows = [judged(1, ANN, None), judged(2, ANN, 1), judged(2, BEN, None)]
    assert (share_of_ones(rows, "reasoning").value, share_of_ones(rows, "reasoning").n) == (1, 1)
    nothing = share_of_ones(rows[:1], "reasoning")
    assert (nothing.value, nothing.n, nothing.reason) == (None, 0, "no_data")
    assert share_of_ones(rows, "calculation").reason == "no_data"


def test_a_weakness_is_counted_by_answers() -> None:
    rows = [
        judged(1, ANN, 0, "multi_hop", "formulas"),
        judged(1, BEN, 0, "multi_hop"),
        judged(2, ANN, 0, "multi_hop"),
    ]
    found = weaknesses_named(rows)
    assert found == {"multi_hop": TimesNamed(2, 1), "formulas": TimesNamed(1, 0)}


def test_kappa_of_each_two_reviewers_by_hand() -> None:
    # Ann and Ben on ten answers: both 1 four times, both 0 three, 1/0 twice, 0/1 once.
    # p_o = 0.7; Ann says 1 six times, Ben five: p_e = 0.6 * 0.5 + 0.4 * 0.5 = 0.5; kappa = 0.4.
    values = [(1, 1)] * 4 + [(0, 0)] * 3 + [(1, 0)] * 2 + [(0, 1)]
    rows = []
    for item, (ann, ben) in enumerate(values):
        rows += [judged(item, BEN, ben), judged(item, ANN, ann)]
    rows += [judged(20, ANN, 1), judged(20, CAI, 1), judged(21, CAI, 1)]
    first, second = reviewer_pairs(rows, ["reasoning", "calculation"])
    assert (first.first, first.second, first.items) == (ANN, BEN, 10)
    assert first.dimensions["reasoning"].kappa == pytest.approx(0.4)
    assert first.dimensions["calculation"].reason == "no_pairs"
    assert (second.first, second.second, second.items) == (ANN, CAI, 1)
    assert second.dimensions["reasoning"].kappa is None
    assert second.dimensions["reasoning"].reason == "one_value"


def test_differences_are_named_by_dimension() -> None:
    one = Judged(1, "t", ANN, {"understanding": 1, "reasoning": None, "knowledge": 0}, ())
    other = Judged(1, "t", BEN, {"understanding": 1, "reasoning": 0, "knowledge": 1}, ())
    assert differing(one, other) == ("reasoning", "knowledge")
    assert both_judged([other, judged(2, ANN, 1), one]) == [(one, other)]

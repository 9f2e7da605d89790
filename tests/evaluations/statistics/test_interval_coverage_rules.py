"""How often intervals of means and sums hold the truth, where parts are often all right.

Questions are drawn with known rates; 1,000 draws have a standard error of 0.7 points.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from evaluations.statistics.accuracy import stream_totals
from evaluations.statistics.figure import Figure
from evaluations.statistics.gaokao_750 import STREAMS, WEIGHTS
from evaluations.statistics.grouped import mean_rate, ratios
from evaluations.statistics.tally import Tally
from questions.rules.vocabulary import Part, Stream

pytestmark = pytest.mark.once

DRAWS = 1000
# Questions and answers to each, as in GAOKAO-Bench: objective and subjective of each subject.
SCIENCES = (
    *((85, 2), (181, 4), (279, 4), (49, 6), (211, 1), (204, 4)),
    *((60, 1), (47, 4), (116, 1), (9, 6), (149, 1), (116, 6)),
)
# The questions of one year.
OF_A_YEAR = (
    *((6, 2), (18, 4), (17, 4), (6, 6), (18, 1), (21, 4)),
    *((5, 1), (5, 4), (10, 1), (2, 6), (12, 1), (10, 6)),
)


def drawn(rng: np.random.Generator, rate: float, questions: int, answers: int) -> np.ndarray:
    """The points of *questions* of *answers* points each, whose difficulties vary around *rate*."""
    ease = rng.beta(5 * rate, 5 * (1 - rate), questions) if answers > 1 else rate
    return rng.binomial(answers, ease, questions).astype(float)


def held(figures: Iterable[Figure], truth: float) -> tuple[float, float]:
    """The share of the figures with an interval that holds *truth*, and the share without one."""
    made = list(figures)
    bounded = [f for f in made if f.low is not None and f.high is not None]
    inside = sum(f.low <= truth <= f.high for f in bounded)  # type: ignore[operator]
    return inside / len(made), 1 - len(bounded) / len(made)


def macro(rng: np.random.Generator, rates: Sequence[float], questions: int) -> Figure:
    """The mean over tasks of *questions* each."""
    codes = np.repeat(np.arange(len(rates)), questions)
    points = np.concatenate([drawn(rng, rate, questions, 1) for rate in rates])
    estimates = ratios(codes, len(rates), points, np.ones(len(codes)))
    return mean_rate(estimates, [Figure(0.0, 1)] * len(rates))


def total(rng: np.random.Generator, rates: Sequence[float], shape: Sequence[tuple]) -> Figure:
    """The points out of 750 of one draw of an examination of that *shape*."""
    tallies = {}
    wheres = [(subject, part) for subject in STREAMS[Stream.SCIENCES] for part in Part]
    for where, rate, (questions, answers) in zip(wheres, rates, shape, strict=True):
        points = drawn(rng, rate, questions, answers)
        full = (float(answers),) * questions
        n = questions
        tallies[where] = Tally(points.sum(), sum(full), n, 0, tuple(points), full, None)
    return stream_totals(Stream.SCIENCES, tallies, "strict")["total"]


@pytest.mark.parametrize("least", [0.5, 0.8])
def test_the_mean_over_tasks_holds_the_truth(least: float) -> None:
    """8 tasks of 25 questions with rates from *least* to 0.99: the last is right in all
    questions in most draws.
    """
    rng = np.random.default_rng(20)
    rates = np.linspace(least, 0.99, 8)
    share, without = held((macro(rng, rates, 25) for _ in range(DRAWS)), float(rates.mean()))
    assert without == 0
    assert 0.93 <= share <= 0.97


@pytest.mark.parametrize(
    ("shape", "least", "most"),
    [
        *((SCIENCES, 0.5, 0.9), (SCIENCES, 0.8, 0.99), (SCIENCES, 0.95, 0.99)),
        *((OF_A_YEAR, 0.5, 0.9), (OF_A_YEAR, 0.8, 0.99)),
    ],
)
def test_the_total_holds_the_truth(shape: Sequence[tuple], least: float, most: float) -> None:
    """The questions of one year are so few that the interval is wider than it need be."""
    rng = np.random.default_rng(21)
    rates = np.linspace(least, most, 12)
    weights = [WEIGHTS[s].of(part) for s in STREAMS[Stream.SCIENCES] for part in Part]
    truth = float(np.dot(weights, rates))
    share, without = held((total(rng, rates, shape) for _ in range(DRAWS)), truth)
    assert without == 0
    assert 0.93 <= share <= (0.98 if shape is SCIENCES else 1)

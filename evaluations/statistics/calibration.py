"""Compute the report ``calibration``: a judge against the teachers' final marks.

Each row is one judge, model and condition, over all responses (``ALL``) or over those with one
value of a key. Beside the judge's figures stand those of two teachers on the same responses.
Intervals are percentiles over draws of questions (``evaluations.statistics.cluster_bootstrap``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluations.statistics.agreement import EPSILON, MarkPair, agreement
from evaluations.statistics.cluster_bootstrap import (
    Draws,
    Vector,
    WeightedPairs,
    agreement_intervals,
    interval,
    spearman,
)
from evaluations.statistics.coefficients import spearman as spearman_of
from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from evaluations.statistics.intervals import Interval, share
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL, Params

FIGURES = (
    *("bias", "mean_abs_difference", "spearman", "kendall_tau_b", "kappa_quadratic"),
    *("icc_2_1", "ccc", "limits_low", "limits_high"),
)
OF_TEACHERS = "teachers_"
BANDS = (0.25, 0.5, 0.75)
BAND_NAMES = ("0-25%", "25-50%", "50-75%", "75-100%")
LENGTHS = (100, 300, 1000)
LENGTH_NAMES = ("0-99", "100-299", "300-999", "1000+")
FEWEST = 3


@dataclass(frozen=True, slots=True)
class JudgedMark:
    """A judge's points and the teachers' final mark of one response.

    ``question`` is the cluster of the bootstrap. ``marks`` are the first and second teacher's
    marks; None unless there are both. ``length`` counts the characters of the response. ``totals``
    are the totals of all judgements of this judge on it, ``version`` is the prompt of the one that
    counts. ``labels`` has the values of further keys.
    """

    judge: str
    model: str
    condition: str
    response: int
    question: int
    final: float
    points: float
    full: float
    tolerance: float
    marks: tuple[float, float] | None
    length: int
    totals: tuple[float, ...]
    labels: Mapping[str, str]

    @property
    def asked(self) -> ModelCondition:
        """The model and its condition."""
        return ModelCondition(self.model, self.condition)

    @property
    def band(self) -> str:
        """The quarter of full marks that the final mark is in."""
        return BAND_NAMES[int(np.searchsorted(BANDS, self.final / self.full, side="right"))]

    @property
    def length_group(self) -> str:
        """The group of lengths of the response."""
        return LENGTH_NAMES[int(np.searchsorted(LENGTHS, self.length, side="right"))]


def _label(name: str) -> Callable[[JudgedMark], str]:
    return lambda one: one.labels.get(name, "")


KEYS: dict[str, Callable[[JudgedMark], str]] = {
    **{
        name: _label(name)
        for name in ("subject", "task", "question_type", "ability_branch", "difficulty", "modal")
    },
    "band": lambda one: one.band,
    "length": lambda one: one.length_group,
    "version": _label("version"),
}
DEFAULT_KEY = "subject"


def calibration_report(
    marks: Iterable[JudgedMark],
    *,
    by: str = DEFAULT_KEY,
    rng: np.random.Generator,
    params: Params | None = None,
) -> Report:
    """Return the figures of ``calibration`` per judge, model and condition, for ALL and *by*.

    *by* is one of ``KEYS``; responses without a value of it stand in a row of their own, "".
    """
    groups: dict[tuple[str, ModelCondition, str], list[JudgedMark]] = defaultdict(list)
    for one in marks:
        groups[one.judge, one.asked, ALL].append(one)
        groups[one.judge, one.asked, KEYS[by](one)].append(one)
    names = (*BAND_NAMES, *LENGTH_NAMES)

    def order(key: tuple[str, ModelCondition, str]) -> tuple[object, ...]:
        judge, asked, value = key
        place = names.index(value) if value in names else 0
        return judge, asked, value != ALL, place, value

    rows = [
        ReportRow(
            {"judge": judge} | asked._asdict() | {"by": by, "value": value},
            calibration(groups[judge, asked, value], rng=rng),
        )
        for judge, asked, value in sorted(groups, key=order)
    ]
    return Report("calibration", dict(params or {}), rows)


def calibration(marks: Sequence[JudgedMark], *, rng: np.random.Generator) -> dict[str, Figure]:
    """Return the figures of one judge on one model and condition; n counts responses.

    ``bias`` (judge less final mark), ``mean_abs_difference`` and the limits of agreement are in
    points, ``rate_bias`` = sum of differences / sum of full marks (-1 to 1). Figures that begin
    with ``teachers_`` are those of second and first teacher where a response has both marks; of
    these responses is also ``single_difference``, the mean absolute difference of the judge to
    either teacher, and ``excess`` = ``single_difference`` less that of the teachers, in points:
    above 0 the judge is farther from a teacher than another teacher is. ``length_spearman`` is the
    rank correlation of the difference (share of full marks) with the length of the response.
    ``flips`` is the share of responses judged again whose totals differ.

    Reasons: as ``agreement``, ``no_pairs_of_teachers``, ``not_judged_again``. Raises ValueError for
    marks of two judges, models or conditions.
    """
    if len({(one.judge, *one.asked) for one in marks}) > 1:
        raise ValueError("marks of several judges, models or conditions would be pooled")
    x, y, full = (
        np.array([getattr(one, name) for one in marks], dtype=np.float64)
        for name in ("final", "points", "full")
    )
    draws = _draws(marks, rng)
    figures = {"pairs": Figure(len(marks), len(marks))}
    figures |= _agreement(marks, x, y, draws)
    figures["rate_bias"] = _rate_bias(y - x, full, draws)
    figures["length_spearman"] = _by_length(marks, (y - x) / full, draws)
    figures |= _beside_teachers(with_both_marks(marks), rng)
    again = judged_again(marks)
    flipped = sum(max(one.totals) - min(one.totals) > EPSILON for one in again)
    figures["flips"] = share(flipped, len(again)) if again else missing("not_judged_again")
    return figures


def with_both_marks(marks: Iterable[JudgedMark]) -> list[JudgedMark]:
    """Return those of *marks* that the figures of two teachers are about."""
    return [one for one in marks if one.marks]


def judged_again(marks: Iterable[JudgedMark]) -> list[JudgedMark]:
    """Return those of *marks* that ``flips`` is about."""
    return [one for one in marks if len(one.totals) > 1]


def _draws(marks: Sequence[JudgedMark], rng: np.random.Generator) -> Draws | None:
    return Draws.of(np.array([one.question for one in marks], dtype=np.int64), rng)


def _agreement(
    marks: Sequence[JudgedMark], x: Vector, y: Vector, draws: Draws | None
) -> dict[str, Figure]:
    """Return ``FIGURES`` of pairs (x, y) with their intervals."""
    pairs = [
        MarkPair(one.model, one.condition, "", "", a, b, one.full, one.tolerance)
        for one, a, b in zip(marks, x.tolist(), y.tolist(), strict=True)
    ]
    figures = agreement(pairs)
    bounds = agreement_intervals(x, y, draws)
    return {name: _with(figures[name], bounds.get(name)) for name in FIGURES}


def _with(figure: Figure, bounds: Interval | None) -> Figure:
    """Return *figure* with its interval, if it has a value."""
    if bounds is None or figure.value is None:
        return figure
    return replace(figure, low=bounds[0], high=bounds[1])


def _rate_bias(apart: Vector, full: Vector, draws: Draws | None) -> Figure:
    if not len(apart):
        return missing("no_data")
    figure = Figure(float(apart.sum() / full.sum()), len(apart))
    return _with(figure, interval(draws.sums(apart) / draws.sums(full)) if draws else None)


def _by_length(marks: Sequence[JudgedMark], apart: Vector, draws: Draws | None) -> Figure:
    if len(marks) < FEWEST:
        return missing("too_few_pairs" if marks else "no_data", len(marks))
    length = np.array([one.length for one in marks], dtype=np.float64)
    value = spearman_of(length, apart)
    if value is None:
        return missing("no_variance", len(marks))
    bounds = interval(spearman(WeightedPairs(length, apart, draws))) if draws else None
    return _with(Figure(value, len(marks)), bounds)


def _beside_teachers(marks: Sequence[JudgedMark], rng: np.random.Generator) -> dict[str, Figure]:
    """Return the figures of two teachers on *marks*, and of the judge beside each of them."""
    names = ["pairs", *FIGURES]
    if not marks:
        absent = missing("no_pairs_of_teachers")
        own = {OF_TEACHERS + name: absent for name in names}
        return own | {"single_difference": absent, "excess": absent}
    draws = _draws(marks, rng)
    first, second = (np.array([one.marks[i] for one in marks if one.marks]) for i in (0, 1))
    judge = np.array([one.points for one in marks])
    own = {"pairs": Figure(len(marks), len(marks))} | _agreement(marks, first, second, draws)
    single = (np.abs(judge - first) + np.abs(judge - second)) / 2
    beside = {}
    for name, values in (
        ("single_difference", single),
        ("excess", single - np.abs(second - first)),
    ):
        bounds = interval(draws.means(values)) if draws else None
        beside[name] = _with(Figure(float(values.mean()), len(marks)), bounds)
    return {OF_TEACHERS + name: own[name] for name in names} | beside

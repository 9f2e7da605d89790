"""What is watched of a teacher while a round is marked: pace, severity, agreement, checks.

Every figure is of one teacher's marks that count, in the order in which they
were given: over all of them, and as a line over the last 50. Differences are
own mark less the other one: above 0 the teacher gives more. What each name
means stands in docs/statistics.md.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from evaluations.statistics.figure import Figure, missing
from evaluations.statistics.intervals import share, t_quantile

IDLE_SECONDS = 300
WINDOW = 50
# A line begins where its window holds so many marks: before that it only jumps.
FEWEST_IN_A_WINDOW = 10
MOST_POINTS = 60
# A safe mark lies from 40 to 60 % of full marks, both included.
SAFE_FROM, SAFE_TO = 0.4, 0.6
# Marks are multiples of 0.01 at the finest; this absorbs binary rounding of differences.
EPSILON = 1e-9


@dataclass(frozen=True, slots=True)
class WatchedMark:
    """One counting mark of a teacher, in points, and what it is compared with, where that is known.

    ``mark`` leads back to the row. ``seconds`` are those of all its versions.
    ``checks`` is True for a seed answer or an intra-rater check, which count for no
    response. ``partner`` is the other of first and second mark; ``called`` says
    of such a pair whether a third mark or the lead was called. ``final`` is the
    final mark where more than this one mark may make it. ``reference`` is that
    of a seed answer, ``before`` the teacher's own first mark of an intra-rater check.
    """

    mark: int
    total: float
    full: float
    tolerance: float
    seconds: int | None = None
    checks: bool = False
    partner: float | None = None
    called: bool | None = None
    final: float | None = None
    reference: float | None = None
    before: float | None = None

    def near(self, other: float | None) -> bool | None:
        """Whether *other* lies within the tolerance; a difference equal to it does."""
        return None if other is None else abs(self.total - other) <= self.tolerance + EPSILON


@dataclass(frozen=True, slots=True)
class LinePoint:
    """The value over the last ``n`` observations, after so many marks of the teacher."""

    marks: int
    value: float
    n: int


Observe = Callable[[WatchedMark], float | None]


def _seconds(mark: WatchedMark) -> float | None:
    return None if mark.seconds is None else float(min(mark.seconds, IDLE_SECONDS))


def _less(mark: WatchedMark, other: float | None) -> float | None:
    return None if other is None else mark.total - other


def _of_full(mark: WatchedMark, other: float | None) -> float | None:
    return None if other is None else (mark.total - other) / mark.full


def _safe(mark: WatchedMark) -> bool | None:
    if mark.checks:
        return None
    return SAFE_FROM - EPSILON <= mark.total / mark.full <= SAFE_TO + EPSILON


# What a figure sees of one mark, and the reason where no mark shows it anything.
MEANS: Mapping[str, tuple[Observe, str]] = {
    "seconds_mean": (_seconds, "no_times"),
    "partner_points": (lambda mark: _less(mark, mark.partner), "no_partner"),
    "partner_share": (lambda mark: _of_full(mark, mark.partner), "no_partner"),
    "final_points": (lambda mark: _less(mark, mark.final), "no_final"),
    "severity": (lambda mark: _of_full(mark, mark.final), "no_final"),
}
SHARES: Mapping[str, tuple[Observe, str]] = {
    "within_tolerance": (lambda mark: mark.near(mark.partner), "no_partner"),
    "third_rate": (lambda mark: mark.called, "no_third"),
    "seed_hits": (lambda mark: mark.near(mark.reference), "no_seeds"),
    "self_consistency": (lambda mark: mark.near(mark.before), "no_repeats"),
    "safe_share": (_safe, "no_marks"),
}
OBSERVED = {**MEANS, **SHARES}


def teacher_figures(marks: Sequence[WatchedMark]) -> dict[str, Figure]:
    """Every figure of one teacher's *marks*; n is the number of marks that show it.

    ``marks`` counts those that count for a response. ``seconds_median`` and
    ``seconds_mean`` are seconds, 0 to 300. ``partner_points`` and
    ``final_points`` are mean signed differences in points, ``partner_share`` and
    ``severity`` the same as shares of full marks, -1 to 1, with a t interval.
    The others are shares, 0 to 1, with Wilson's. Reasons where there is nothing
    to see: ``no_times``, ``no_partner``, ``no_final``, ``no_third``,
    ``no_seeds``, ``no_repeats``, ``no_marks``.
    """
    given = sum(not mark.checks for mark in marks)
    figures = {"marks": Figure(given, given)}
    times = _seen(marks, _seconds)
    figures["seconds_median"] = Figure(median(times), len(times)) if times else missing("no_times")
    for name, (observe, reason) in MEANS.items():
        figures[name] = mean_figure(_seen(marks, observe), reason)
    for name, (observe, reason) in SHARES.items():
        seen = _seen(marks, observe)
        figures[name] = share(int(sum(seen)), len(seen)) if seen else missing(reason)
    return figures


def _seen(marks: Iterable[WatchedMark], observe: Observe) -> list[float]:
    return [value for mark in marks if (value := observe(mark)) is not None]


def mean_figure(values: Sequence[float], reason: str) -> Figure:
    """The mean with its interval, mean -+ t(n - 1) s / sqrt(n), s with n - 1.

    Without an interval for one value or where all are equal: a sample without
    spread cannot show its uncertainty. *reason* stands where there is no value.
    """
    n = len(values)
    if not n:
        return missing(reason)
    mean = fmean(values)
    spread = stdev(values) if n > 1 else 0.0
    if spread <= EPSILON:
        return Figure(mean, n)
    half = t_quantile(n - 1) * spread / math.sqrt(n)
    return Figure(mean, n, mean - half, mean + half)


def against(figures: Mapping[str, Figure], of_round: Mapping[str, Figure]) -> dict[str, Figure]:
    """``pace`` and ``safe_excess``: a teacher beside all teachers of the round, this one included.

    ``pace`` is median seconds over the round's median, above 0: 0.5 is twice as
    fast. ``safe_excess`` is the share of safe marks less the round's, -1 to 1.
    n is the teacher's. Reasons as in ``teacher_figures``; ``no_times`` also
    where the round's median is 0 seconds.
    """
    own, usual = figures["seconds_median"], of_round["seconds_median"]
    pace = missing("no_times", own.n)
    if own.value is not None and usual.value:
        pace = Figure(own.value / usual.value, own.n)
    safe, usual = figures["safe_share"], of_round["safe_share"]
    excess = missing("no_marks")
    if safe.value is not None and usual.value is not None:
        excess = Figure(safe.value - usual.value, safe.n)
    return {"pace": pace, "safe_excess": excess}


def line(
    marks: Sequence[WatchedMark], name: str, *, window: int = WINDOW, most: int = MOST_POINTS
) -> list[LinePoint]:
    """The figure *name* of ``OBSERVED`` over the last *window* marks that show it.

    One point after each such mark from the tenth on, thinned evenly to *most*
    (2 or more), the last one always among them; empty before the tenth.
    """
    observe, _reason = OBSERVED[name]
    last: deque[float] = deque(maxlen=window)
    points = []
    for number, mark in enumerate(marks, start=1):
        value = observe(mark)
        if value is None:
            continue
        last.append(float(value))
        if len(last) >= min(FEWEST_IN_A_WINDOW, window):
            points.append(LinePoint(number, fmean(last), len(last)))
    return _thinned(points, most)


def _thinned(points: list[LinePoint], most: int) -> list[LinePoint]:
    if len(points) <= most:
        return points
    stride = (len(points) - 1) / (most - 1)
    return [points[round(place * stride)] for place in range(most)]

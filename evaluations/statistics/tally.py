"""Tally: what a group of scored answers adds up to, and its scoring rate.

Both the rates and the converted totals are made from tallies, so that a page
cannot show a rate that its total was not computed from.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evaluations.statistics.figure import Figure, missing
from evaluations.statistics.intervals import Interval, ratio_interval, ratio_variance, wilson
from evaluations.statistics.rows import ScoredAnswer
from questions.rules.vocabulary import Part, Subject

ALL = "ALL"

Params = Mapping[str, object]


def units(row: ScoredAnswer) -> int:
    """What n counts: sub-answers of an objective row, one item for a subjective one."""
    return row.subs if row.part == Part.OBJECTIVE else 1


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over the scored rows of one group.

    ``n`` and ``unscored`` count units (see ``units``). ``cluster_points`` and
    ``cluster_full`` hold one entry per question: answers of several repeats to
    one question are not independent. ``all_or_nothing`` holds (items right,
    items) when every cluster is one answer, all are worth the same, and each
    earned everything or nothing.
    """

    points: float
    full: float
    n: int
    unscored: int
    cluster_points: tuple[float, ...]
    cluster_full: tuple[float, ...]
    all_or_nothing: tuple[int, int] | None

    def rate(self) -> float | None:
        """Scored points over the full marks of the scored rows; None without any."""
        return self.points / self.full if self.full > 0 else None

    def interval(self) -> Interval | None:
        """Wilson's interval for all-or-nothing items, else the ratio estimator's."""
        if self.all_or_nothing is not None:
            return wilson(*self.all_or_nothing)
        return ratio_interval(self.cluster_points, self.cluster_full)

    def variance(self) -> float | None:
        """Variance of the rate over questions; None for fewer than two."""
        return ratio_variance(self.cluster_points, self.cluster_full)

    def figures(self) -> dict[str, Figure]:
        """``points``, ``full``, ``rate`` (n = scored units) and ``unscored`` (n = all units)."""
        unscored = Figure(self.unscored, self.n + self.unscored)
        rate = self.rate()
        if rate is None:
            names = ("points", "full", "rate")
            return {name: missing("no_data", self.n) for name in names} | {"unscored": unscored}
        low, high = self.interval() or (None, None)
        return {
            "points": Figure(self.points, self.n),
            "full": Figure(self.full, self.n),
            "rate": Figure(rate, self.n, low, high),
            "unscored": unscored,
        }


def tally(rows: Iterable[ScoredAnswer]) -> Tally:
    """Add up one group; a row without points is left out and counted as unscored.

    Raises ValueError when a response comes twice: rows of two markers or of two
    policies must never be pooled.
    """
    clusters: dict[int, list[ScoredAnswer]] = defaultdict(list)
    seen: set[int] = set()
    n = unscored = 0
    for row in rows:
        if row.response in seen:
            raise ValueError(
                f"response {row.response} would count twice: choose one marker and one policy"
            )
        seen.add(row.response)
        if row.points is None:
            unscored += units(row)
        else:
            n += units(row)
            clusters[row.question].append(row)
    return _summed(list(clusters.values()), n, unscored)


def _summed(clusters: list[list[ScoredAnswer]], n: int, unscored: int) -> Tally:
    points = tuple(math.fsum(row.points or 0.0 for row in rows) for rows in clusters)
    full = tuple(math.fsum(row.full for row in rows) for rows in clusters)
    return Tally(
        points=math.fsum(points),
        full=math.fsum(full),
        n=n,
        unscored=unscored,
        cluster_points=points,
        cluster_full=full,
        all_or_nothing=_all_or_nothing(clusters, points, full),
    )


def _all_or_nothing(
    clusters: list[list[ScoredAnswer]], points: tuple[float, ...], full: tuple[float, ...]
) -> tuple[int, int] | None:
    single = all(len(rows) == 1 and rows[0].subs == 1 for rows in clusters)
    if not clusters or not single or len(set(full)) != 1:
        return None
    if any(p not in (0.0, f) for p, f in zip(points, full, strict=True)):
        return None
    return sum(p > 0 for p in points), len(clusters)


_SUBJECT_ORDER = {subject.value: place for place, subject in enumerate(Subject)}


def subject_order(subject: str) -> tuple[int, str]:
    """Sort key: the ten subjects in their published order, others by name, ``ALL`` last."""
    if subject == ALL:
        return len(_SUBJECT_ORDER) + 1, ""
    return _SUBJECT_ORDER.get(subject, len(_SUBJECT_ORDER)), subject

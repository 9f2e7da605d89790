"""Tally: the sums over a group of scored answers, and its scoring rate.

Rates and converted totals are both computed from tallies, so that they are always consistent.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evaluations.statistics.figure import Figure, missing
from evaluations.statistics.intervals import (
    Interval,
    effective_number,
    ratio_interval,
    ratio_variance,
    uniform_interval,
    uniform_variance,
    wilson,
)
from evaluations.statistics.rows import ModelCondition, ScoredAnswer
from questions.rules.vocabulary import Part, Subject

if TYPE_CHECKING:
    import pandas as pd

ALL = "ALL"

Params = Mapping[str, object]


def units(row: ScoredAnswer) -> int:
    """Return what a row adds to n: the sub-answers of an objective row, 1 for a subjective one."""
    return row.subs if row.part == Part.OBJECTIVE else 1


@dataclass(frozen=True)
class Tally:
    """Sums over the scored rows of one group.

    ``n`` and ``unscored`` count units (see ``units``). ``cluster_points`` and ``cluster_full`` have
    one entry per question, because the repeats of one question are not independent.
    ``all_or_nothing`` is (items right, items) if every cluster is one answer, all have the same
    full marks, and each earned all or nothing; else None.
    """

    points: float
    full: float
    n: int
    unscored: int
    cluster_points: tuple[float, ...]
    cluster_full: tuple[float, ...]
    all_or_nothing: tuple[int, int] | None

    def rate(self) -> float | None:
        """Return the points over the full marks of the scored rows; None without any."""
        return self.points / self.full if self.full > 0 else None

    def interval(self) -> Interval | None:
        """Return Wilson's interval for all-or-nothing items, else that of the ratio estimator.

        Where every question earned nothing, or everything, in all its repeats: Wilson's interval
        over the questions (``intervals.uniform_interval``).
        """
        if self.all_or_nothing is not None:
            return wilson(*self.all_or_nothing)
        if (found := ratio_interval(self.cluster_points, self.cluster_full)) is not None:
            return found
        rate = self.rate()
        questions = effective_number(self.cluster_full)
        return None if rate is None else uniform_interval(rate, questions)

    @cached_property
    def variance(self) -> float | None:
        """The variance of the rate over questions; None for fewer than two."""
        return ratio_variance(self.cluster_points, self.cluster_full)

    def variance_in_sum(self, summands: int) -> float | None:
        """Return the variance of the rate as one of *summands* independent rates that are added.

        That of ``uniform_variance`` where every question earned the same share: a variance of 0
        would make the interval of the sum too narrow. None for fewer than two questions.
        """
        if self.variance is None or self.variance > 0:
            return self.variance
        questions = effective_number(self.cluster_full)
        return uniform_variance(self.points / self.full, questions, summands)

    def figures(self) -> dict[str, Figure]:
        """Return ``points``, ``full``, ``rate`` (n: scored units), ``unscored`` (n: all units)."""
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
    """Return the sums over one group; rows without points are counted as unscored.

    Raises ValueError if a response occurs twice, or for rows of two models or conditions: two
    markers, policies or conditions are never pooled.
    """
    clusters: dict[int, list[ScoredAnswer]] = defaultdict(list)
    seen: set[int] = set()
    n = unscored = 0
    asked: ModelCondition | None = None
    for row in rows:
        if asked is None:
            asked = row.asked
        elif (row.model, row.condition) != asked:
            raise ValueError(f"{asked} and {row.asked} would be pooled")
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
    groups = list(clusters.values())
    points = tuple(math.fsum(row.points or 0.0 for row in group) for group in groups)
    full = tuple(math.fsum(row.full for row in group) for group in groups)
    single = all(len(group) == 1 and group[0].subs == 1 for group in groups)
    extreme = all(p in (0.0, f) for p, f in zip(points, full, strict=True))
    all_or_nothing = single and extreme and len(set(full)) == 1
    return Tally(
        points=math.fsum(points),
        full=math.fsum(full),
        n=n,
        unscored=unscored,
        cluster_points=points,
        cluster_full=full,
        all_or_nothing=(sum(p > 0 for p in points), len(groups)) if all_or_nothing else None,
    )


SUMMED = ("points", "full", "n", "subs", "units", "unscored_units")


def frame_tally(group: pd.DataFrame) -> Tally:
    """Return the sums over the questions of *group*, each with all its repeats as one cluster."""
    return _tallies(group, np.zeros(len(group), dtype=np.intp), 1)[0]


def tallies_by(frame: pd.DataFrame, keys: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], Tally]]:
    """Yield the values of *keys* (two or more) and the ``frame_tally`` of each group of *frame*."""
    if frame.empty:
        return
    grouped = frame.groupby([*keys], sort=True)
    names = grouped.size().index
    yield from zip(names, _tallies(frame, grouped.ngroup().to_numpy(), len(names)), strict=True)


def _tallies(frame: pd.DataFrame, codes: NDArray[np.intp], groups: int) -> list[Tally]:
    """Return the sums over each of *groups* groups; *codes* tells which each row of *frame* is of.

    Only sums of fractions are made group by group: their last digit depends on the order in which
    they are added.
    """
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    columns = [frame[name].to_numpy(np.float64)[order] for name in SUMMED]
    unscored = np.bincount(codes, columns.pop(), groups).tolist()
    kept = columns[1] > 0
    codes = codes[kept]
    points, full, n, subs, units = (column[kept] for column in columns)
    sums = np.bincount(codes, units, groups).tolist()
    single = (n == 1) & (subs == 1) & ((points == 0) | (points == full))
    mixed = np.bincount(codes, ~single, groups).tolist()
    ends = np.cumsum(np.bincount(codes, minlength=groups)).tolist()
    each, of = points.tolist(), full.tolist()
    tallies = []
    start = 0
    for group, end in enumerate(ends):
        own, worth = tuple(each[start:end]), tuple(of[start:end])
        whole = not mixed[group] and len(set(worth)) == 1
        tallies.append(
            Tally(
                points=float(points[start:end].sum()),
                full=float(full[start:end].sum()),
                n=int(sums[group]),
                unscored=int(unscored[group]),
                cluster_points=own,
                cluster_full=worth,
                all_or_nothing=(sum(p > 0 for p in own), len(own)) if whole else None,
            )
        )
        start = end
    return tallies


_SUBJECT_ORDER = {subject.value: place for place, subject in enumerate(Subject)}


def subject_order(subject: str) -> tuple[int, str]:
    """Return a sort key: the ten subjects as published, others by name, ``ALL`` last."""
    if subject == ALL:
        return len(_SUBJECT_ORDER) + 1, ""
    return _SUBJECT_ORDER.get(subject, len(_SUBJECT_ORDER)), subject

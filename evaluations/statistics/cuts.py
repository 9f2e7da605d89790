"""Compute the report ``cuts``: scoring rates by the labels of questions, beside those of people.

A cut groups the questions by one or two keys (``CUT_KEYS``). Micro averages pool all questions of
a group (AGIBench, table 6: over questions); the macro average is the mean over the rows (AGIEval,
tables 2 and 3: over tasks).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from evaluations.statistics.grouped import (
    Codes,
    Floats,
    Ratios,
    mean_figure,
    mean_rate,
    rate_figures,
    ratios,
)
from evaluations.statistics.intervals import ROUNDING, uniform_interval
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL, Params, subject_order
from questions.rules.vocabulary import AbilityBranch, Modal, Part, QuestionType

if TYPE_CHECKING:
    import pandas as pd

MACRO = "MACRO"
CUT_KEYS = (
    *("task", "subject", "part", "question_type", "year", "language", "dataset"),
    *("ability_branch", "knowledge", "subclass", "difficulty", "modal", "question"),
)
MOST_KEYS = 2
NUMBERS = frozenset({"year", "difficulty"})
ORDERS: dict[str, Sequence[str]] = {
    "part": list(Part),
    "question_type": list(QuestionType),
    "ability_branch": list(AbilityBranch),
    "modal": list(Modal),
}


@dataclass(frozen=True, slots=True)
class TaskRates:
    """Rates of people (0 to 1) that are published of whole tasks, by task."""

    average: Mapping[str, float] = field(default_factory=dict)
    top: Mapping[str, float] = field(default_factory=dict)


def cuts(
    frame: pd.DataFrame,
    by: Sequence[str],
    *,
    tasks: TaskRates | None = None,
    params: Params | None = None,
) -> Report:
    """Return the scoring rates of *frame* by the keys *by*, per model and condition.

    *frame* has a row per model, condition and question (``question_frame``). The rows are the
    values of the key, or the crossings of two keys with their margins (``ALL`` in one key), then
    ``ALL`` over all questions and ``MACRO``, the mean over the rows without margins. A question
    without a value of the key stands in the row "".

    Figures: ``rate`` = points / full marks with a 95 % interval over questions (``rate_figures``),
    ``unscored``, and where there are exact answers ``exact_match`` and ``f1``. ``human`` is the
    mean of the rates of people over the questions with points, weighted as the rate is; ``gap`` is
    the rate less ``human`` over the questions that have both, from -1 to 1, with the interval of a
    ratio estimator that takes the rates of people as known (``_Human.gap``). A question without a
    rate of its own has that of its task (*tasks*), unless the questions of the task are in several
    rows: then the rate of the task says nothing of a row. ``human_top`` is the same mean of the top
    rates of tasks. Reasons: ``no_data``, ``no_human_rate``, ``missing_rows``.

    Raises ValueError for unknown or repeated keys, and if a question occurs twice (two markers or
    two policies).
    """
    if not by or len(by) > MOST_KEYS or len(set(by)) != len(by) or not set(by) <= set(CUT_KEYS):
        raise ValueError(f"cut by one or two of {', '.join(CUT_KEYS)}, not {', '.join(by)}")
    if frame.duplicated(["model", "condition", "question"]).any():
        raise ValueError("a question would count twice: choose one marker and one policy")
    keyed = frame.assign(**{_column(key): key_text(frame, key) for key in by})
    rows: list[ReportRow] = []
    for (model, condition), own in keyed.groupby(["model", "condition"], sort=True):
        rows += _rows_of(ModelCondition(model, condition), own, by, tasks or TaskRates())
    return Report("cuts", dict(params or {}), rows)


def key_text(frame: pd.DataFrame, key: str) -> pd.Series:
    """Return the values of *key* as text, "" for none; a question is named ``task/external_id``."""
    if key == "question":
        return frame["task"].astype("object") + "/" + frame["external_id"].astype("object")
    values = frame[key].astype("Int64") if key in NUMBERS else frame[key]
    return values.astype("string").fillna("").astype("object")


def _column(key: str) -> str:
    return f"cut {key}"


def in_order(key: str, values: Iterable[str]) -> list[str]:
    """Return *values* of *key* as reports list them; "" and then ``ALL`` and ``MACRO`` last."""

    def order(value: str) -> tuple[object, ...]:
        last = ("", ALL, MACRO).index(value) + 1 if value in ("", ALL, MACRO) else 0
        if last:
            return last, 0, ""
        if key == "subject":
            return last, *subject_order(value)
        if key in NUMBERS:
            return last, int(value), ""
        known = ORDERS.get(key, ())
        return last, known.index(value) if value in known else len(known), _natural(value)

    return sorted(values, key=order)


def _natural(value: str) -> str:
    """Return a sort key under which ``task/9`` stands before ``task/10``."""
    head, slash, last = value.rpartition("/")
    return f"{head}{slash}{last:0>20}" if slash and last.isdigit() else value


@dataclass(frozen=True, slots=True)
class _Cells:
    """The groups of one grouping, in the order of the report, and their figures."""

    keys: list[tuple[str, ...]]
    rates: list[Figure]
    estimates: Ratios
    unscored: list[Figure]
    exact: dict[str, Floats]
    exact_n: Floats
    human: _Human
    top: _Human

    def figures(self, place: int, has_human: bool, has_top: bool) -> dict[str, Figure]:
        """Return the figures of the group at *place*."""
        rate = self.rates[place]
        figures = {"rate": rate, "unscored": self.unscored[place]}
        if n := int(self.exact_n[place]):
            sums = {name: float(by_group[place]) for name, by_group in self.exact.items()}
            figures |= {name: Figure(total / n, n) for name, total in sums.items()}
        if has_human:
            figures |= {"human": self.human.figure(place), "gap": self.human.gap(place)}
        if has_top:
            figures["human_top"] = self.top.figure(place)
        if rate.value is None:
            of_people = figures.keys() & {"human", "gap", "human_top"}
            figures |= dict.fromkeys(of_people, missing("no_data"))
        return figures


@dataclass(frozen=True, slots=True)
class _Human:
    """Rates of people by group (NaN for none), those of the model, and how far it is above."""

    value: Floats
    model: Ratios
    above: Ratios

    def figure(self, place: int) -> Figure:
        if np.isnan(self.value[place]):
            return missing("no_human_rate")
        return Figure(float(self.value[place]), int(self.above.clusters[place]))

    def gap(self, place: int) -> Figure:
        """Return how far the model is above people in the group at *place*.

        Where the model earned nothing, or everything, in several questions, the differences vary
        with people alone; the interval is then that of its rate, less the rate of people.
        """
        value, n = float(self.above.value[place]), int(self.above.clusters[place])
        if np.isnan(value):
            return missing("no_human_rate", n)
        interval = self.above.interval(place, least=-1.0)
        if n > 1 and (of_rate := self.model.uniform(place)) is not None:
            people = float(self.value[place])
            interval = min(value, of_rate[0] - people), max(value, of_rate[1] - people)
        return Figure(value, n, *(interval or (None, None)))

    def mean_gap(self) -> Figure:
        """Return the mean of the gaps; of one row it has the interval of that row.

        A row in which the model has one rate counts with the variance of that rate.
        Where the rows are questions in which the model has one rate, only people vary: the interval
        is that of a rate of 0 or 1 less the rate of people, and of another rate there is none.
        """
        above, model = self.above, self.model
        variances = np.where(model.variance == 0, model.variances_in_sum(), above.variance)
        mean = mean_figure(above.value, variances, above.clusters, least=-1.0)
        if mean.value is None:
            return mean
        if len(above.value) == 1:
            only = self.gap(0)
            return replace(mean, low=only.low, high=only.high)
        if (above.clusters > 1).any() or np.ptp(model.value) >= ROUNDING:
            return mean
        interval = uniform_interval(float(model.value[0]), mean.n)
        if interval is None:
            return replace(mean, low=None, high=None)
        people = float(np.mean(self.value))
        low, high = interval
        return replace(mean, low=min(mean.value, low - people), high=max(mean.value, high - people))


def _rows_of(
    asked: ModelCondition, own: pd.DataFrame, by: Sequence[str], tasks: TaskRates
) -> list[ReportRow]:
    cells = _cells(own, by, by, tasks)
    whole = _cells(own, by, (), tasks)
    groupings = [cells, *(_cells(own, by, (key,), tasks) for key in by if len(by) > 1), whole]
    has_human = any((~np.isnan(one.human.value)).any() for one in groupings)
    has_top = any((~np.isnan(one.top.value)).any() for one in groupings)
    rows = {
        key: one.figures(place, has_human, has_top)
        for one in groupings
        for place, key in enumerate(one.keys)
    }
    rows[(MACRO,) * len(by)] = _macro(cells, has_human, has_top) | {"unscored": whole.unscored[0]}
    places = [
        {value: place for place, value in enumerate(in_order(key, {one[at] for one in rows}))}
        for at, key in enumerate(by)
    ]
    ordered = sorted(rows, key=lambda key: [places[at][one] for at, one in enumerate(key)])
    return [
        ReportRow(asked._asdict() | dict(zip(by, key, strict=True)), rows[key]) for key in ordered
    ]


def _cells(own: pd.DataFrame, by: Sequence[str], kept: Sequence[str], tasks: TaskRates) -> _Cells:
    """Return the groups of *own* by the keys *kept*; the other keys of *by* have ``ALL``."""
    if kept:
        grouped = own.groupby([_column(key) for key in kept], sort=False)
        codes = grouped.ngroup().to_numpy(np.intp)
        found = [one if isinstance(one, tuple) else (one,) for one in _first(own, codes, kept)]
    else:
        codes, found = np.zeros(len(own), np.intp), [()]
    groups = len(found)
    named = [dict(zip(kept, one, strict=True)) for one in found]
    rates, estimates = rate_figures(own, codes, groups, over_repeats="question" in kept)

    def sums(column: str) -> Floats:
        return np.bincount(codes, own[column].to_numpy(np.float64), groups).astype(np.float64)

    unscored = sums("unscored_units")
    every = unscored + sums("units")
    return _Cells(
        keys=[tuple(str(one.get(key, ALL)) for key in by) for one in named],
        rates=rates,
        estimates=estimates,
        unscored=[Figure(float(u), int(n)) for u, n in zip(unscored, every, strict=True)],
        exact={"exact_match": sums("exact_sum"), "f1": sums("f1_sum")},
        exact_n=sums("exact_n"),
        human=_people(own, codes, groups, own["human"].to_numpy(np.float64), tasks.average),
        top=_people(own, codes, groups, np.full(len(own), np.nan), tasks.top),
    )


def _first(own: pd.DataFrame, codes: Codes, kept: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the key of each group, in the order of its code."""
    firsts = np.unique(codes, return_index=True)[1]
    columns = (own[_column(key)].to_numpy(object)[firsts] for key in kept)
    return list(zip(*columns, strict=True))


def _people(
    own: pd.DataFrame, codes: Codes, groups: int, rates: Floats, of_tasks: Mapping[str, float]
) -> _Human:
    """Return the rates of people by group: those of questions, else those of whole tasks."""
    if of_tasks:
        tasks = own["task"]
        spread = own.assign(code=codes).groupby("task")["code"].nunique()
        whole = {task: rate for task, rate in of_tasks.items() if spread.get(task) == 1}
        rates = np.where(np.isnan(rates), tasks.map(whole).to_numpy(np.float64), rates)
    full = np.where(np.isnan(rates), 0.0, own["full"].to_numpy(np.float64))
    share = np.nan_to_num(rates)
    points = own["points"].to_numpy(np.float64)
    model = ratios(codes, groups, points, full)
    above = ratios(codes, groups, points - share * full, full)
    # If the model has one rate in all questions, the spread of the differences is that of people.
    above = replace(above, variance=np.where(model.variance == 0, 0.0, above.variance))
    # Where all questions have one rate, the mean is this rate to its last digit.
    least, most = np.full(groups, np.inf), np.full(groups, -np.inf)
    np.fmin.at(least, codes, rates)
    np.fmax.at(most, codes, rates)
    mean = np.clip(ratios(codes, groups, share * full, full).value, least, most)
    return _Human(mean, model, above)


def _macro(cells: _Cells, has_human: bool, has_top: bool) -> dict[str, Figure]:
    """Return the means over the rows. ``exact_match`` and ``f1``: over the rows that have them."""
    figures = {"rate": mean_rate(cells.estimates, cells.rates)}
    if (having := cells.exact_n > 0).any():
        n = int(having.sum())
        figures |= {
            name: Figure(float(np.mean(sums[having] / cells.exact_n[having])), n)
            for name, sums in cells.exact.items()
        }
    if has_human:
        figures["human"] = _mean(cells.human.value)
        figures["gap"] = cells.human.mean_gap()
    if has_top:
        figures["human_top"] = _mean(cells.top.value)
    return figures


def _mean(values: Floats) -> Figure:
    """Return the mean of the rates of people over all rows, without an interval."""
    if np.isnan(values).any():
        return missing("missing_rows", len(values))
    return Figure(float(np.mean(values)), len(values))

"""Sum frames of answers into the figures of paper tables; all rates are in per cent.

Frames have the columns of `evaluations/reports/selectors/frames.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluations.reports.rules.paper_cells import (
    Cells,
    Loaded,
    Ours,
    of_part,
    of_parts,
    of_sides,
)
from evaluations.reports.rules.published_tables import CellName
from evaluations.statistics.figure import Figure, missing
from evaluations.statistics.rows import ModelCondition

if TYPE_CHECKING:
    import pandas as pd

NO_DATA = "no_data"
Figures = dict[str, Figure]


def of_conditions(answers: pd.DataFrame, asked: Iterable[ModelCondition]) -> pd.DataFrame:
    """Return the rows of *answers* of the models and conditions *asked*."""
    wanted = set(asked)
    pairs = zip(answers["model"], answers["condition"], strict=True)
    # An empty list would select no columns instead of no rows.
    return answers[np.array([pair in wanted for pair in pairs], dtype=bool)]


def rates_by(
    answers: pd.DataFrame, questions: pd.DataFrame, by: str = "", prompts: int = 1
) -> Figures:
    """Return points over full marks in per cent for each value of column *by*, or all under "".

    n counts sub-answers with points. A rate of answers to only some of the *questions* has the
    reason ``partly_answered``; each model and condition of *answers* is to answer them all, and
    there are to be at least so many conditions as the paper pools *prompts*. A value
    whose answers all have no points has no rate, and the reason
    that most of them give; one without answers is left out.
    """
    scored = answers[answers["n"] > 0]
    without = _grouped(answers[answers["n"] == 0], by)["reason"]
    lacking = {str(key): missing(reason_of(reasons)) for key, reasons in without}
    sums = _grouped(scored, by)[["points", "full", "units"]].sum()
    conditions = max(prompts, len(answers[["model", "condition"]].drop_duplicates()))
    # One row for each question under a condition.
    answered, asked = _grouped(scored, by).size(), _grouped(questions, by).size()
    return lacking | {
        str(key): of_part(
            Figure(100 * float(row.points) / float(row.full), int(row.units)),
            int(answered[key]),
            conditions * int(asked.get(key, 0)),
        )
        for key, row in sums.iterrows()
        if row.full > 0
    }


def reason_of(reasons: pd.Series[str]) -> str:
    """Return the most frequent of *reasons*, the first by name of several; "" is none of them."""
    given = reasons[reasons != ""]
    return str(given.mode().iloc[0]) if len(given) else NO_DATA


def means_by(frame: pd.DataFrame, column: str, by: str = "") -> Figures:
    """Return the mean of *column* (a share) in per cent by column *by*; n counts known values."""
    known = frame[frame[column].notna()]
    return {
        str(key): Figure(100 * float(values.mean()), len(values))
        for key, values in _grouped(known, by)[column]
    }


def gaps_by(answers: pd.DataFrame, questions: pd.DataFrame, by: str, prompts: int = 1) -> Figures:
    """Return the rate of *answers* less that of people in percentage points by column *by*.

    Both are over the questions with points and a ``human`` rate, as the ``gap`` of the report
    ``cuts``: the rate of people of a question is weighted by its full marks times its answers. n
    counts these questions. The reasons are those of ``rates_by`` for the questions with a rate of
    people; a value without answers to such a question is left out.
    """
    rated = answers[answers["human"].notna()]
    figures = rates_by(rated, questions[questions["human"].notna()], by, prompts)
    scored = rated[rated["n"] > 0]
    weighted = _grouped(scored.assign(people=scored["human"] * scored["full"]), by)
    sums, compared = weighted[["people", "full"]].sum(), weighted["question"].nunique()
    for key, row in sums.iterrows():
        rate = figures.get(str(key))
        if rate is not None and rate.value is not None:
            gap = rate.value - 100 * float(row.people) / float(row.full)
            gap_figure = Figure(gap, int(compared[key]), reason=rate.reason)
            figures[str(key)] = of_parts(gap_figure, [rate])
    return figures


def exact_by_task(answers: pd.DataFrame, questions: pd.DataFrame) -> dict[str, Figures]:
    """Return ``exact match`` and ``f1`` in per cent by task with exact answers.

    *questions* are those of the tasks; *answers* are of one model and condition.
    """
    exact = answers[answers["exact_n"] > 0].groupby("task")
    sums = exact[["exact_n", "exact_sum", "f1_sum"]].sum()
    answered, asked = exact["question"].nunique(), questions.groupby("task")["question"].nunique()
    columns = {"exact match": "exact_sum", "f1": "f1_sum"}
    return {
        str(task): {
            name: of_part(
                Figure(100 * float(row[column] / row["exact_n"]), int(row["exact_n"])),
                int(answered[task]),
                int(asked.get(task, 0)),
            )
            for name, column in columns.items()
        }
        for task, row in sums.iterrows()
    }


def shares_by(frame: pd.DataFrame, by: str) -> Figures:
    """Return the share of rows in per cent by column *by*; n is the number of all rows."""
    return {
        str(key): Figure(100 * count / len(frame), len(frame))
        for key, count in frame.groupby(by).size().items()
    }


def _grouped(frame: pd.DataFrame, by: str) -> Any:
    """Return *frame* grouped by column *by*, or as one group named ""."""
    return frame.groupby(by) if by else frame.groupby(lambda _row: "")


def plain_mean(figures: Mapping[str, Figure], over: Sequence[str], lacking: str) -> Figure:
    """Return the mean of the figures named in *over*; reason *lacking* unless all have a value.

    If none has a value, their own reason is given, where they have the same one.
    """
    found = [figures[name] for name in over if name in figures]
    values = [one.value for one in found if one.value is not None]
    n = sum(one.n for one in found)
    if len(values) < len(over) or not values:
        reasons = {one.reason for one in found} if not values else set()
        return missing((reasons.pop() if len(reasons) == 1 else None) or lacking, n)
    return of_parts(Figure(sum(values) / len(values), n, reason=_first_reason(found)), found)


def minus(first: Figure | None, second: Figure | None, lacking: str) -> Figure:
    """Return *first* minus *second*; *lacking* is the reason if one is not there.

    One without a value gives its own reason. n is the smaller of both.
    """
    n = min((one.n for one in (first, second) if one), default=0)
    if first is None or second is None:
        return missing(lacking, n)
    if first.value is None or second.value is None:
        without = first if first.value is None else second
        return missing(without.reason or lacking, n)
    both = (first, second)
    figure = Figure(first.value - second.value, n, reason=_first_reason(both))
    return of_sides(figure, both)


def _first_reason(figures: Iterable[Figure]) -> str | None:
    return next((one.reason for one in figures if one.reason), None)


def put(
    table: str,
    rows: Sequence[str],
    column: str,
    figures: Mapping[str, Figure],
    *asked: Loaded | ModelCondition,
    lacking: str = NO_DATA,
) -> Cells:
    """Return the cells of one column; a row without a figure has the reason *lacking*."""
    whose = tuple(one.asked if isinstance(one, Loaded) else one for one in asked)
    return {
        CellName(table, row, column): Ours(figures.get(row) or missing(lacking), whose)
        for row in rows
    }


def put_row(
    table: str,
    row: str,
    columns: Sequence[str],
    figures: Mapping[str, Figure],
    *asked: Loaded | ModelCondition,
    lacking: str = NO_DATA,
    marker: str = "",
) -> Cells:
    """Return the cells of one row; a column without a figure has the reason *lacking*."""
    whose = tuple(one.asked if isinstance(one, Loaded) else one for one in asked)
    return {
        CellName(table, row, column): Ours(figures.get(column) or missing(lacking), whose, marker)
        for column in columns
    }

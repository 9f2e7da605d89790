"""Tables and charts of the report ``cuts``, made from its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluations.statistics.coverage import coverage
from evaluations.statistics.cuts import MACRO
from evaluations.statistics.figure import Figure, Report, ReportRow
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL
from gradeapp.common.charts import Chart

# By key, then by value.
Names = Mapping[str, Mapping[str, str]]

# More bars than this are not read any more; the table has them.
MOST_BARS = 120
MOST_CELLS = 900
LEAST_HEIGHT = 180


@dataclass(frozen=True, slots=True)
class Matrix:
    """The crossings of two keys of one model and condition, with margins.

    ``columns`` are the values of the second key, ``ALL`` last; ``lines`` have a value of the first
    key and a row for each column, None where there is no such question.
    """

    asked: ModelCondition
    columns: tuple[str, ...]
    lines: tuple[tuple[str, tuple[ReportRow | None, ...]], ...]
    macro: ReportRow | None

    @property
    def scored(self) -> bool:
        """Whether any answer has points."""
        return any(
            row is not None and row.figures["rate"].value is not None
            for _value, rows in self.lines
            for row in rows
        )


def values_of(report: Report, key: str) -> list[str]:
    """Return the values of *key* in the order of the report, without ``ALL`` and ``MACRO``."""
    values = dict.fromkeys(row.key[key] for row in report.rows)
    return [value for value in values if value not in (ALL, MACRO)]


def matrices(
    report: Report, by: Sequence[str], asked: Sequence[ModelCondition], shown: Sequence[str]
) -> list[Matrix]:
    """Return the crossings of each of *asked*: the values *shown* of the first key, and ``ALL``."""
    first, second = by
    columns = (*values_of(report, second), ALL)
    found = {(row.asked, row.key[first], row.key[second]): row for row in report.rows}
    return [
        Matrix(
            one,
            columns,
            tuple(
                (value, tuple(found.get((one, value, column)) for column in columns))
                for value in (*shown, ALL)
            ),
            found.get((one, MACRO, MACRO)),
        )
        for one in asked
        if (one, ALL, ALL) in found
    ]


def percent(figure: Figure | None) -> float | None:
    """Return the value in per cent."""
    return None if figure is None or figure.value is None else 100 * figure.value


def shown_percent(row: ReportRow | None, enough: int) -> float | None:
    """Return the rate in per cent; None if too few answers (*enough*, per cent) have points."""
    if row is None or coverage(row.figures).is_below(enough):
        return None
    return percent(row.figures["rate"])


def cuts_bar(
    report: Report,
    key: str,
    names: Names,
    colours: Mapping[ModelCondition, int],
    people: str,
    enough: int,
) -> Chart:
    """Return the rates by one key as bars in per cent: one for each of *colours*, and of *people*.

    *people* is the name of the bars of the rates of people. Rates with too few marks (*enough*, per
    cent) are missing. Empty if there are more than ``MOST_BARS``.
    """
    rows = {(row.asked, row.key[key]): row for row in report.rows}
    asked = [one for one in colours if (one, ALL) in rows]
    values = values_of(report, key)
    series: list[dict[str, object]] = []
    for one in asked:
        figures = [rows.get((one, value)) for value in values]
        rates = [shown_percent(row, enough) for row in figures]
        series.append(
            {
                "name": str(one),
                "values": rates,
                "intervals": [
                    interval_percent(row) if rate is not None else None
                    for row, rate in zip(figures, rates, strict=True)
                ],
                "colour": colours[one],
            }
        )
    human = [
        next((p for one in asked if (p := _people(rows.get((one, value)))) is not None), None)
        for value in values
    ]
    if any(rate is not None for rate in human):
        series.append({"name": people, "values": human, "colour": "muted"})
    bars = len(values) * len(series)
    data = {
        "categories": [names[key][value] for value in values],
        "series": series,
        "max": 100,
        "digits": 1,
        "unit": " %",
        "height": max(LEAST_HEIGHT, 60 + 20 * bars + 14 * len(values)),
    }
    drawn = any(rate is not None for one in series for rate in one["values"])  # type: ignore[attr-defined]
    return Chart("bar", data, not drawn or bars > MOST_BARS)


def _people(row: ReportRow | None) -> float | None:
    return None if row is None else percent(row.figures.get("human"))


def interval_percent(row: ReportRow | None) -> list[float] | None:
    """Return the interval of the rate in per cent; None without one."""
    rate = None if row is None else row.figures["rate"]
    if rate is None or rate.low is None or rate.high is None:
        return None
    return [100 * rate.low, 100 * rate.high]


def cuts_heat(matrix: Matrix, by: Sequence[str], names: Names, enough: int) -> Chart:
    """Return the crossings of *matrix* as a heat map in per cent, without margins.

    A crossing without a rate is an empty cell. Empty if there are more than ``MOST_CELLS``.
    """
    columns = matrix.columns[:-1]
    lines = matrix.lines[:-1]
    cells = [
        [x, y, shown_percent(row, enough)]
        for y, (_value, rows) in enumerate(lines)
        for x, row in enumerate(rows[:-1])
    ]
    data = {
        "x": [names[by[1]][value] for value in columns],
        "y": [names[by[0]][value] for value, _rows in lines],
        "cells": cells,
        "digits": 1,
        "unit": " %",
        "height": max(LEAST_HEIGHT, 120 + 34 * len(lines)),
    }
    drawn = any(value is not None for _x, _y, value in cells)
    return Chart("heat", data, not drawn or len(cells) > MOST_CELLS)

"""Tables for export: what a report, or any list of rows, looks like in columns."""

from __future__ import annotations

from collections.abc import Iterable

from evaluations.statistics.figure import Figure, Report
from gradeapp.common.csv_cells import Cell
from gradeapp.common.tables import Table, table

# A file may be read without its manifest: what a number rests on stands in every row.
CONTEXT = ("dataset", "marker", "policy", "rounds")


def report_table(report: Report) -> Table:
    """A report in columns: context, key, and each figure with what it rests on.

    The context (dataset, marker, policy, chosen rounds) comes from the report's parameters
    where the key does not hold it. A figure ``rate`` makes the columns ``rate``,
    ``rate_n``, ``rate_low`` and ``rate_high`` (when any row has an interval) and
    ``rate_reason``; they are empty in rows that do not have the figure.
    """
    keys = _in_order(name for row in report.rows for name in row.key)
    figures = _in_order(name for row in report.rows for name in row.figures)
    bounded = {
        name
        for row in report.rows
        for name, figure in row.figures.items()
        if figure.low is not None or figure.high is not None
    }
    context = {
        name: " ".join(value) if isinstance(value, list) else str(value)
        for name in CONTEXT
        if (value := report.params.get(name)) is not None and name not in keys
    }
    names = [title for name in figures for title in _titles(name, name in bounded)]
    rows: list[list[Cell]] = []
    for row in report.rows:
        cells: list[Cell] = [*context.values(), *(row.key.get(name) for name in keys)]
        for name in figures:
            cells += _cells(row.figures.get(name), name in bounded)
        rows.append(cells)
    return table([*context, *keys, *names], rows)


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _titles(name: str, bounded: bool) -> list[str]:
    bounds = [f"{name}_low", f"{name}_high"] if bounded else []
    return [name, f"{name}_n", *bounds, f"{name}_reason"]


def _cells(figure: Figure | None, bounded: bool) -> list[Cell]:
    if figure is None:
        return [None] * (5 if bounded else 3)
    bounds = [figure.low, figure.high] if bounded else []
    return [figure.value, figure.n, *bounds, figure.reason]

"""Convert a report to a table with columns, for export."""

from __future__ import annotations

from evaluations.statistics.figure import Report
from gradeapp.common.csv_cells import Cell
from gradeapp.common.tables import Table, table

# Repeated in every row, because a file may be read without its manifest.
CONTEXT = ("dataset", "marker", "policy", "rounds", "runs")


def report_table(report: Report) -> Table:
    """Return *report* as a table: context, key, and several columns for each figure.

    The context (dataset, marker, policy, chosen rounds and runs) is taken from the report's
    parameters, if the key does not contain it. A figure ``rate`` has the columns ``rate``,
    ``rate_n``, ``rate_low`` and ``rate_high`` (if any row has an interval) and ``rate_reason``;
    they are empty in rows without the figure. A report without rows is one row: the context and the
    ``reason``.
    """
    keys = list(dict.fromkeys(name for row in report.rows for name in row.key))
    figures = list(dict.fromkeys(name for row in report.rows for name in row.figures))
    bounded = {
        name
        for row in report.rows
        for name, figure in row.figures.items()
        if figure.low is not None or figure.high is not None
    }
    context = {
        name: " ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name in CONTEXT
        if (value := report.params.get(name)) is not None and name not in keys
    }
    if not report.rows and (reason := report.params.get("reason")):
        return table([*context, "reason"], [[*context.values(), str(reason)]])
    fields = {
        name: ("value", "n", "low", "high", "reason")
        if name in bounded
        else ("value", "n", "reason")
        for name in figures
    }
    titles = [
        name if field == "value" else f"{name}_{field}"
        for name in figures
        for field in fields[name]
    ]
    rows: list[list[Cell]] = []
    for row in report.rows:
        cells: list[Cell] = [*context.values(), *(row.key.get(name) for name in keys)]
        for name in figures:
            figure = row.figures.get(name)
            cells += [getattr(figure, field, None) for field in fields[name]]
        rows.append(cells)
    return table([*context, *keys, *titles], rows)

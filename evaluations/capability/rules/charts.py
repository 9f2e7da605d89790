"""A review as a chart and as a file, shaped from values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evaluations.statistics.figure import Figure, ReportRow
from evaluations.statistics.tally import ALL
from gradeapp.common.charts import Chart


def dimensions_bar(
    rows: Iterable[ReportRow], dimensions: Mapping[str, str], tasks: Mapping[str, str]
) -> Chart:
    """Shares of 1 in per cent with their intervals: a group of bars for each task.

    *dimensions* and *tasks* are names in the reader's language by value, in order.
    A task without any value is left out and named.
    """
    shares = {
        (row.key["task"], row.key["dimension"]): row.figures["share"]
        for row in rows
        if row.key["task"] != ALL and row.figures["share"].value is not None
    }
    known = {task for task, _dimension in shares}
    drawn = [task for task in tasks if task in known]
    series = []
    for dimension, name in dimensions.items():
        figures = [shares.get((task, dimension)) for task in drawn]
        series.append(
            {
                "name": name,
                "values": [_percent(figure) for figure in figures],
                "intervals": [_interval(figure) for figure in figures],
            }
        )
    data = {"categories": [tasks[task] for task in drawn], "series": series}
    style = {"max": 100, "digits": 0, "unit": " %"}
    left_out = tuple(name for task, name in tasks.items() if task not in known)
    return Chart("bar", data | style, not drawn, left_out)


def _percent(figure: Figure | None) -> float | None:
    return None if figure is None or figure.value is None else 100 * figure.value


def _interval(figure: Figure | None) -> list[float] | None:
    if figure is None or figure.low is None or figure.high is None:
        return None
    return [100 * figure.low, 100 * figure.high]

"""Tables and the chart of the report ``trend``, made from its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluations.statistics.figure import Figure, Report
from evaluations.statistics.gaokao_750 import FULL_TOTAL
from evaluations.statistics.rows import ModelCondition
from gradeapp.common.charts import Chart
from questions.rules.vocabulary import Stream


@dataclass(frozen=True, slots=True)
class YearGroup:
    """The years of one model and condition: a year, and its total in each stream."""

    asked: ModelCondition
    lines: tuple[tuple[str, tuple[Figure, ...]], ...]


def year_lines(report: Report, asked: Sequence[ModelCondition]) -> list[YearGroup]:
    """Return the years of each of *asked*, in their order, without those of which nothing counts.

    Nothing counts where no answer to the subjects of the examination has points.
    """
    totals = {
        (row.asked, row.key["year"], row.key["stream"]): row.figures["total"] for row in report.rows
    }
    years = {one: sorted({y for who, y, _stream in totals if who == one}) for one in asked}
    return [
        YearGroup(
            one,
            tuple((year, tuple(totals[one, year, s.value] for s in Stream)) for year in years[one]),
        )
        for one in asked
        if any(total.n for (who, _year, _stream), total in totals.items() if who == one)
    ]


def years_chart(
    report: Report,
    colours: Mapping[ModelCondition, int],
    streams: Mapping[str, str],
    year_label: str,
    points_label: str,
) -> Chart:
    """Return the totals as lines over the years, one for each model, condition and stream.

    The line of the second stream is dashed. A year without a total is a gap, never 0.
    """
    series: list[dict[str, object]] = []
    years: set[int] = set()
    for one, colour in colours.items():
        for place, (stream, name) in enumerate(streams.items()):
            rows = [r for r in report.rows if r.asked == one and r.key["stream"] == stream]
            points = [
                [int(row.key["year"]), row.figures["total"].value, row.figures["total"].n]
                for row in rows
            ]
            if any(value is not None for _year, value, _n in points):
                years |= {int(row.key["year"]) for row in rows}
                label = f"{one} · {name}" if len(colours) > 1 else name
                series.append(
                    {"name": label, "points": points, "colour": colour, "dashed": place > 0}
                )
    first, last = min(years, default=0), max(years, default=0)
    data: dict[str, object] = {
        "x": {"label": year_label, "min": first, "max": last, "plain": True},
        "y": {"label": points_label, "min": 0, "max": FULL_TOTAL},
        "series": series,
        "limits": [],
    }
    return Chart("lines", data, not series)

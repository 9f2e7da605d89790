"""What charts.js draws of the monitors: teachers as dots with intervals, figures over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluations.marking.monitoring.rules.figures import LinePoint
from evaluations.statistics.figure import Figure
from gradeapp.common.charts import Chart

# More lines than colours cannot be told apart.
MOST_LINES = 8


def severity_dots(
    teachers: Mapping[str, Figure],
    label: str,
    limit: float | None,
    colours: Mapping[str, int] | None = None,
) -> Chart:
    """Each teacher's severity in per cent of full marks, with its interval, around 0.

    *limit* (a share of full marks) is shown to both sides. A teacher without a
    value is left out and named.
    """
    known = {name: figure for name, figure in teachers.items() if figure.value is not None}
    rows = [_dot(figure) for figure in known.values()]
    ends = [abs(end) for row in rows for end in row if end is not None]
    reach = 5 * (int(max([*ends, 100 * (limit or 0)], default=0)) // 5 + 1)
    data: dict[str, object] = {
        "categories": list(known),
        "dots": rows,
        "axis": {"label": label, "min": -reach, "max": reach},
        "limits": [-100 * limit, 100 * limit] if limit is not None else [],
        "digits": 1,
        "unit": " %",
    }
    if colours is not None:
        data["colours"] = [colours[name] for name in known]
    return Chart("dots", data, not known, tuple(name for name in teachers if name not in known))


def _dot(figure: Figure) -> tuple[float | None, float | None, float | None]:
    ends = (figure.value, figure.low, figure.high)
    value, low, high = (None if end is None else 100 * end for end in ends)
    return value, low, high


def rolling_lines(
    lines: Mapping[str, Sequence[LinePoint]],
    x_label: str,
    y_label: str,
    *,
    limits: Sequence[float] = (),
    shares: bool = True,
    colours: Mapping[str, int] | None = None,
) -> Chart:
    """Figures over the last marks as lines; *shares* are drawn in per cent from 0 to 100.

    With *colours* a line keeps that of its name, whichever others are drawn.
    Only the first eight that have a point are drawn; the others are left out and named.
    """
    drawn = [name for name, points in lines.items() if points][:MOST_LINES]
    series: list[dict[str, object]] = [
        {"name": name, "points": [[p.marks, round(100 * p.value, 2), p.n] for p in lines[name]]}
        for name in drawn
    ]
    if colours is not None:
        series = [one | {"colour": colours[name]} for one, name in zip(series, drawn, strict=True)]
    y: dict[str, object] = {"label": y_label}
    if shares:
        y |= {"min": 0, "max": 100}
    data: dict[str, object] = {
        "x": {"label": x_label},
        "y": y,
        "series": series,
        "limits": [100 * limit for limit in limits],
        "digits": 1,
        "unit": " %",
    }
    return Chart("lines", data, not drawn, tuple(name for name in lines if name not in drawn))


def cost_lines(
    points: Mapping[str, Sequence[tuple[float, float, int]]],
    x_label: str,
    y_label: str,
    here: float | None,
) -> Chart:
    """Shares (0 to 1) against tolerances, one line a series; *here* is where the round stands."""
    series = [
        {"name": name, "points": [[x, round(100 * y, 2), n] for x, y, n in line]}
        for name, line in points.items()
        if line
    ]
    data: dict[str, object] = {
        "x": {"label": x_label, "min": 0},
        "y": {"label": y_label, "min": 0},
        "series": series,
        "limits": [],
        "here": here,
        "digits": 1,
        "unit": " %",
    }
    return Chart("lines", data, not series)

"""The chart of interval widths over teachers' hours."""

from __future__ import annotations

from collections.abc import Sequence

from gradeapp.common.charts import Chart

Line = list[tuple[float, float, int]]


def hours_curve(curve: Sequence[tuple[int, float, float]], hours: Sequence[float]) -> list[Line]:
    """Return the lines (hours, half width, questions) without and with the judge."""
    without = [(h, human, n) for (n, human, _judge), h in zip(curve, hours, strict=True)]
    aided = [(h, judge, n) for (n, _human, judge), h in zip(curve, hours, strict=True)]
    return [without, aided]


def curve_chart(lines: Sequence[Line], labels: Sequence[str], x_label: str, y_label: str) -> Chart:
    """Return the half width of the interval over the hours, without (dashed) and with the judge.

    Of *lines* the second, with the judge, may be missing; *labels* has a name for each.
    """
    points = [point for line in lines for point in line]
    series = [
        {
            "name": label,
            "points": [[round(h, 2), round(w, 2), n] for h, w, n in line],
            "colour": place,
            "dashed": place == 0,
        }
        for place, (label, line) in enumerate(zip(labels, lines, strict=False))
    ]
    top = max((w for _h, w, _n in points), default=0)
    data: dict[str, object] = {
        "x": {"label": x_label, "min": 0, "max": max((h for h, _w, _n in points), default=0)},
        "y": {"label": y_label, "min": 0, "max": 10 * (int(top) // 10 + 1)},
        "series": series,
        "limits": [],
    }
    return Chart("lines", data, not points)

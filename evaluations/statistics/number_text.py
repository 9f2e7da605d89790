"""Format figures for pages: decimals, minus sign, interval.

English and Chinese pages write numbers alike (1,781 and 72.2 %).
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluations.statistics.figure import Figure

MINUS = "\u2212"
EVEN = 0.05
# The unit of a difference between two per cents: percentage points.
POINTS = " pp"


@dataclass(frozen=True, slots=True)
class Style:
    """Format of one kind of figure: *scale* x value, decimals, unit, whether + is written."""

    decimals: int
    scale: float = 1
    unit: str = ""
    signed: bool = False


STYLES = {
    "count": Style(0),
    "rate": Style(1, scale=100, unit=" %"),
    "points": Style(1),
    "exact_points": Style(3),
    "marks": Style(2),
    "difference": Style(2, signed=True),
    "percent": Style(1),
    "percent_difference": Style(1, signed=True),
    "coefficient": Style(3),
    "seconds": Style(0, unit=" s"),
    "rate_difference": Style(1, scale=100, unit=POINTS, signed=True),
    "of_full_marks": Style(1, scale=100, unit=" %", signed=True),
    "ratio": Style(2),
}


def number_text(value: float, kind: str) -> str:
    """Return the value in the style of *kind*, such as ``72.2 %`` or ``−0.25``; -0 becomes 0."""
    style = STYLES[kind]
    scaled = round(value * style.scale, style.decimals) + 0.0
    if kind == "seconds" and scaled == 0:
        return f"< 1{style.unit}"
    sign = MINUS if scaled < 0 else "+" if style.signed and scaled > 0 else ""
    return f"{sign}{abs(scaled):,.{style.decimals}f}{style.unit}"


def plain_points(value: float) -> str:
    """Return points without trailing zeros, such as 7,000 and 2.25."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def interval_text(figure: Figure, kind: str) -> str:
    """Return ``±1.6`` for a symmetric interval, ``61.2–65.0`` for any other, "" for none."""
    if figure.value is None or figure.low is None or figure.high is None:
        return ""
    style = STYLES[kind]
    below, above = figure.value - figure.low, figure.high - figure.value
    # A released total is rounded and its interval is not, so the two sides differ a little.
    if abs(below - above) <= EVEN * max(below, above):
        return f"±{(below + above) / 2 * style.scale:,.{style.decimals}f}"
    ends = (number_text(end, kind).removesuffix(style.unit) for end in (figure.low, figure.high))
    return "\u2013".join(ends)

"""Filters of the page that compares ``published`` and ``strict``."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from django import template

from evaluations.reading.rules.scoring.ablation import Evidence, Reason
from evaluations.statistics.number_text import MINUS, plain_points
from evaluations.templatetags.figures import outcome_name
from gradeapp.common.choices import label

register = template.Library()


@register.filter
def exact_rate(rate: Fraction | None) -> str:
    """Return a rate with three decimals, because the differences between policies are small."""
    return "–" if rate is None else f"{float(rate * 100):.3f} %"


@register.filter
def exact_change(change: Fraction | None) -> str:
    """Return a change of a rate in percentage points with its sign; 0 has no sign."""
    return (
        "–" if change is None else _signed(float(change * 100), f"{abs(float(change * 100)):.3f}")
    )


@register.filter
def signed_points(points: Decimal) -> str:
    """Return a difference of points with its sign; 0 has no sign."""
    return _signed(float(points), plain_points(abs(float(points))))


def _signed(value: float, text: str) -> str:
    return f"{MINUS}{text}" if value < 0 else f"+{text}" if value > 0 else "0"


@register.filter
def why_moved(reason: Reason) -> str:
    """Return the name of a reason."""
    return label(Reason, reason)


@register.filter
def read_as(evidence: Evidence) -> str:
    """Return the answers that were read, or the outcome of the reading."""
    if any(evidence.answers):
        return " ".join(answer or "–" for answer in evidence.answers)
    return outcome_name(evidence.outcome)

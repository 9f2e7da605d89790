"""Filters for pattern searches."""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluations.reading.selectors.pattern_precision import Precision
from gradeapp.common.named import WorkStatus

register = template.Library()

STATES: dict[str, tuple[str | Promise, str]] = {
    WorkStatus.QUEUED: (_("waiting"), "amber"),
    WorkStatus.WORKING: (_("running"), "green"),
    WorkStatus.STOPPED: (_("stopped"), "amber"),
    WorkStatus.INTERRUPTED: (_("interrupted"), "red"),
    WorkStatus.FAILED: (_("failed"), "red"),
    WorkStatus.DONE: (_("finished"), "green"),
}


@register.filter
def work_state(status: str) -> tuple[str | Promise, str]:
    """Text and colour of the pill of background work."""
    return STATES[status]


@register.filter
def tenths(part: int, whole: int) -> str:
    """Return a share in percent with one decimal, rounded half up; a dash for a share of 0.

    It is rounded to 0.0 % only for none and to 100.0 % only for all.
    """
    if not whole:
        return "–"
    thousandths = (2000 * part + whole) // (2 * whole)
    if 0 < part < whole:
        thousandths = min(max(thousandths, 1), 999)
    return f"{thousandths // 10}.{thousandths % 10} %"


@register.filter
def of_pattern(found: Mapping[int, Precision], pattern: int) -> Precision | None:
    """Return the precision of the pattern with this key."""
    return found.get(pattern)

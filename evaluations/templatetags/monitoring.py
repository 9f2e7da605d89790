"""The figures of the monitors in words."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext_lazy

register = template.Library()
NAMES = {
    "marks": gettext_lazy("Marks given"),
    "seconds_median": gettext_lazy("Seconds a response, median"),
    "seconds_mean": gettext_lazy("Seconds a response, mean"),
    "pace": gettext_lazy("Seconds, as a part of the round’s median"),
    "partner_points": gettext_lazy("More than the partner, points"),
    "partner_share": gettext_lazy("More than the partner, of full marks"),
    "final_points": gettext_lazy("More than the final mark, points"),
    "severity": gettext_lazy("Severity: more than the final mark, of full marks"),
    "within_tolerance": gettext_lazy("Within the tolerance of the partner"),
    "third_rate": gettext_lazy("Went on to a third mark or the lead"),
    "seed_hits": gettext_lazy("Seed answers hit"),
    "self_consistency": gettext_lazy("Self-repeats within the tolerance"),
    "safe_share": gettext_lazy("Safe marks, 40 to 60 % of full marks"),
    "safe_excess": gettext_lazy("Safe marks above the round’s share"),
}
SHORT = {
    "severity": gettext_lazy("severity"),
    "within_tolerance": gettext_lazy("tolerance"),
    "third_rate": gettext_lazy("third marks"),
    "seed_hits": gettext_lazy("seed answers"),
    "self_consistency": gettext_lazy("self-repeats"),
    "safe_excess": gettext_lazy("safe marks"),
    "pace": gettext_lazy("pace"),
}


@register.filter
def figure_name(name: str) -> str:
    """What a figure of a teacher is called."""
    return str(NAMES[name])


@register.filter
def warning_name(name: str) -> str:
    """A limit that is not kept, in one or two words."""
    return str(SHORT[name])

"""Filters for the figures of the monitoring pages."""

from __future__ import annotations

from decimal import Decimal

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluations.facts.words import number_words, reason_words
from evaluations.marking.monitoring.rules.limits import Limit
from evaluations.marking.monitoring.rules.tolerance_simulator import Outcome
from evaluations.statistics.figure import Figure
from evaluations.statistics.number_text import number_text
from gradeapp.common.plain_number import plain, shown

register = template.Library()
NAMES = {
    "marks": gettext_lazy("Marks given"),
    "seconds_median": gettext_lazy("Seconds per response, median"),
    "seconds_mean": gettext_lazy("Seconds per response, mean"),
    "pace": gettext_lazy("Seconds relative to the round’s median"),
    "partner_points": gettext_lazy("More than the other teacher, points"),
    "partner_share": gettext_lazy("More than the other teacher, of full marks"),
    "final_points": gettext_lazy("More than the final mark, points"),
    "severity": gettext_lazy("Severity: more than the final mark, of full marks"),
    "within_tolerance": gettext_lazy("Within the tolerance of the other teacher"),
    "third_rate": gettext_lazy("To a third mark or the lead"),
    "seed_hits": gettext_lazy("Seed answers hit"),
    "self_consistency": gettext_lazy("Intra-rater checks within the tolerance"),
    "safe_share": gettext_lazy("Safe marks, 40 to 60 % of full marks"),
    "safe_excess": gettext_lazy("Safe marks above the round’s share"),
}
SHORT = {
    "severity": gettext_lazy("severity"),
    "partner_share": gettext_lazy("other teacher"),
    "within_tolerance": gettext_lazy("tolerance"),
    "seed_hits": gettext_lazy("seed answers"),
    "self_consistency": gettext_lazy("intra-rater checks"),
    "safe_excess": gettext_lazy("safe marks"),
    "pace": gettext_lazy("speed"),
}


@register.filter
def figure_name(name: str) -> str:
    """Return the name of a figure of a teacher."""
    return str(NAMES[name])


@register.filter
def limit_words(limit: Limit | None) -> str:
    """Return a limit such as "at least 75 %"; "" for none."""
    if limit is None:
        return ""
    number = f"{shown(limit.value * 100)} %" if limit.percent else shown(limit.value)
    if limit.least:
        return _("at least %(number)s") % {"number": number}
    return (_("±%(number)s") if limit.both else _("at most %(number)s")) % {"number": number}


@register.filter
def warning_name(name: str) -> str:
    """Return the short name of a figure beyond its limit."""
    return str(SHORT[name])


@register.inclusion_tag("evaluations/marking/monitoring/_figure_n.html")
def figure_with_n(value: Figure, kind: str) -> dict[str, object]:
    """Render a figure of a teacher with its n, or a dash with the reason."""
    if value.value is None:
        return {"reason": reason_words(value.reason or "")}
    return {"text": number_words(value.value, kind), "n": value.n}


@register.filter
def tolerance_key(value: Decimal | None) -> str:
    """Return a tolerance for a URL; "" for that of the round."""
    return "" if value is None else plain(value)


@register.filter
def share_beyond(outcome: Outcome) -> str:
    """Return the share of responses that would need another mark."""
    return number_text(outcome.beyond / outcome.pairs, "rate") if outcome.pairs else "–"


@register.filter
def share_moved(outcome: Outcome) -> str:
    """Return the change of the known final marks, as a share of their full marks."""
    if not outcome.full:
        return "–"
    return number_text(float(outcome.change / outcome.full), "of_full_marks")


@register.filter
def signed(value: Decimal) -> str:
    """Return points with their sign, such as +1.50."""
    return number_text(float(value), "difference")

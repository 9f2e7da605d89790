"""The figures of the monitors in words."""

from __future__ import annotations

from decimal import Decimal

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluations.facts.words import reason_words
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
    """What a figure of a teacher is called."""
    return str(NAMES[name])


@register.filter
def limit_words(limit: Limit | None) -> str:
    """A limit as people read it: "at least 75 %"; empty for none."""
    if limit is None:
        return ""
    number = f"{shown(limit.value * 100)} %" if limit.percent else shown(limit.value)
    if limit.least:
        return _("at least %(number)s") % {"number": number}
    return (_("±%(number)s") if limit.both else _("at most %(number)s")) % {"number": number}


@register.filter
def warning_name(name: str) -> str:
    """A limit that is not kept, in one or two words."""
    return str(SHORT[name])


@register.inclusion_tag("evaluations/marking/monitoring/_figure_n.html")
def figure_with_n(value: Figure, kind: str) -> dict[str, object]:
    """A figure of a table of teachers with its n beside it; a dash whose reason is read aloud."""
    if value.value is None:
        return {"reason": reason_words(value.reason or "")}
    return {"text": number_text(value.value, kind), "n": value.n}


@register.filter
def tolerance_key(value: Decimal | None) -> str:
    """A tolerance in an address; empty for the round's own."""
    return "" if value is None else plain(value)


@register.filter
def share_beyond(outcome: Outcome) -> str:
    """The share of the responses that would ask for another mark."""
    return number_text(outcome.beyond / outcome.pairs, "rate") if outcome.pairs else "–"


@register.filter
def share_moved(outcome: Outcome) -> str:
    """By how much the known final marks would move together, of their full marks."""
    if not outcome.full:
        return "–"
    return number_text(float(outcome.change / outcome.full), "rate_difference")


@register.filter
def signed(value: Decimal) -> str:
    """Points with their sign: +1.50."""
    return number_text(float(value), "difference")

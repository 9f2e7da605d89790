"""Filters for marks and closed lists: ``{{ total|mark }}``, ``{{ flag|listed:"Flag" }}``."""

from __future__ import annotations

from decimal import Decimal

from django import template
from django.utils.translation import gettext

from evaluations import schemes
from evaluations.marking.monitoring.selectors.new_rubric import RemarkScope
from evaluations.marking.rounds.selectors.rounds import AnswerState
from evaluations.marking.rules.blinding import BlindItem
from evaluations.marking.sheets.services.sheet_reading import RowState
from evaluations.models import vocabulary
from gradeapp.common.choices import label
from gradeapp.common.named import Named
from gradeapp.common.plain_number import shown
from questions.rules.vocabulary import Language

register = template.Library()
LISTS: dict[str, type[Named]] = {
    "Flag": vocabulary.Flag,
    "Reason": vocabulary.ArbitrationReason,
    "RoundStatus": vocabulary.RoundStatus,
    "SlotKind": vocabulary.SlotKind,
    "Rule": schemes.FinalRule,
    "Scheme": schemes.Scheme,
    "AnswerState": AnswerState,
    "RowState": RowState,
    "RemarkScope": RemarkScope,
}


@register.filter
def mark(value: Decimal | None) -> str:
    """Return a mark with at most two decimals; a dash for none."""
    return "–" if value is None else shown(value)


@register.filter
def listed(value: str, name: str) -> str:
    """Return the name of *value* in the closed list *name*; *value* itself if it is unknown."""
    return label(LISTS[name], value)


@register.filter
def item_source(item: BlindItem) -> str:
    """Return the year and the paper of an item."""
    return " ".join(filter(None, (str(item.year or ""), item.paper)))


@register.filter
def html_lang(language: str) -> str:
    """Return the ``lang`` attribute for an item's language."""
    return "zh-Hans" if language == Language.CHINESE else language


@register.filter
def duration(minutes: int) -> str:
    """Return 130 as "2 h 10 min"."""
    hours, rest = divmod(minutes, 60)
    if not hours:
        return gettext("%(minutes)s min") % {"minutes": rest}
    return gettext("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": rest}


@register.filter
def marker(kind: str) -> str:
    """Return the place of a mark, which does not name the marker."""
    words = {"first": gettext("First"), "second": gettext("Second"), "third": gettext("Third")}
    return words.get(kind, gettext("Lead"))


@register.filter
def changed_what(kind: str) -> str:
    """Return what a recorded change was made to."""
    words = {
        "mark": gettext("Mark"),
        "point": gettext("Point mark"),
        "final": gettext("Final mark"),
    }
    return words[kind]


@register.filter
def percent(share: Decimal) -> str:
    """Return 0.1 as "10 %"."""
    return f"{shown(share * 100)} %"

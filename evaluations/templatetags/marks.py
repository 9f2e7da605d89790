"""Marks and the lists of marking in words: ``{{ total|mark }}``, ``{{ flag|listed:"Flag" }}``."""

from __future__ import annotations

from decimal import Decimal

from django import template
from django.utils.translation import get_language, gettext

from evaluations import schemes
from evaluations.marking.monitoring.selectors.sending_back import Reach
from evaluations.marking.rounds.selectors.rounds import AnswerState
from evaluations.marking.rules.blinding import BlindItem
from evaluations.marking.sheets.services.sheet_reading import RowState
from evaluations.models import vocabulary
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
    "Reach": Reach,
}


@register.filter
def mark(value: Decimal | None) -> str:
    """A mark rounded to two decimals and without empty ones; a dash where there is none."""
    return "–" if value is None else shown(value)


@register.filter
def listed(value: str, name: str) -> str:
    """The name of *value* in the closed list called *name*; the value itself where unknown."""
    try:
        return LISTS[name](value).label(get_language() or "en")
    except ValueError:
        return value


@register.filter
def item_source(item: BlindItem) -> str:
    """Where an item is from: its year and its paper."""
    return " ".join(filter(None, (str(item.year or ""), item.paper)))


@register.filter
def html_lang(language: str) -> str:
    """The value of ``lang`` for an item's language, so that the font and the reader follow."""
    return "zh-Hans" if language == Language.CHINESE else language


@register.filter
def duration(minutes: int) -> str:
    """130 as "2 h 10 min"."""
    hours, rest = divmod(minutes, 60)
    if not hours:
        return gettext("%(minutes)s min") % {"minutes": rest}
    return gettext("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": rest}


@register.filter
def marker(kind: str) -> str:
    """A marker by the place of the mark, never by name."""
    words = {"first": gettext("First"), "second": gettext("Second"), "third": gettext("Third")}
    return words.get(kind, gettext("Lead"))


@register.filter
def changed_what(kind: str) -> str:
    """What a kept change was made to."""
    words = {
        "mark": gettext("Mark"),
        "point": gettext("Point mark"),
        "final": gettext("Final mark"),
    }
    return words[kind]


@register.filter
def percent(share: Decimal) -> str:
    """0.1 as "10 %"."""
    return f"{shown(share * 100)} %"

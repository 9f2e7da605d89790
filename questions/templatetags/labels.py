"""Labels in words, for the labelling pages and the history."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from django import template
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from gradeapp.common.named import Named
from questions.models import Knowledge, LabelOpinion, LabelRevision, Question
from questions.rules.four_tuple import Label, Value
from questions.rules.vocabulary import AbilityBranch, LabelOrigin, Modal
from questions.selectors.labels import history_rows

register = template.Library()
CLOSED: dict[Label, type[Named]] = {Label.ABILITY_BRANCH: AbilityBranch, Label.MODAL: Modal}


class ShownLabel(NamedTuple):
    """One of the four places: its name, its value in words (– for none), where it comes from."""

    place: str
    name: str
    text: str
    origin: str
    is_set: bool


@register.filter
def four_labels(row: LabelRevision | LabelOpinion) -> list[ShownLabel]:
    """The four places of a row or an opinion, in the order of the tuple."""
    language = get_language() or "en"
    origins = getattr(row, "origins", {})
    shown = []
    for label in Label:
        value = getattr(row, label.value) or None
        origin = origins.get(label.value, "") if value else ""
        words = LabelOrigin(origin).label(language) if origin in set(LabelOrigin) else ""
        text = in_words(label, value)
        shown.append(ShownLabel(label.value, label.label(language), text, words, value is not None))
    return shown


@register.filter
def labels_in_words(row: LabelRevision | LabelOpinion) -> str:
    """The labels that are set, in one line."""
    return " · ".join(label.text for label in four_labels(row) if label.is_set)


def in_words(label: Label, value: Value | Knowledge) -> str:
    """One value in the language of the page; a knowledge as its row."""
    language = get_language() or "en"
    if value is None:
        return "–"
    if isinstance(value, Knowledge):
        return value.label(language)
    if label in CLOSED:
        return CLOSED[label](str(value)).label(language)
    return _("Level %(level)s") % {"level": value}


@register.inclusion_tag("questions/labels/_history.html")
def label_history(question: Question) -> dict[str, object]:
    """Every row of the item's labels: what changed, who, when, why."""
    return {"question": question, "history": history_rows(question)}


@register.filter
def percent_number(share: object) -> str:
    """A share from 0 to 1 in per cent, as a form holds it: at most two decimals, no sign."""
    return f"{100 * Decimal(str(share)):.2f}".rstrip("0").rstrip(".")


@register.filter
def percent_of(share: object) -> str:
    """A share from 0 to 1 as per cent with at most two decimals; "–" for none."""
    return "–" if share is None else f"{percent_number(share)} %"

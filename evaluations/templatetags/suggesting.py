"""What was read in a reply that suggests, in words: ``{{ reading|reading_words }}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from django import template
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _

from evaluations.models import Run, SuggestionReading
from evaluations.models.vocabulary import Asks
from evaluations.suggesting.rules.reply_json import ReplyFault
from evaluations.suggesting.selectors import Suggested, suggested
from questions.rules.four_tuple import Label
from questions.rules.rubric import Finding, RubricFault
from questions.rules.taxonomy import TAXONOMY
from questions.services.rubric_words import in_words as rubric_fault_in_words
from questions.templatetags.labels import in_words

register = template.Library()
PLACES = {
    place.slug: {"zh": place.chinese, "en": place.english}
    for category in TAXONOMY
    for place in (category, *category.subclasses)
}
F = ReplyFault
FAULTS: Mapping[str, Promise] = {
    F.REFUSED: gettext_lazy("The endpoint withheld the reply."),
    F.TRUNCATED: gettext_lazy("The reply was cut off. The endpoint may need a higher token limit."),
    F.EMPTY: gettext_lazy("The reply is empty."),
    F.NO_JSON: gettext_lazy("The reply does not contain the requested JSON."),
    F.BROKEN_JSON: gettext_lazy("The JSON in the reply is invalid."),
    F.SEVERAL: gettext_lazy("The reply contains several different answers."),
    F.MISSING_LABEL: gettext_lazy("The reply does not include “%(label)s”."),
    F.UNKNOWN_VALUE: gettext_lazy("“%(value)s” is not a value of “%(label)s”."),
    F.SEVERAL_PLACES: gettext_lazy("“%(value)s” matches several values of “%(label)s”."),
    F.NO_LABEL: gettext_lazy("The reply contains no label."),
    F.NOT_A_POINT: gettext_lazy("The scoring points are not in the requested format: %(name)s."),
    F.QUESTION_CHANGED: gettext_lazy(
        "The question has changed since then. The draft does not match it."
    ),
}


class SuggestedLabel(NamedTuple):
    """One label in a reply: its name, and its value in words."""

    name: str
    text: str


@register.simple_tag
def replies_of(run: Run) -> Suggested | None:
    """Return the counts of the replies of *run*; None if it is not a run that suggests."""
    return suggested(run)


@register.filter
def reading_words(reading: SuggestionReading) -> str:
    """Return the suggestion on one line, or why there is none."""
    if reading.fault:
        return _fault(reading)
    if reading.asks == Asks.RUBRIC:
        n = len(reading.said)
        return ngettext("%(n)d scoring point", "%(n)d scoring points", n) % {"n": n}
    return " · ".join(label.text for label in suggested_labels(reading))


@register.filter
def suggested_labels(reading: SuggestionReading) -> list[SuggestedLabel]:
    """Return the labels in the reply, in the order of the tuple."""
    language = get_language() or "en"
    named = [(Label(one["label"]), one["value"]) for one in reading.said]
    return [
        SuggestedLabel(label.label(language), _value(label, value))
        for label, value in named
        if value is not None
    ]


def _value(label: Label, value: str | int) -> str:
    if label is Label.KNOWLEDGE:
        return PLACES[str(value)][(get_language() or "en")[:2]]
    return in_words(label, value)


def _fault(reading: SuggestionReading) -> str:
    params = dict(reading.fault_values)
    if "label" in params:
        params["label"] = Label(params["label"]).label(get_language() or "en")
    if reading.fault in set(RubricFault):
        return rubric_fault_in_words(Finding(RubricFault(reading.fault), params))
    words = FAULTS.get(reading.fault)
    return str(words) % params if words else _("The reply could not be parsed.")

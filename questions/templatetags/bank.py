"""What rows of the bank show: labels with their origin, keys, rates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django import template
from django.forms.boundfield import BoundField
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from questions.models import LabelRevision, QuestionRevision
from questions.rules.four_tuple import Label
from questions.rules.readable import readable
from questions.rules.vocabulary import AbilityBranch, LabelOrigin, Modal
from questions.selectors.labels import knowledge_name

register = template.Library()
# A sign beside the label says where it comes from; a published one has none.
ORIGIN_SIGNS = {
    LabelOrigin.PERSON.value: "•",
    LabelOrigin.DERIVED.value: "%",
    LabelOrigin.CONTENT.value: "◇",
}


class LabelChip(NamedTuple):
    """One label as a chip: which of the four, its words, the sign and the words of its origin."""

    place: str
    name: str
    text: str
    sign: str
    origin: str


@register.filter
def label_chips(row: LabelRevision | None) -> list[LabelChip]:
    """The labels of *row* that are set, in the order of the tuple."""
    return list(_chips(row)) if row else []


def _chips(row: LabelRevision) -> Iterator[LabelChip]:
    language = get_language() or "en"
    shown = {
        Label.ABILITY_BRANCH: row.ability_branch
        and AbilityBranch(row.ability_branch).label(language),
        Label.KNOWLEDGE: row.knowledge.label(language) if row.knowledge else "",
        Label.DIFFICULTY: row.difficulty and _("Level %(level)s") % {"level": row.difficulty},
        Label.MODAL: row.modal and Modal(row.modal).label(language),
    }
    for place, text in shown.items():
        if text:
            origin = row.origins.get(place.value, "")
            words = LabelOrigin(origin).label(language) if origin in set(LabelOrigin) else ""
            sign = ORIGIN_SIGNS.get(origin, "")
            yield LabelChip(place.value, place.label(language), str(text), sign, words)


@register.simple_tag
def filter_select(field: BoundField) -> SafeString:
    """The control of a choice field. A form's own widgets render a template for each entry."""
    chosen = "" if field.value() is None else str(field.value())
    choices: list[tuple[Any, Any]] = list(field.field.choices)  # type: ignore[attr-defined]
    plain = [each for each in choices if not isinstance(each[1], list | tuple)]
    groups = [each for each in choices if isinstance(each[1], list | tuple)]
    grouped = format_html_join(
        "",
        '<optgroup label="{}">{}</optgroup>',
        ((name, _options(entries, chosen)) for name, entries in groups),
    )
    return format_html(
        '<select name="{}" aria-label="{}">{}{}</select>',
        field.html_name,
        field.label,
        _options(plain, chosen),
        grouped,
    )


def _options(entries: Iterable[tuple[Any, Any]], chosen: str) -> SafeString:
    return format_html_join(
        "",
        '<option value="{}" {}>{}</option>',
        ((value, "selected" if str(value) == chosen else "", name) for value, name in entries),
    )


@register.filter
def labels_missing(chips: list[LabelChip]) -> int:
    """How many of the four labels are not set."""
    return len(Label) - len(chips)


@register.filter
def short_key(revision: QuestionRevision, length: int = 16) -> str:
    """The key on one line: ``A``, ``AC``, ``A B D`` of three sub-questions; "–" without one."""
    text = readable(" ".join(revision.answer_key))
    if not text:
        return "–"
    return text if len(text) <= length else text[: length - 1] + "…"


@register.filter
def percent(share: float | None) -> str:
    """A share as per cent without decimals; "–" without one."""
    return "–" if share is None else f"{100 * share:.0f} %"


@register.filter
def grouped(number: int) -> str:
    """A number of items with its thousands apart: 12,090."""
    return f"{number:,}"


@register.filter
def line(text: str, length: int = 110) -> str:
    """The beginning of a question on one line, its formulas as signs."""
    plain = readable(text[: length * 4])
    return plain if len(plain) <= length else plain[: length - 1] + "…"


@register.filter
def label_name(name: str) -> str:
    """The name of one of the four labels."""
    return Label(name).label(get_language() or "en") if name in set(Label) else name


@register.simple_tag
def label_value(name: str, value: object) -> str:
    """A value of one label in words; knowledge as its key or its slug; "–" for an empty one."""
    language = get_language() or "en"
    text = str(value or "")
    if not text:
        return "–"
    if name == Label.KNOWLEDGE:
        return knowledge_name(text, language)
    if name == Label.DIFFICULTY:
        return _("Level %(level)s") % {"level": text}
    names = AbilityBranch if name == Label.ABILITY_BRANCH else Modal
    return names(text).label(language) if text in set(names) else text


@register.filter
def content_lang(language: str) -> str:
    """The ``lang`` of an item's text."""
    return "zh-Hans" if language == "zh" else "en"


@register.filter
def column_name(name: str) -> str:
    """What a column of a revision is called for people."""
    names = {
        "passage": _("Passage"),
        "stem": _("Question"),
        "options": _("Options"),
        "letters": _("Letters of the options"),
        "answer_key": _("Answer key"),
        "reference_answer": _("Reference answer"),
        "analysis": _("Analysis"),
        "question_type": _("Type"),
        "full_marks": _("Full marks"),
        "paper_published": _("Paper as published"),
    }
    return names.get(name, name)

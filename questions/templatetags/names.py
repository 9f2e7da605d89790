"""Names of closed lists in the language of the page: ``{{ question.subject|named:"Subject" }}``."""

from __future__ import annotations

import re
from decimal import Decimal

from django import template
from django.utils.translation import get_language

from questions.rules import vocabulary
from questions.rules.vocabulary import Named

register = template.Library()
MARKUP = re.compile(r"\\[a-zA-Z]*|[$*_#`|~^{}]")


@register.filter
def named(value: str, list_name: str) -> str:
    """The name of *value* in the closed list called *list_name*; the value where unknown."""
    names: type[Named] = getattr(vocabulary, list_name)
    try:
        return names(value).label(get_language() or "en")
    except ValueError:
        return value


@register.filter
def points(value: Decimal | str | None) -> str:
    """Marks for the eye: at most two decimals, none that say nothing (``4.50`` is 4.5)."""
    if value is None or value == "":
        return "–"
    shown = f"{Decimal(value):.2f}"
    return shown.rstrip("0").rstrip(".")


@register.filter
def first_words(text: str, length: int = 80) -> str:
    """The beginning of a question on one line, without the signs of its markup."""
    plain = " ".join(MARKUP.sub(" ", text[: length * 4]).split())
    return plain if len(plain) <= length else plain[: length - 1] + "…"

"""Names of closed lists in the language of the page: ``{{ question.subject|named:"Subject" }}``."""

from __future__ import annotations

import re

from django import template
from django.utils.translation import get_language

from questions.rules import vocabulary
from questions.rules.vocabulary import Named

register = template.Library()
MARKUP = re.compile(r"[$*_#`|\\]+|\{|\}")


@register.filter
def named(value: str, list_name: str) -> str:
    """The name of *value* in the closed list called *list_name*; the value where unknown."""
    names: type[Named] = getattr(vocabulary, list_name)
    try:
        return names(value).label(get_language() or "en")
    except ValueError:
        return value


@register.filter
def first_words(text: str, length: int = 80) -> str:
    """The beginning of a question on one line, without the signs of its markup."""
    plain = " ".join(MARKUP.sub(" ", text[: length * 4]).split())
    return plain if len(plain) <= length else plain[: length - 1] + "…"

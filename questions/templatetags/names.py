"""Names of closed lists in the language of the page: ``{{ question.subject|named:"Subject" }}``."""

from __future__ import annotations

import re
from decimal import Decimal

from django import template
from django.utils.translation import get_language

from gradeapp.common.named import Named
from questions.rules import vocabulary
from questions.rules.readable import readable
from questions.rules.task_names import chinese_task_name

register = template.Library()
# The line below a table's head, and the bars at its edges.
TABLE_FRAME = re.compile(r"^[ \t:|-]*-{3}[ \t:|-]*$|^[ \t]*\||\|[ \t]*$", re.MULTILINE)
# Bold words, headings and marks of code; a power 2**3 is none.
MARKDOWN = re.compile(
    r"(?<![A-Za-z0-9)])\*\*(?=\S)([^*\n]{1,300})\*\*|^ {0,3}#{1,6}[ \t]+|`+", re.MULTILINE
)


@register.filter
def named(value: str, list_name: str) -> str:
    """The name of *value* in the closed list called *list_name*; the value where unknown."""
    names: type[Named] = getattr(vocabulary, list_name)
    try:
        return names(value).label(get_language() or "en")
    except ValueError:
        return value


@register.filter
def task_name(slug: str) -> str:
    """A task's slug with blanks, so that it reads and wraps: 2010-2022 Biology MCQs.

    On a Chinese page the examination's Chinese name, where the task is a published one.
    """
    chinese = chinese_task_name(slug) if (get_language() or "").startswith("zh") else None
    return chinese or slug.replace("_", " ")


@register.filter
def points(value: Decimal | str | None) -> str:
    """Marks for the eye: at most two decimals, none that say nothing (``4.50`` is 4.5)."""
    if value is None or value == "":
        return "–"
    shown = f"{Decimal(value):.2f}"
    return shown.rstrip("0").rstrip(".")


@register.filter
def first_words(text: str, length: int = 80) -> str:
    """The beginning of a text on one line, its formulas as signs (``x²``) and without markup."""
    # Source is longer than what is seen of it; what is cut off here lies beyond what is shown.
    plain = readable(TABLE_FRAME.sub("", text[: length * 12]))
    return plain if len(plain) <= length else plain[: length - 1] + "…"


@register.filter
def response_words(text: str, length: int = 80) -> str:
    """The same of a model's response, without its Markdown: exam texts have none."""
    return first_words(MARKDOWN.sub(lambda found: found[1] or "", text[: length * 12]), length)

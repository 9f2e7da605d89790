"""Tags of the marking page: keyboard keys, and scoring points."""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from evaluations.marking.desk.forms.marks import Line
from evaluations.marking.desk.rules.desk_keys import Action
from gradeapp.common.remembered import remembered
from questions.rules.question_parts import Part, split_subs

register = template.Library()


@register.simple_tag
def key(drawn: str) -> SafeString:
    """Render a keyboard key, as in ``{% key prefs.keys.undo %}``; "" for no key."""
    return format_html("<kbd>{}</kbd>", drawn) if drawn else SafeString("")


@register.simple_tag
def point(line: Line, lang: str, images: Mapping[str, str]) -> SafeString:
    """Render a scoring point, as in ``{% point line lang images %}``.

    The result is cached, because most responses have no points yet and so the same lines.
    """
    return _point(line, lang, tuple(sorted(images.items())), get_language() or "en")


@remembered(maxsize=8000)
def _point(line: Line, lang: str, images: tuple[tuple[str, str], ...], language: str) -> SafeString:
    context = {"line": line, "lang": lang, "desk": {"images": dict(images)}}
    return render_to_string("evaluations/marking/desk/_point.html", context)


@register.filter
def does(action: Action) -> str:
    """Return what a key does, in the reader's language."""
    return action.label(get_language() or "en")


@register.filter
def in_parts(text: str) -> tuple[Part, ...]:
    """Split a text at its sub-questions: ``{% for part in item.answer_key|in_parts %}``."""
    return split_subs(text)

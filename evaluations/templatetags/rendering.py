"""Filters that render untrusted text: ``{{ text|rendered }}``, ``{{ text|rendered:images }}``.

``{{ text|rendered_key }}`` is for answer keys, in which blanks only separate answers,
``{{ text|rendered_response }}`` for texts of models, which may contain Markdown, and
``{{ text|flowing|rendered }}`` for texts of the bank with the line breaks of a printed page.
"""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from gradeapp.common.hidden_text import hidden_kinds, with_code_points
from gradeapp.rendering import LONGEST, Change, Kind, changes_of, render_text
from questions.rules.layout_breaks import without_layout_breaks

register = template.Library()


@register.filter
def rendered(text: str, images: Mapping[str, str] | None = None) -> SafeString:
    """Return safe HTML of a text of an examination or of a person."""
    return render_text(text or "", images)


@register.filter
def rendered_key(text: str, images: Mapping[str, str] | None = None) -> SafeString:
    """Return safe HTML of an answer key, without gaps to fill in."""
    return render_text(text or "", images, kind=Kind.KEY)


@register.filter
def rendered_response(text: str) -> SafeString:
    """Return safe HTML of a text of a model: a response, or the reply of a judge."""
    return render_text(text or "", kind=Kind.RESPONSE)


@register.filter
def display_changes(text: str) -> list[str]:
    """Return sentences about parts of a text that are not shown as written."""
    sentences = {
        Change.CUT: _("Only the first %(number)s characters are shown.") % {"number": LONGEST},
        Change.REPLACED: _("Characters that cannot be displayed are replaced by a symbol."),
    }
    return [sentences[change] for change in changes_of(text or "")]


@register.filter
def hidden_text(text: str) -> list[str]:
    """Return how a text hides words, in the reader's language; empty for almost every text."""
    language = get_language() or "en"
    return [kind.label(language) for kind in hidden_kinds(text or "")]


@register.filter
def code_points(text: str) -> str:
    """Return a text with the number of each invisible character in brackets."""
    return with_code_points(text or "")


@register.filter
def flowing(text: str) -> str:
    """Return a text of the bank without the line breaks of the printed page."""
    return without_layout_breaks(text or "")

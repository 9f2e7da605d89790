"""``{{ text|rendered }}`` and ``{{ text|rendered:images }}``: the one renderer, for templates.

``{{ text|flowing|rendered }}`` for texts of the bank, whose lines a printed page may have broken.
"""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.utils.safestring import SafeString

from gradeapp.rendering import render_text
from questions.rules.layout_breaks import without_layout_breaks

register = template.Library()


@register.filter
def rendered(text: str, images: Mapping[str, str] | None = None) -> SafeString:
    """Safe HTML of text that a benchmark, a model or a person wrote."""
    return render_text(text or "", images)


@register.filter
def flowing(text: str) -> str:
    """A text of the bank without the line ends of the page that it was taken from."""
    return without_layout_breaks(text or "")

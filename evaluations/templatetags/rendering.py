"""``{{ text|rendered }}`` and ``{{ text|rendered:images }}``: the one renderer, for templates."""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.utils.safestring import SafeString

from gradeapp.rendering import render_text

register = template.Library()


@register.filter
def rendered(text: str, images: Mapping[str, str] | None = None) -> SafeString:
    """Safe HTML of text that a benchmark, a model or a person wrote."""
    return render_text(text or "", images)

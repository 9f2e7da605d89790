"""The desk's own tags: a key as it stands on a button."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from evaluations.rules.marking.desk_keys import Action

register = template.Library()


@register.simple_tag
def key(drawn: str) -> SafeString:
    """``{% key prefs.keys.undo %}``: the key in its box; nothing for who has no such key."""
    return format_html("<kbd>{}</kbd>", drawn) if drawn else SafeString("")


@register.filter
def does(action: Action) -> str:
    """What a key does, in the reader's language."""
    return action.label(get_language() or "en")

"""``{{ text|rendered }}`` and ``{{ text|rendered:images }}``: the one renderer, for templates.

``{{ text|rendered_key }}`` for answer keys, in which blanks only keep answers apart;
``{{ text|rendered_response }}`` for texts of models, which may hold a little Markdown;
``{{ text|flowing|rendered }}`` for texts of the bank, whose lines a printed page may
have broken.
"""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from gradeapp.rendering import LONGEST, Change, Kind, changes_of, render_text
from questions.rules.layout_breaks import without_layout_breaks

register = template.Library()


@register.filter
def rendered(text: str, images: Mapping[str, str] | None = None) -> SafeString:
    """Safe HTML of a text of an examination, or of one that a person wrote."""
    return render_text(text or "", images)


@register.filter
def rendered_key(text: str, images: Mapping[str, str] | None = None) -> SafeString:
    """Safe HTML of an answer key, without gaps to fill in."""
    return render_text(text or "", images, kind=Kind.KEY)


@register.filter
def rendered_response(text: str) -> SafeString:
    """Safe HTML of a text that a model wrote: a response, or the reply of a judge."""
    return render_text(text or "", kind=Kind.RESPONSE)


@register.filter
def display_changes(text: str) -> list[str]:
    """What of a text cannot be shown as it was written, in sentences; usually nothing."""
    sentences = {
        Change.CUT: _("Only the first %(number)s characters are shown.") % {"number": LONGEST},
        Change.REPLACED: _("Characters that cannot be displayed are replaced by a symbol."),
    }
    return [sentences[change] for change in changes_of(text or "")]


@register.filter
def flowing(text: str) -> str:
    """A text of the bank without the line ends of the page that it was taken from."""
    return without_layout_breaks(text or "")

"""Closed lists in the reader's language: one name, and the choices of a form field."""

from __future__ import annotations

from django.utils.translation import get_language

from gradeapp.common.named import Named


def choices_of(names: type[Named]) -> list[tuple[str, str]]:
    """Value and name of a closed list in the language of the page."""
    return [(name.value, name.label(get_language() or "en")) for name in names]


def label(names: type[Named], value: str) -> str:
    """The name of *value* in a closed list, in the reader's language; the value where unknown."""
    try:
        return names(value).label(get_language() or "en")
    except ValueError:
        return value

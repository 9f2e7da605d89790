"""Fenced texts in prompts."""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    """Return *text* without invisible characters (format, tag and control characters)."""
    return "".join(
        character
        for character in text
        if character in "\n\t" or unicodedata.category(character) not in ("Cf", "Cc", "Co", "Cs")
    )

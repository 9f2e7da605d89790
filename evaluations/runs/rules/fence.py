"""What a model is shown of a text that stands behind a fence."""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    """*text* without characters that a teacher cannot see (format, tag and control characters)."""
    return "".join(
        character
        for character in text
        if character in "\n\t" or unicodedata.category(character) not in ("Cf", "Cc", "Co", "Cs")
    )

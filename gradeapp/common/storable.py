"""Text of strangers in a form that every database can hold."""

from __future__ import annotations

import re

# PostgreSQL refuses NUL, and no encoder takes a lone surrogate.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str, longest: int | None = None) -> str:
    """*text* with U+FFFD for what cannot be stored, cut to *longest* characters."""
    return UNSTORABLE.sub("\ufffd", text)[:longest]

"""Pure: the text of a row, and the hash of a link. It knows no Django."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime

# What the first link follows.
GENESIS = "0" * 64


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    raise TypeError(f"{type(value).__name__} cannot be sealed")


def text_of(row: Mapping[str, object]) -> str:
    """Return *row* as JSON with sorted keys and times in UTC: equal rows have equal texts.

    Raises TypeError for what is neither JSON nor a time with a zone.
    """
    return json.dumps(row, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=_plain)


def link(previous: str, position: int, note: str, row: Mapping[str, object]) -> str:
    """Return the SHA-256 of a link, hexadecimal: of the link before it, its place, and its row."""
    text = f"{previous}\n{position}\n{note}\n{text_of(row)}"
    return hashlib.sha256(text.encode("ascii")).hexdigest()

"""Mask API keys and passwords in texts: error bodies of endpoints, and lines of the log."""

from __future__ import annotations

import logging
import re

MASK = "***"
_KEYS = (
    re.compile(r"(?i)\b(bearer\s+)[^\s\"',;<>]+"),
    re.compile(r"(?i)\b(basic\s+)[A-Za-z0-9+/=]{8,}"),
    re.compile(r"(?i)(\bx?-?api[-_ ]?key[\"']?\s*[=:]\s*[\"']?)[^\s\"',;&<>]+"),
    re.compile(r"(://)[^/\s@]+(?=@)"),
    re.compile(r"\b(sk-)[^\s\"',;<>]+"),
)


def mask_keys(text: str) -> str:
    """Return *text* with what follows ``sk-``, ``Bearer``, ``api_key=`` and the like masked."""
    for pattern in _KEYS:
        text = pattern.sub(rf"\g<1>{MASK}", text)
    return text


class MaskingFormatter(logging.Formatter):
    """A formatter that masks keys in the whole line, its traceback included."""

    def format(self, record: logging.LogRecord) -> str:
        return mask_keys(super().format(record))

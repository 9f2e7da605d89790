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


# A letter of ASCII that JSON need not escape, escaped all the same.
_ESCAPED_ASCII = re.compile(r"\\u00[2-7]", re.IGNORECASE)


def _bare(text: str) -> str:
    return text.replace("\\", "").replace("\0", "")


class SecretMask:
    """Mask one secret, also as JSON may spell it: ``\\/``, ``\\u0061``, also escaped again.

    Without a secret nothing changes.
    """

    def __init__(self, secret: str | None) -> None:
        self._secret = secret or ""
        self._pattern = re.compile(_spellings(secret)) if secret else None

    def text(self, text: str) -> str:
        """Return *text* without the secret."""
        if self._pattern is None or not self._may_be_in(text):
            return text
        return self._pattern.sub(MASK, text)

    def _may_be_in(self, text: str) -> bool:
        """Return whether the pattern, which takes a hundred times as long, has to look."""
        if not self._secret.isascii() or _ESCAPED_ASCII.search(text):
            return True
        return _bare(self._secret) in _bare(text)

    def raw(self, data: bytes) -> bytes:
        """Return *data*, UTF-8 or not, without the secret."""
        if self._pattern is None:
            return data
        return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _spellings(secret: str) -> str:
    """Return the pattern of all spellings of *secret*.

    Between two characters there may be backslashes, and NUL, which is removed where texts are
    stored. Their number is limited, so that a long run of them is read once.
    """
    letters = [rf"(?:{re.escape(one)}|\\u(?i:{ord(one):04x}))" for one in secret]
    # The backslashes before the first belong to it, or what is left of the JSON would be broken.
    letters[0] = rf"(?:{re.escape(secret[0])}|\\{{1,16}}u(?i:{ord(secret[0]):04x}))"
    if not secret[0].isalnum():
        letters[0] = rf"\\{{0,16}}{letters[0]}"
    return r"[\\\x00]{0,16}".join(letters)


class MaskingFormatter(logging.Formatter):
    """A formatter that masks keys in the whole line, its traceback included."""

    def format(self, record: logging.LogRecord) -> str:
        return mask_keys(super().format(record))

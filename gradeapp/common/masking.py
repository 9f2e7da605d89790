"""Mask API keys, passwords and links in texts: error bodies of endpoints, and lines of the log."""

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

    The time is linear in the length of the text, whatever the text is: 20 MB take less than a
    second, and ten times as long for a key of one letter repeated. To mask in a thread would not
    help the event loop, because ``re`` keeps the lock of the interpreter. Without a secret nothing
    changes.
    """

    def __init__(self, secret: str | None) -> None:
        self._letters = _bare(secret or "")
        self._pattern = re.compile(_spellings(secret)) if secret and self._letters else None

    def text(self, text: str) -> str:
        """Return *text* without the secret."""
        if self._pattern is None or not self._may_be_in(text):
            return text
        return self._pattern.sub(MASK, text)

    def _may_be_in(self, text: str) -> bool:
        """Return whether the pattern, which takes a hundred times as long, has to look."""
        if not self._letters.isascii() or _ESCAPED_ASCII.search(text):
            return True
        return self._letters in _bare(text)

    def raw(self, data: bytes) -> bytes:
        """Return *data*, UTF-8 or not, without the secret."""
        if self._pattern is None:
            return data
        return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _spellings(secret: str) -> str:
    """Return the pattern of all spellings of *secret*.

    Before each character there may be any number of backslashes, and of NUL, which is removed where
    texts are stored. Those before the first belong to it, or what is left of the JSON would be
    broken. A match begins only where such a run begins, and gives nothing of a run back, so that
    each run is read once.
    """
    run = r"[\\\0]*+"
    # A backslash of the secret itself may be escaped like a letter.
    between = r"(?:[\\\0]|(?<=\\)u(?i:005c))*+" if "\\" in secret else run
    letters = [rf"(?:(?<=\\)u(?i:{ord(one):04x})|{re.escape(one)})" for one in _bare(secret)]
    return rf"(?<![\\\0]){run}" + between.join(letters)


# Whoever has such an address sets a password, or makes an account.
_LINKS = re.compile(r"(/(?:reset|invitation)/)[^/\s\"'<>]+")


class MaskingFormatter(logging.Formatter):
    """A formatter that masks keys and links in the whole line, its traceback included."""

    def format(self, record: logging.LogRecord) -> str:
        return _LINKS.sub(rf"\g<1>{MASK}", mask_keys(super().format(record)))

"""Words that a person looks for, and text to look in: without case, width and formula markup.

Chinese has no blanks between words, so a word is found wherever its characters
stand in a row. Full-width and half-width signs are one (ＡＢＣ１２３ is abc123).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from gradeapp.common.normal_form import normal_form
from questions.rules.readable import readable

MAX_WORDS = 8
MAX_LENGTH = 100


class _Folding(dict[int, str]):
    """Code point to its folded form, worked out once: a table for ``str.translate``."""

    def __missing__(self, code: int) -> str:
        folded = unicodedata.normalize("NFKC", chr(code)).casefold()
        self[code] = folded
        return folded


_FOLDING = _Folding()


def fold(text: str) -> str:
    """*text* without case and width."""
    if text.isascii():  # nothing to compose, nothing wide
        return text.lower()
    return normal_form("NFC", text).translate(_FOLDING)


def search_text(parts: Sequence[str]) -> str:
    """What search looks in: *parts* readable and folded, one a line."""
    return "\n".join(filter(None, (fold(readable(part)) for part in parts)))


def search_words(query: str) -> list[str]:
    """The folded words of *query*, each once, at most ``MAX_WORDS``; formulas are read as text."""
    return _words(query)[:MAX_WORDS]


def searchable(query: str) -> bool:
    """Whether *query* can be looked for as a whole: not too long, and more than markup."""
    return len(query) <= MAX_LENGTH and 0 < len(_words(query)) <= MAX_WORDS


def _words(query: str) -> list[str]:
    plain = fold(readable(query[:MAX_LENGTH].replace("\x00", " ")))
    return list(dict.fromkeys(plain.split()))


Piece = tuple[str, bool]


def snippet(parts: Sequence[str], words: Sequence[str], width: int = 90) -> list[Piece]:
    """A line around the first hit: pieces of text, and whether each is a hit; [] without one.

    *parts* are texts of an item in the order in which they are looked through;
    *width* is about how many characters are shown.
    """
    for part in parts:
        shown = normal_form("NFC", readable(part))
        folded, places = _with_places(shown)
        starts = [at for word in words if (at := folded.find(word)) >= 0]
        if starts:
            first = places[min(starts)]
            begin = max(0, first - width // 5)
            return _pieces(shown, folded, places, words, begin, begin + width)
    return []


def beginning(text: str, words: Sequence[str], width: int = 110) -> list[Piece]:
    """The first *width* characters of *text* on one line, with what *words* find in them."""
    shown = normal_form("NFC", readable(text[: width * 4]))
    if not words:
        plain = shown if len(shown) <= width else shown[: width - 1] + "…"
        return [(plain, False)] if plain else []
    folded, places = _with_places(shown)
    return _pieces(shown, folded, places, words, 0, width)


def _with_places(shown: str) -> tuple[str, list[int]]:
    """*shown* folded, and of each folded character the place that it comes from, and the end."""
    folded, places = [], []
    for place, sign in enumerate(shown):
        signs = _FOLDING[ord(sign)]
        folded.append(signs)
        places += [place] * len(signs)
    return "".join(folded), [*places, len(shown)]


def _pieces(
    shown: str, folded: str, places: Sequence[int], words: Sequence[str], begin: int, end: int
) -> list[Piece]:
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    pieces: list[Piece] = [("…", False)] if begin else []
    at = begin
    for hit in re.finditer(pattern, folded):
        start, stop = places[hit.start()], places[hit.end() - 1] + 1
        if start < at or start >= end:
            continue
        pieces += [(shown[at:start], False), (shown[start:stop], True)]
        at = stop
    pieces.append((shown[at : max(at, end)], False))
    if end < len(shown):
        pieces.append(("…", False))
    return [piece for piece in pieces if piece[0]]

"""Cuts an answer in normal form at its top level: outside all brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")


def top_level(text: str) -> Iterator[int]:
    """The positions of *text* that stand outside brackets, the brackets left out."""
    depth = 0
    for position, character in enumerate(text):
        if character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth = max(depth - 1, 0)
        elif not depth:
            yield position


def split(text: str, separators: str) -> list[str]:
    """*text* cut at each of the characters *separators* at the top level."""
    cuts = [place for place in top_level(text) if text[place] in separators]
    starts = [0, *(cut + 1 for cut in cuts)]
    return [text[start:end].strip() for start, end in zip(starts, [*cuts, len(text)], strict=True)]


def split_list(text: str) -> list[str]:
    """*text* cut at its commas, without those between the thousands of a number."""
    kept = {place for match in _THOUSANDS.finditer(text) for place in range(*match.span())}
    cuts = [place for place in top_level(text) if text[place] == "," and place not in kept]
    starts = [0, *(cut + 1 for cut in cuts)]
    pieces = [text[a:b].strip() for a, b in zip(starts, [*cuts, len(text)], strict=True)]
    return [piece for piece in pieces if piece]


def enclosed(text: str) -> tuple[str, str, str] | None:
    """Opening bracket, content and closing bracket, where one pair holds all of *text*."""
    opener = 2 if text.startswith(r"\{") else 1
    if not text or text[opener - 1] not in _OPEN or text[-1] not in _CLOSE:
        return None
    depth = 0
    for position, character in enumerate(text[:-1]):
        depth += (character in _OPEN) - (character in _CLOSE)
        if not depth and position >= opener - 1:
            return None
    if depth != 1:
        return None
    closer = 2 if text.endswith(r"\}") else 1
    return text[opener - 1], text[opener : len(text) - closer].strip(), text[-1]

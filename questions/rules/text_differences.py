"""What changed between two versions of a text, word by word, Chinese sign by sign.

The longest common subsequences of Python's difflib, so that a repair of one
letter reads as one letter. A very long text is compared line by line instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

MOST_WORDS = 3000
AROUND = 60
_WORDS = re.compile(r"[A-Za-z0-9]+|\s+|.", re.DOTALL)
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

Kind = Literal["same", "gone", "new", "skipped"]


class Piece(NamedTuple):
    """A stretch of text: in both, only before, only after; skipped stands for much of the same."""

    kind: Kind
    text: str


def differences(before: str, after: str) -> list[Piece]:
    """The pieces of both texts in order; [] where nothing changed.

    Of what stayed the same, ``AROUND`` characters are kept beside each change.
    """
    return [] if before == after else list(_shortened(list(_pieces(before, after))))


def _pieces(before: str, after: str) -> Iterator[Piece]:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if len(old) + len(new) > MOST_WORDS:
        old, new = _LINES.findall(before), _LINES.findall(after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for what, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        gone, come = "".join(old[old_from:old_to]), "".join(new[new_from:new_to])
        if what == "equal":
            yield Piece("same", gone)
            continue
        if gone:
            yield Piece("gone", gone)
        if come:
            yield Piece("new", come)


def _shortened(pieces: list[Piece]) -> Iterator[Piece]:
    last = len(pieces) - 1
    for place, piece in enumerate(pieces):
        if piece.kind != "same" or len(piece.text) <= 2 * AROUND + 20:
            yield piece
            continue
        if place:
            yield Piece("same", piece.text[:AROUND])
        yield Piece("skipped", "…")
        if place < last:
            yield Piece("same", piece.text[-AROUND:])

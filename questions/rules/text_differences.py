"""What changed between two versions of a text, word by word, Chinese sign by sign.

What both texts begin and end with is set aside, and the rest compared by Python's difflib, so
that a repair of one letter reads as one letter. A long rest is compared line by line instead, and
one of very many lines as a whole: the time of difflib grows with the product of both lengths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

# The most pairs of words, or of lines, that difflib compares: some 20 ms in the worst case.
MOST_PAIRS = 250_000
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
    first = alike(old, new)
    last = alike(old[first:][::-1], new[first:][::-1])
    yield from _piece("same", old[:first])
    old, end = _cut(old[first:], last)
    new, _same = _cut(new[first:], last)
    if len(old) * len(new) > MOST_PAIRS:
        old, new = _LINES.findall("".join(old)), _LINES.findall("".join(new))
    if len(old) * len(new) > MOST_PAIRS:
        yield from _piece("gone", old)
        yield from _piece("new", new)
    else:
        yield from _compared(old, new)
    yield from _piece("same", end)


def _compared(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for what, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if what == "equal":
            yield from _piece("same", old[old_from:old_to])
        else:
            yield from _piece("gone", old[old_from:old_to])
            yield from _piece("new", new[new_from:new_to])


def _piece(kind: Kind, parts: Sequence[str]) -> Iterator[Piece]:
    if parts:
        yield Piece(kind, "".join(parts))


def alike(old: Sequence[str], new: Sequence[str]) -> int:
    """How many parts both begin with."""
    return next(
        (place for place, (one, other) in enumerate(zip(old, new, strict=False)) if one != other),
        min(len(old), len(new)),
    )


def _cut(parts: list[str], last: int) -> tuple[list[str], list[str]]:
    """Return *parts* without their *last* ones, and those."""
    middle = len(parts) - last
    return parts[:middle], parts[middle:]


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

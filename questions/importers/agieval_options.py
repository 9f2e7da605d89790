"""The options of an AGIEval item: printed letters taken off, in the order of the letters.

``(A)text`` is the published form; ``A．text``, ``A. text``, ``A: text`` and ``A text``
stand beside it, sometimes in one list. Options printed in two columns stand as
A, C, B, D: the key names the printed letter, so they are put in order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

ALPHABET = "ABCDEFGHIJ"

_BRACKETED = re.compile(r"\s*[(（]\s*([A-J])\s*[)）]")
# Looser forms are words of a sentence too ("A man"), so they count only where all options agree.
_LOOSE = re.compile(r"\s*([A-J])\s*(?:[.．。、,，:：?？]|(?=\s))")
_NEXT = re.compile(r"\s+(?=[(（]?[B-J][)）.．、])")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Texts in the order of *letters*; *note* is a code and a sentence where they were odd."""

    letters: str
    texts: tuple[str, ...]
    note: tuple[str, str] | None = None


def read_options(options: Sequence[str]) -> ReadOptions:
    """*options* without their letters.

    A printed letter counts where every option has another one; otherwise the
    place in the list does, and the note says that letters repeat or are missing.
    """
    letters = ALPHABET[: len(options)]
    read = [_split(option, loosely=False) for option in options]
    loose = [_split(option, loosely=True) for option in options]
    if sorted(letter for letter, _ in loose) == list(letters):
        read = loose
    printed = "".join(letter for letter, _ in read)
    texts = [text for _, text in read]
    if printed == letters:
        return ReadOptions(letters, tuple(texts))
    if sorted(printed) == list(letters):
        in_order = tuple(texts[printed.index(letter)] for letter in letters)
        text = f"The options stood as {', '.join(printed)}; they were put in order."
        return ReadOptions(letters, in_order, ("options_reordered", text))
    shown = ", ".join(letter or "none" for letter, _ in read)
    text = f"The options are lettered {shown}; their places were taken instead."
    return ReadOptions(letters, tuple(texts), ("option_letters", text))


def apart(options: list[str]) -> list[str]:
    """Options that stand in one text (``A. one<tab>B. two``) as a list; others as they are."""
    return _NEXT.split(options[0].strip()) if len(options) == 1 else options


def _split(option: str, *, loosely: bool) -> tuple[str, str]:
    """The printed letter, "" without one, and the rest of the option."""
    match = _BRACKETED.match(option)
    if match is None and loosely:
        match = _LOOSE.match(option)
    if match is None:
        return "", option.strip()
    return match[1], option[match.end() :].strip()

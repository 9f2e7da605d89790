"""Which sentences of a text another one does not have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# A sentence ends with its sign or with its line; what follows the last sign is one too.
_SENTENCE = re.compile(r"[^\n。！？；!?;.]*(?:[\n。！？；!?;]|\.(?=\s|$)|\.)+|[^\n。！？；!?;.]+")


@dataclass(frozen=True)
class Sentence:
    """A piece of a text, and whether the text that it is compared with does not have it."""

    text: str
    differs: bool


def sentences(text: str) -> list[str]:
    """Return *text* in its sentences; joined they are the text."""
    return _SENTENCE.findall(text)


def differing(text: str, other: str) -> Sequence[Sentence]:
    """Return the pieces of *text*: neighbours are joined that both texts have, or only this one.

    Sentences are compared without their white space. The work is linear in both lengths.
    """
    known = {_plain(one) for one in sentences(other)}
    pieces: list[Sentence] = []
    for one in sentences(text):
        differs = bool(plain := _plain(one)) and plain not in known
        if pieces and pieces[-1].differs == differs:
            pieces[-1] = Sentence(pieces[-1].text + one, differs)
        else:
            pieces.append(Sentence(one, differs))
    return pieces


def _plain(sentence: str) -> str:
    return "".join(sentence.split())


def around(text: str, words: str, *, each_side: int = 90) -> tuple[str, str, str]:
    """Return what stands before, at and after the first place of *words* in *text*.

    Letters of both cases are equal. If *words* are empty or not found, the beginning is returned
    as what stands after. An ellipsis stands where the text goes on.
    """
    at = text.lower().find(words.lower()) if words else -1
    if at < 0:
        at, words, each_side = 0, "", 2 * each_side
    end = at + len(words)
    before, after = text[max(0, at - each_side) : at], text[end : end + each_side]
    if at > each_side:
        before = f"…{before}"
    if len(text) > end + each_side:
        after = f"{after}…"
    return before, text[at:end], after

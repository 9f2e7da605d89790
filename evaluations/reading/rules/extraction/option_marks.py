"""Options with a mark or a share for each: "A√ B× C√ D×", "A: Yes; B: No", "C (60%), B (40%)"."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from evaluations.reading.rules.extraction.reading import Reading
from evaluations.reading.rules.extraction.source_text import SourceText

_RIGHT = "√✓✔✅☑"
_WRONG = "×✗✘❌✖"
_SIGN = f"[{_RIGHT}{_WRONG}]"
_WORD = r"(?i:yes|no|true|false)(?![A-Za-z])|[对错](?=[\s,;.。、]|\Z)"
_RIGHT_WORDS = frozenset({*_RIGHT, "yes", "true", "对"})
_GAP = re.compile(r"[\s,;.。、)]{0,6}")
_FEWEST = 3


def marked(source: SourceText, letters: str) -> Reading | None:
    """The letters marked right, where each of *letters* has a mark, in one list.

    Undecided where all are marked alike.
    """
    if len(letters) < _FEWEST:
        return None
    for pattern in _marks(letters):
        marks = list(pattern.finditer(source.text))[-len(letters) :]
        gaps = (source.text[one.end() : other.start()] for one, other in pairwise(marks))
        if "".join(sorted(mark["letter"] for mark in marks)) != letters:
            continue
        if not all(_GAP.fullmatch(gap) for gap in gaps):
            continue
        right = tuple(m["letter"] for m in marks if m["mark"].lower() in _RIGHT_WORDS)
        span = source.span(marks[0].start(), marks[-1].end())
        undecided = len(right) in (0, len(letters))
        return Reading(right or tuple(letters), span, "affirmation", "marked", 0.7, undecided)
    return None


def shared_out(source: SourceText, letters: str) -> Reading | None:
    """An undecided reading where several letters have a share in per cent each."""
    shares = list(_shares(letters).finditer(source.text))
    names = tuple(dict.fromkeys(share["letter"] for share in shares))
    if len(names) < 2:
        return None
    span = source.span(shares[0].start(), shares[-1].end())
    return Reading(names, span, "leading", "shares", 0.5, undecided=True)


@lru_cache(maxsize=64)
def _marks(letters: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    letter = rf"[(\[]?(?<![A-Za-z])(?P<letter>[{re.escape(letters)}])(?![A-Za-z])[)\]]?"
    return (
        re.compile(rf"{letter}(?:选?项)?\s{{0,2}}[.:、]?\s{{0,2}}(?P<mark>{_SIGN}|{_WORD})"),
        re.compile(rf"(?P<mark>{_SIGN})\s{{0,2}}{letter}"),
    )


@lru_cache(maxsize=64)
def _shares(letters: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![A-Za-z])(?P<letter>[{re.escape(letters)}])(?![A-Za-z])\)?\s?[(:]?\s?\d{{1,3}}\s?%"
    )

"""Reading an answer by patterns that a search found and a person accepted.

An expression is a regular expression of escaped words and bounded classes with
``<letters>`` in the place of the answer (``pattern_mining_shapes`` writes them). Every
quantifier has an upper bound, so a search takes bounded time at each character.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evaluations.reading.rules.extraction import patterns as p
from evaluations.reading.rules.extraction.reading import Reading
from evaluations.reading.rules.extraction.source_text import SourceText
from questions.rules.vocabulary import QuestionType

LETTERS = "<letters>"
CONFIDENCE = 0.6

# The answer is at the end: only the last matches count, and only the end of a long text is read.
_MOST_MATCHES = 40
_LONGEST = 20_000
_STRONG = r" {0,2}(?:[、&+和与及]|,? and ) {0,2}|"
_WEAK = rf" {{0,2}}[, ] {{0,2}}|{_STRONG}"
_LIST_END = r"(?= {0,3}(?:[.。;:!?)\]】\n\x1e]|\Z))"
_NO_WORD_LEFT = r"(?<![A-Za-z0-9\\^_])"
_NO_WORD_RIGHT = r"(?![A-Za-z0-9^_]|'[a-z]| ?[=^≥≤≠])"
_OPENING = " ([{\"'【"
_OR = re.compile(r" {0,2}(?:或者?|或是|\bor\b|/) {0,2}(?:选项?)? {0,2}[A-Z](?![A-Za-z])")


@dataclass(frozen=True, slots=True)
class ReadingPattern:
    """One accepted pattern; ``question_type`` is the type of the responses it was found in."""

    name: str
    question_type: str
    expression: str


@dataclass(frozen=True, slots=True)
class Match:
    """The place of a match, the start of its letters, and the letters in order."""

    start: int
    letters_start: int
    end: int
    letters: str
    undecided: bool


def option_letters(question_type: str, letters: str) -> str:
    """Return the options of an item; A to D, or A to G, if *letters* is empty."""
    default = "ABCDEFG" if question_type == QuestionType.FIVE_OUT_OF_SEVEN else "ABCD"
    return "".join(sorted(set(letters.upper()))) or default


def lettering(letters: str) -> str:
    """Return the expression of one answer: a letter of *letters* or a list of them.

    Commas and blanks join letters only if the list ends its phrase: "B, C错误" names B.
    """
    one = f"[{re.escape(letters)}]"
    lists = f"{one}(?:(?:{_WEAK}){one}){{1,6}}{_LIST_END}|{one}(?:(?:{_STRONG}){one}){{0,6}}"
    return f"{_NO_WORD_LEFT}(?P<letters>{lists}){_NO_WORD_RIGHT}"


@lru_cache(maxsize=4096)
def compiled(expression: str, letters: str) -> re.Pattern[str]:
    """Compile *expression* for an item with option *letters*."""
    return re.compile(expression.replace(LETTERS, lettering(letters)))


def matches(expression: str, text: str, letters: str) -> list[Match]:
    """Return the last matches of *expression* in plain *text* that are not negated, in order.

    Only the last 20,000 characters are searched.
    """
    begin = max(0, len(text) - _LONGEST)
    found = deque(compiled(expression, letters).finditer(text, begin), maxlen=_MOST_MATCHES)
    kept = []
    for one in found:
        start, end = one.span("letters")
        if not is_negated(text, start, end):
            named = "".join(character for character in one["letters"] if character in letters)
            kept.append(Match(one.start(), start, end, named, bool(_OR.match(text, end))))
    return kept


def is_negated(text: str, start: int, end: int) -> bool:
    """Return whether ``text[start:end]`` is ruled out, a question, a condition or in a noun."""
    left = text[max(0, start - p.LEFT_WINDOW) : start].rstrip(_OPENING)
    right = text[end : end + p.RIGHT_WINDOW]
    return bool(
        p.negated_left(left)
        or p.REJECTED_RIGHT.match(right)
        or p.QUESTION_RIGHT.match(right)
        or p.CONDITION_RIGHT.match(right)
        or p.NOUN_RIGHT.match(right)
    )


def answer_of(found: Sequence[Match], parts: int) -> list[Match]:
    """Return those matches of one pattern that are the answer.

    One question: the last match. Several: all, if they name as many letters as there
    are questions, else none.
    """
    if parts == 1:
        return list(found[-1:])
    return list(found) if sum(len(match.letters) for match in found) == parts else []


def read_by_patterns(
    source: SourceText, letters: str, patterns: Iterable[ReadingPattern], parts: int = 1
) -> Reading | None:
    """Read *source* by *patterns*; None if none of them matches.

    *letters* are the item's options, *parts* its number of sub-questions. Of several
    patterns the one whose match ends last decides; of equal ends the one that begins
    first. Letters are in order of appearance. The time is bounded for each pattern.
    """
    readings = (
        (answer, pattern)
        for pattern in patterns
        if (answer := answer_of(matches(pattern.expression, source.text, letters), parts))
    )
    best = max(readings, key=lambda one: (one[0][-1].end, -one[0][-1].start), default=None)
    if best is None:
        return None
    answer, pattern = best
    return Reading(
        letters=tuple("".join(match.letters for match in answer)),
        span=source.span(answer[0].start, answer[-1].end),
        method="mined",
        pattern=pattern.name,
        confidence=CONFIDENCE,
        undecided=any(match.undecided for match in answer),
        places=tuple(
            source.span(place, place + 1)
            for match in answer
            for place in range(match.letters_start, match.end)
            if source.text[place] in letters
        ),
    )

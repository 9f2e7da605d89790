"""Letters beside a text: lists of options, options with marks, a letter with its reasons."""

from __future__ import annotations

import re
from itertools import pairwise

from evaluations.reading.rules.extraction.mentions import find_mentions
from evaluations.reading.rules.extraction.patterns import (
    FAULTED_CLAUSE,
    REJECTED_CLAUSE,
    for_letters,
)
from evaluations.reading.rules.extraction.reading import Reading
from evaluations.reading.rules.extraction.source_text import SourceText

# The longest list of one commitment, in characters.
_REACH = 400
_FEWEST = 3
# The mark right after the letter of an option; the other options of its list have the same.
_FORM = re.compile(r"\s?(?:(?P<dot>[.:、)])|(?P<word>选项|项))(?=\s?[^\s.,:;。、)])")
_WORD_SIBLINGS = r"[;]\s{0,2}[(\[]?(?P<letter>[LETTERS])[)\]]?\s?(?:选项|项)"
_DOT_SIBLINGS = (
    r"(?:[;,、和与及或]|以及|或者|\n|\band\b|\bor\b)\s{0,3}[(\[]?"
    r"(?P<letter>[LETTERS])\s?[.:、)](?=\s?[^\s.,:;。、)A-G])"
)
_LABELS = r"(?:(?<=[\s;,。(:])|\A)(?P<letter>[LETTERS])\)?\s?[.:、)](?=\s{0,3}[^\s.,:;。、A-G])"
_REASON = re.compile(r"\s{0,2}(?:因为|由于|理由|原因|解析|because\b|since\b|as\b)", re.IGNORECASE)
_SENTENCE = re.compile(r"[^。!\n\x1e]*")
_NEXT_LINES = re.compile(r"[^\n\x1e]*(?:\n[ \t]{0,4}(?=[(\[]?[A-G])[^\n\x1e]*)*")


def also_listed(text: str, letter_start: int, letter_end: int, letters: str) -> tuple[str, ...]:
    """Return the options that follow the one at *letter_start* in the same list.

    They have the same mark after their letter ("B. …；C. …") and are in the same
    sentence, or each on its own line if the first one begins a line. Empty if one
    of them is called wrong, or if the first text is a reason.
    """
    form = _FORM.match(text, letter_end)
    if form is None or _REASON.match(text, form.end()):
        return ()
    begins_line = not text[max(0, letter_start - 5) : letter_start].rpartition("\n")[2].strip()
    below = begins_line and "\n" in text[max(0, letter_start - 5) : letter_start]
    limit = min(len(text), form.end() + _REACH)
    reach = (_NEXT_LINES if below else _SENTENCE).match(text, form.end(), limit)
    end = reach.end() if reach else limit
    siblings = _WORD_SIBLINGS if form.lastgroup == "word" else _DOT_SIBLINGS
    labels = list(for_letters(siblings, letters).finditer(text, form.end(), end))
    if below:
        labels = [label for label in labels if text[label.start()] == "\n"]
    if form.lastgroup == "word" and len(labels) < 2:
        return ()
    ends = [*(label.start() for label in labels[1:]), end]
    for label, stop in zip(labels, ends, strict=False):
        said = text[label.end() : stop]
        if REJECTED_CLAUSE.search(said) or FAULTED_CLAUSE.search(said):
            return ()
    return tuple(label["letter"] for label in labels)


def names_all_options(text: str, letter_start: int, letters: str) -> bool:
    """Return whether a list of all options with their texts begins at *letter_start*."""
    if len(letters) < _FEWEST or text[letter_start] != letters[0]:
        return False
    found = for_letters(_LABELS, letters).finditer(text, letter_start, letter_start + 3 * _REACH)
    named = "".join(label["letter"] for label in found)
    return named.startswith(letters)


_RIGHT = "√✓✔✅☑"
_WRONG = "×✗✘❌✖"
_SIGN = f"[{_RIGHT}{_WRONG}]"
_WORD = r"(?i:yes|no|true|false)(?![A-Za-z])|[对错](?=[\s,;.。、]|\Z)"
_RIGHT_WORDS = frozenset({*_RIGHT, "yes", "true", "对"})
_GAP = re.compile(r"[\s,;.。、)]{0,6}")
_LETTER = r"[(\[]?(?<![A-Za-z])(?P<letter>[LETTERS])(?![A-Za-z])[)\]]?"
_MARKS = (
    rf"{_LETTER}(?:选?项)?\s{{0,2}}[.:、]?\s{{0,2}}(?P<mark>{_SIGN}|{_WORD})",
    rf"(?P<mark>{_SIGN})\s{{0,2}}{_LETTER}",
)
_SHARES = r"(?<![A-Za-z])(?P<letter>[LETTERS])(?![A-Za-z])\)?\s?[(:]?\s?\d{1,3}\s?%"


def marked(source: SourceText, letters: str) -> Reading | None:
    """Read options with a mark for each: "A√ B× C√ D×", "A: Yes; B: No".

    Undecided if all have the same mark; None unless each of *letters* has one, in one list.
    """
    if len(letters) < _FEWEST:
        return None
    for pattern in _MARKS:
        marks = list(for_letters(pattern, letters).finditer(source.text))[-len(letters) :]
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
    """Return an undecided reading if several letters have a percentage: "C (60%), B (40%)"."""
    shares = list(for_letters(_SHARES, letters).finditer(source.text))
    names = tuple(dict.fromkeys(share["letter"] for share in shares))
    if len(names) < 2:
        return None
    span = source.span(shares[0].start(), shares[-1].end())
    return Reading(names, span, "leading", "shares", 0.5, undecided=True)


# The number of the question before its answer: "21. B".
OWN_NUMBER = re.compile(
    r"\s{0,4}(?:第\s?)?\(?(?P<number>\d{1,3})\)?\s?(?:小?题)?\s?[.、:)]?(?=\s|[A-Za-z(])"
)
# "21. B 【解析】...": the answer, followed by a field with its reasons.
_BEFORE_ANALYSIS = re.compile(
    r"\s{0,4}(?:(?:第\s?)?\(?\d{1,3}\)?\s?(?:小?题)?\s?[.、:)]?(?=\s|[A-Za-z(])\s{0,2})?"
    r"[(\[\"]?(?P<letters>[A-G](?:[、,\s]{0,2}[A-G]){0,6})[)\]\"]?(?:选?项)?[.、:,。;]?\s{0,3}"
    r"[【\[](?:解析|分析|详解|点评|解答|解释|理由|考点|思路|说明)"
)
# "36. D look after": the letter with the words of its option; "A" may be an article.
_WITH_WORDS = re.compile(
    r"\s{0,3}[(\[]?(?P<letter>[A-G])[)\]]?[ ]{1,3}"
    r"(?P<words>[a-z][a-z'’-]{0,20}(?:[ ][a-z'’-]{1,20}){0,4})"
    r"\s{0,2}[.。;,]?[ ]{0,3}(?=[\n\x1e]|\Z)"
)
# Words of a sentence, or of a noun with a letter ("B cells", "C major").
_NO_OPTION = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does|do|did|can|cannot|could|will|would|should|must|may"
    r"|might|and|or|nor|not|no|than|with|because|so|but|if|that|which|who|seems?|says?|means?|shows?"
    r"|cells?|major|minor|level|grade|class|type|vitamins?|team|group|wrong|right|correct|incorrect"
    r"|true|false)\b"
)


def before_analysis(source: SourceText, letters: str) -> Reading | None:
    """Read the letters before a field with their reasons ("21. B 【解析】...").

    Undecided if the reasons end with other letters.
    """
    match = _BEFORE_ANALYSIS.match(source.text)
    if match is None:
        return None
    places = [place for place in range(*match.span("letters")) if source.text[place].isalpha()]
    names = tuple(source.text[place] for place in places)
    if not set(names) <= set(letters):
        return None
    last = next(find_mentions(source.text, letters).commitments_from_the_end(), None)
    undecided = last is not None and not last.weak and set(last.letters) != set(names)
    return Reading(
        names,
        source.span(*match.span("letters")),
        "leading",
        "before_analysis",
        0.8,
        undecided,
        tuple(source.span(place, place + 1) for place in places),
    )


def with_words(source: SourceText, letters: str, *, article: bool = False) -> Reading | None:
    """Read a letter before the words of its option ("D look after"), if the text names no other.

    *article*: read "A look after" too, because the answers beside it are written so.
    """
    match = _WITH_WORDS.match(source.text)
    if match is None or match["letter"] not in letters or _NO_OPTION.search(match["words"]):
        return None
    if match["letter"] == "A" and not article:
        return None
    place = match.start("letter")
    if any(mention.start > place for mention in find_mentions(source.text, letters)):
        return None
    span = source.span(place, match.end("words"))
    return Reading((match["letter"],), span, "leading", "with_words", 0.6)

"""Answers to one question: one letter, or a set of letters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evaluations.reading.rules.extraction.commitments import committed
from evaluations.reading.rules.extraction.mentions import find_mentions
from evaluations.reading.rules.extraction.numbering import find_markers, lists_of_numbers
from evaluations.reading.rules.extraction.option_lists import OWN_NUMBER, with_words
from evaluations.reading.rules.extraction.patterns import for_letters
from evaluations.reading.rules.extraction.reading import (
    Extraction,
    Reading,
    Span,
    ambiguous,
    unread,
)
from evaluations.reading.rules.extraction.source_text import SourceText
from evaluations.reading.rules.extraction.steps import (
    alone,
    lone_line,
    opening,
    read_part,
    read_tag,
)
from evaluations.reading.rules.extraction.tags import find_tags
from evaluations.statistics.outcomes import ReadingOutcome

# A list with more numbers than this does not number sub-questions.
_MOST_ANSWERS = 40
_OPENING_LETTER = (
    r"\s{0,4}[(\[]?(?P<letter>[LETTERS])[)\]]?[.。、,;]?[ \x1e]{0,3}"
    r"\n\s{0,4}[(第]?(?P<next>\d{1,3})(?!\d)"
)
_CONCLUDES = re.compile(
    r"(?:综上|总之|综合|本题|最终|整体|\b(?:overall|in conclusion|in summary|final)\b)"
    r"[^\n。]{0,24}\Z",
    re.IGNORECASE,
)


def read_one_question(source: SourceText, letters: str, *, several: bool) -> Extraction:
    """Read one letter, or a sorted set of letters if *several* may be right.

    The outcome is ambiguous for alternatives, for several letters where one is asked
    for, and for an output that answers several numbered questions differently.
    """
    reading = read_question(source, letters)
    if reading is None or reading.letters:
        span = _numbered_answers(source, letters)
        if span is not None:
            reading = Reading((letters[0],), span, "numbered", "several_questions", 0.0, True)
    if reading is None or not reading.letters:
        return unread(ReadingOutcome.NO_ANSWER, 1)
    if not several:
        reading = as_one(reading)
    if reading.undecided or (reading.open_ended if several else several_letters(reading)):
        return ambiguous(reading)
    return extraction_of(reading, "".join(sorted(set(reading.letters))))


def read_question(source: SourceText, letters: str) -> Reading | None:
    """Read the answer to one question; its own number may stand before it ("21. C")."""
    reading = read_part(source, letters)
    number = OWN_NUMBER.match(source.text)
    if reading is None and number:
        rest = source.part(number.end(), len(source.text))
        return read_part(rest, letters) or with_words(rest, letters)
    return reading


def as_one(reading: Reading) -> Reading:
    """Return *reading* where one letter is asked for.

    "正确的是A、B、D，错误的是C": only the wrong one can be asked for.
    """
    wrong = reading.against
    several = len(set(reading.letters)) > 1
    return wrong if wrong is not None and several and len(set(wrong.letters)) == 1 else reading


def several_letters(reading: Reading) -> bool:
    """Return whether *reading* has alternatives, or more than one letter."""
    return reading.undecided or len(set(reading.letters)) > 1


def extraction_of(reading: Reading, answer: str) -> Extraction:
    """Return the extraction of the single *answer* with the evidence of *reading*."""
    return Extraction(
        answers=(answer,),
        outcome=ReadingOutcome.READ,
        method=reading.method,
        pattern=reading.pattern,
        spans=(reading.span,),
        confidence=reading.confidence,
    )


def _numbered_answers(source: SourceText, letters: str) -> Span | None:
    """Return where *source* answers questions (1), (2), ... differently; None if it does not.

    The numbers are consecutive, and the text of each gives an answer of its own: a
    field, a commitment, or nothing but letters.
    """
    tags = [tag for tag in find_tags(source.text) if not tag.boxed]
    if len(tags) == 1:
        # The only field decides; the numbers in the text before it belong to the reasoning.
        source = source.part(tags[0].content_start, tags[0].content_end)
    for slots in lists_of_numbers(find_markers(source, letters), len(source.text), _MOST_ANSWERS):
        parts = [source.part(*slot) for slot in slots]
        readings = list(_own_answers(parts, letters, in_field=len(tags) == 1))
        if len(readings) == len(slots) and len({r.letters for r in readings}) > 1:
            return readings[0].span[0], readings[-1].span[1]
    return None


def _own_answers(slots: list[SourceText], letters: str, *, in_field: bool) -> Iterator[Reading]:
    """Yield the answer of each slot, up to the first slot without one."""
    tagged = any(find_tags(slot.text) for slot in slots)
    for index, slot in enumerate(slots):
        tags = [tag for tag in find_tags(slot.text) if not tag.boxed]
        if tagged:
            reading = read_tag(slot, tags[0], letters) if tags else None
        else:
            reading = opening(slot, letters) if in_field else None
            reading = reading or alone(slot, letters)
            if reading is None:
                reading = committed(slot, letters)
                if reading is None:
                    reading = lone_line(slot, letters)
                elif index == len(slots) - 1 and _concludes_the_whole(slot, letters):
                    return
        if reading is None or not reading.letters or reading.undecided:
            return
        yield reading


def _concludes_the_whole(slot: SourceText, letters: str) -> bool:
    """Return whether the text after the last number ends with the answer to the whole."""
    chosen = find_mentions(slot.text, letters).commitments_from_the_end()
    final, before = next(chosen), next(chosen, None)
    return before is not None and bool(
        _CONCLUDES.search(slot.text, max(0, final.cue_start - 40), final.start)
    )


def first_without_number(source: SourceText, letters: str) -> tuple[Reading, SourceText] | None:
    """Return the answer that *source* begins with and the numbered answers after it.

    The numbers continue from 2 or from a number of the paper: "C", then "65. A".
    """
    match = for_letters(_OPENING_LETTER, letters).match(source.text)
    if match is None or int(match["next"]) < 2:
        return None
    span = source.span(*match.span("letter"))
    reading = Reading((match["letter"],), span, "sequence", "before_numbers", 0.8)
    return reading, source.part(match.start("next"), len(source.text))

"""One question with one right letter."""

from __future__ import annotations

import re

from evaluations.rules.extraction.outcome import Extraction, Outcome, unread
from evaluations.rules.extraction.reading import Reading
from evaluations.rules.extraction.source_text import SourceText
from evaluations.rules.extraction.steps import read_part

_OWN_NUMBER = re.compile(r"\s{0,4}(?:第\s?)?\(?\d{1,3}\)?\s?(?:小?题)?\s?[.、:)]?(?=\s|[A-Za-z(])")


def read_question(source: SourceText, letters: str) -> Reading | None:
    """Read one question's answer; its own number before it ("21. C") is passed over."""
    reading = read_part(source, letters)
    number = _OWN_NUMBER.match(source.text)
    if reading is None and number:
        return read_part(source.part(number.end(), len(source.text)), letters)
    return reading


def read_single_choice(source: SourceText, letters: str) -> Extraction:
    """One letter, or ambiguous where the output gives several."""
    reading = read_question(source, letters)
    if reading is None or not reading.letters:
        return unread(Outcome.NO_ANSWER, 1)
    if several_letters(reading):
        return unread(
            Outcome.AMBIGUOUS,
            1,
            method=reading.method,
            pattern=reading.pattern,
            span=reading.span,
        )
    return extraction_of(reading, reading.letters[0])


def several_letters(reading: Reading) -> bool:
    """True where a one-letter question got more than one letter, or alternatives."""
    return reading.undecided or len(set(reading.letters)) > 1


def extraction_of(reading: Reading, answer: str) -> Extraction:
    """The extraction of a single answer with the reading's evidence."""
    return Extraction(
        answers=(answer,),
        outcome=Outcome.READ,
        method=reading.method,
        pattern=reading.pattern,
        spans=(reading.span,),
        confidence=reading.confidence,
    )

"""One question with one right letter."""

from __future__ import annotations

from evaluations.reading.rules.extraction.labelled import OWN_NUMBER, with_words
from evaluations.reading.rules.extraction.numbered_answers import answers_several
from evaluations.reading.rules.extraction.outcome import Extraction, Outcome, unread
from evaluations.reading.rules.extraction.reading import Reading
from evaluations.reading.rules.extraction.source_text import SourceText
from evaluations.reading.rules.extraction.steps import read_part


def read_one_question(source: SourceText, letters: str) -> Reading | None:
    """Read the answer of an item with one question; undecided where it is answered like several."""
    reading = read_question(source, letters)
    if reading is not None and not reading.letters:
        return reading
    several = answers_several(source, letters)
    if several is None:
        return reading
    return Reading((letters[0],), several, "numbered", "several_questions", 0.0, undecided=True)


def read_question(source: SourceText, letters: str) -> Reading | None:
    """Read one question's answer; its own number before it ("21. C") is passed over."""
    reading = read_part(source, letters)
    number = OWN_NUMBER.match(source.text)
    if reading is None and number:
        rest = source.part(number.end(), len(source.text))
        return read_part(rest, letters) or with_words(rest, letters)
    return reading


def read_single_choice(source: SourceText, letters: str) -> Extraction:
    """One letter, or ambiguous where the output gives several."""
    reading = read_one_question(source, letters)
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

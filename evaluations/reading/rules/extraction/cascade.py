"""The strict reading of objective answers: what a careful examiner would read.

The most explicit wording wins: a marked field before a commitment ("故选C"), a
commitment before a verdict on an option ("C正确"), that before a letter that
stands alone; within one step the last one wins. Reasoning blocks are not the
answer. What is not certain is not guessed: the outcome says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluations.reading.rules.extraction.asides import without_hearsay, without_suppositions
from evaluations.reading.rules.extraction.mined import ReadingPattern, read_by_patterns
from evaluations.reading.rules.extraction.multi_choice import read_multi_choice
from evaluations.reading.rules.extraction.outcome import Extraction, Outcome, unread
from evaluations.reading.rules.extraction.patterns import refuses
from evaluations.reading.rules.extraction.several_questions import read_several_questions
from evaluations.reading.rules.extraction.single_choice import (
    extraction_of,
    read_single_choice,
    several_letters,
)
from evaluations.reading.rules.extraction.source_text import SourceText, plain_source
from evaluations.reading.rules.extraction.tags import without_labels
from questions.rules.vocabulary import QuestionType

EXTRACTOR_VERSION = "strict-5"

_DEFAULT_LETTERS = {QuestionType.FIVE_OUT_OF_SEVEN: "ABCDEFG"}
# In an output that was cut off, the rest might still have spoken against these.
_NEEDS_THE_WHOLE_TEXT = frozenset({"affirmation", "bracketed"})


def read_answer(
    output: str, question_type: str, letters: str, parts: int, *, truncated: bool = False
) -> Extraction:
    """Read *output* for an objective item with option *letters* and *parts* sub-questions.

    Empty *letters* mean A to D (A to G for five out of seven). *truncated*: the
    model was cut off at its token limit. Raises ValueError for a type that is
    not scored by rule. Linear in the length of *output*.
    """
    options = _options(question_type, letters)
    source = without_hearsay(without_labels(plain_source(output), options))
    extraction = _read(source, question_type, options, parts)
    without = without_suppositions(source)
    if without is not source:
        # A supposition counts for nothing beside an answer, but may be all there is.
        plain = _read(without, question_type, options, parts)
        if plain.answers.count(None) <= extraction.answers.count(None):
            extraction = plain
    if extraction.outcome is Outcome.NO_ANSWER and refuses(source.text):
        extraction = replace(extraction, outcome=Outcome.REFUSED)
    return _cut_off(extraction, output, question_type) if truncated else extraction


def read_answer_by_patterns(
    output: str, question_type: str, letters: str, parts: int, patterns: Sequence[ReadingPattern]
) -> Extraction | None:
    """Read by *patterns* (mined, and accepted by a person) what the cascade could not read.

    None where no pattern reads *output*. The same strictness as ``read_answer``: letters
    that are one too many, or given as alternatives, are ambiguous.
    """
    options = _options(question_type, letters)
    reading = read_by_patterns(plain_source(output), options, patterns, parts) if patterns else None
    if reading is None or not reading.letters:
        return None
    several = parts > 1
    if reading.undecided or (
        question_type != QuestionType.MULTIPLE_CHOICE and not several and several_letters(reading)
    ):
        return unread(
            Outcome.AMBIGUOUS,
            parts,
            method=reading.method,
            pattern=reading.pattern,
            span=reading.span,
        )
    if not several:
        return extraction_of(reading, "".join(sorted(set(reading.letters))))
    if len(reading.letters) != parts:
        return None
    return Extraction(
        answers=reading.letters,
        outcome=Outcome.READ,
        method=reading.method,
        pattern=reading.pattern,
        spans=reading.places,
        confidence=reading.confidence,
    )


def _options(question_type: str, letters: str) -> str:
    given = "".join(sorted(set(letters.upper())))
    return given or _DEFAULT_LETTERS.get(QuestionType(question_type), "ABCD")


def _read(source: SourceText, question_type: str, letters: str, parts: int) -> Extraction:
    match question_type:
        case QuestionType.SINGLE_CHOICE:
            return read_single_choice(source, letters)
        case QuestionType.MULTIPLE_CHOICE:
            return read_multi_choice(source, letters)
        case QuestionType.SEVERAL_QUESTIONS | QuestionType.FIVE_OUT_OF_SEVEN:
            return read_several_questions(source, letters, parts)
    raise ValueError(f"{question_type!r} is not an objective question type")


def _cut_off(extraction: Extraction, output: str, question_type: str) -> Extraction:
    """What remains certain of a reading when the output did not end by itself."""
    parts = len(extraction.answers)
    if extraction.outcome in (Outcome.NO_ANSWER, Outcome.REFUSED):
        return unread(Outcome.TRUNCATED, parts)
    last = max((span[1] for span in extraction.spans if span), default=0)
    at_the_cut = not output[last:].strip()
    # A set may have lost its last letters: "AC" cut from "ACD".
    read = extraction.outcome is Outcome.READ
    unfinished_set = read and question_type == QuestionType.MULTIPLE_CHOICE and at_the_cut
    if extraction.method in _NEEDS_THE_WHOLE_TEXT or unfinished_set:
        return unread(Outcome.TRUNCATED, parts)
    return extraction

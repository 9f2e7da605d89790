"""The strict reading of choice answers: what a careful examiner would read.

The most explicit wording decides: a marked field, then a commitment ("故选C"), then a
verdict on an option ("C正确"), then a letter that stands alone. Within one step the
last one decides. Reasoning blocks are ignored. Uncertain answers are not guessed: the
outcome gives the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluations.reading.rules.extraction.asides import without_hearsay, without_suppositions
from evaluations.reading.rules.extraction.mined import (
    ReadingPattern,
    option_letters,
    read_by_patterns,
)
from evaluations.reading.rules.extraction.one_question import (
    extraction_of,
    read_one_question,
    several_letters,
)
from evaluations.reading.rules.extraction.patterns import refuses
from evaluations.reading.rules.extraction.reading import Extraction, ambiguous, unread
from evaluations.reading.rules.extraction.several_questions import read_several_questions
from evaluations.reading.rules.extraction.source_text import SourceText, plain_source
from evaluations.reading.rules.extraction.tags import without_labels
from evaluations.statistics.outcomes import ReadingOutcome
from questions.rules.vocabulary import QuestionType

EXTRACTOR_VERSION = "strict-9"

# The missing end of a truncated output might contradict an answer found by these methods.
_NEEDS_THE_WHOLE_TEXT = frozenset({"affirmation", "bracketed"})


def read_answer(
    output: str, question_type: str, letters: str, parts: int, *, truncated: bool = False
) -> Extraction:
    """Read *output* for a choice item with option *letters* and *parts* sub-questions.

    Empty *letters* mean A to D (A to G for five out of seven). *truncated*: the
    model stopped at its token limit. Raises ValueError for a type that is
    not scored by rule. Linear in the length of *output*.
    """
    options = option_letters(question_type, letters)
    source = without_hearsay(without_labels(plain_source(output), options))
    extraction = _read(source, question_type, options, parts)
    without = without_suppositions(source)
    if without is not source:
        # Suppositions are read only if the output has no other answer.
        plain = _read(without, question_type, options, parts)
        if plain.answers.count(None) <= extraction.answers.count(None):
            extraction = plain
    if extraction.outcome is ReadingOutcome.NO_ANSWER and refuses(source.text):
        extraction = replace(extraction, outcome=ReadingOutcome.REFUSED)
    if not truncated:
        return extraction
    if extraction.outcome in (ReadingOutcome.NO_ANSWER, ReadingOutcome.REFUSED):
        return unread(ReadingOutcome.TRUNCATED, len(extraction.answers))
    last = max((span[1] for span in extraction.spans if span), default=0)
    # A set at the very end may have lost its last letters: "AC" cut from "ACD".
    unfinished_set = (
        extraction.outcome is ReadingOutcome.READ
        and question_type == QuestionType.MULTIPLE_CHOICE
        and not output[last:].strip()
    )
    if extraction.method in _NEEDS_THE_WHOLE_TEXT or unfinished_set:
        return unread(ReadingOutcome.TRUNCATED, len(extraction.answers))
    return extraction


def read_answer_by_patterns(
    output: str, question_type: str, letters: str, parts: int, patterns: Sequence[ReadingPattern]
) -> Extraction | None:
    """Read *output* by *patterns*, which were mined and accepted by a person.

    Return None if no pattern reads *output*. As in ``read_answer``, too many letters
    and alternatives are ambiguous.
    """
    options = option_letters(question_type, letters)
    reading = read_by_patterns(plain_source(output), options, patterns, parts) if patterns else None
    if reading is None or not reading.letters:
        return None
    several = parts > 1
    if reading.undecided or (
        question_type != QuestionType.MULTIPLE_CHOICE and not several and several_letters(reading)
    ):
        return ambiguous(reading, parts)
    if not several:
        return extraction_of(reading, "".join(sorted(set(reading.letters))))
    if len(reading.letters) != parts:
        return None
    return Extraction(
        answers=reading.letters,
        outcome=ReadingOutcome.READ,
        method=reading.method,
        pattern=reading.pattern,
        spans=reading.places,
        confidence=reading.confidence,
    )


def _read(source: SourceText, question_type: str, letters: str, parts: int) -> Extraction:
    match question_type:
        case QuestionType.SINGLE_CHOICE:
            return read_one_question(source, letters, several=False)
        case QuestionType.MULTIPLE_CHOICE:
            return read_one_question(source, letters, several=True)
        case QuestionType.SEVERAL_QUESTIONS | QuestionType.FIVE_OUT_OF_SEVEN:
            return read_several_questions(source, letters, parts)
    raise ValueError(f"{question_type!r} is not an objective question type")

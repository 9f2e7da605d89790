"""The strict reading of objective answers: what a careful examiner would read.

The most explicit wording wins: a marked field before a commitment ("故选C"), a
commitment before a verdict on an option ("C正确"), that before a letter that
stands alone; within one step the last one wins. Reasoning blocks are not the
answer. What is not certain is not guessed: the outcome says why.
"""

from __future__ import annotations

from dataclasses import replace

from evaluations.rules.extraction.multi_choice import read_multi_choice
from evaluations.rules.extraction.outcome import Extraction, Outcome, unread
from evaluations.rules.extraction.patterns import refuses
from evaluations.rules.extraction.several_questions import read_several_questions
from evaluations.rules.extraction.single_choice import read_single_choice
from evaluations.rules.extraction.source_text import SourceText, plain_source
from questions.rules.vocabulary import QuestionType

EXTRACTOR_VERSION = "strict-1"

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
    options = "".join(sorted(set(letters.upper()))) or _DEFAULT_LETTERS.get(
        QuestionType(question_type), "ABCD"
    )
    source = plain_source(output)
    extraction = _read(source, question_type, options, parts)
    if extraction.outcome is Outcome.NO_ANSWER and refuses(source.text):
        extraction = replace(extraction, outcome=Outcome.REFUSED)
    return _cut_off(extraction, output, question_type) if truncated else extraction


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
    unfinished_set = question_type == QuestionType.MULTIPLE_CHOICE and at_the_cut
    if extraction.method in _NEEDS_THE_WHOLE_TEXT or unfinished_set:
        return unread(Outcome.TRUNCATED, parts)
    return extraction

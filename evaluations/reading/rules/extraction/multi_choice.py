"""One question with a set of right letters."""

from __future__ import annotations

from evaluations.reading.rules.extraction.outcome import Extraction, Outcome, unread
from evaluations.reading.rules.extraction.single_choice import extraction_of, read_one_question
from evaluations.reading.rules.extraction.source_text import SourceText


def read_multi_choice(source: SourceText, letters: str) -> Extraction:
    """The set of letters in alphabetical order, or ambiguous where it offers alternatives."""
    reading = read_one_question(source, letters)
    if reading is None or not reading.letters:
        return unread(Outcome.NO_ANSWER, 1)
    if reading.undecided:
        return unread(
            Outcome.AMBIGUOUS,
            1,
            method=reading.method,
            pattern=reading.pattern,
            span=reading.span,
        )
    return extraction_of(reading, "".join(sorted(set(reading.letters))))

"""The types of a reading: the letters of one step, the answers of an output, what people state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluations.statistics.outcomes import ReadingOutcome

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """The letters that one step of the cascade found, with their place in the original output.

    Without letters: there is a field for the answer, and it is empty. ``undecided``:
    the letters are given as alternatives. Letters are in order of appearance;
    ``places`` has the span of each, or is empty if no caller needs it. ``against`` is what the text
    names as wrong after these letters. ``open_ended``: a set may have more letters.
    """

    letters: tuple[str, ...]
    span: Span
    method: str
    pattern: str
    confidence: float
    undecided: bool = False
    places: tuple[Span, ...] = ()
    against: Reading | None = None
    open_ended: bool = False


@dataclass(frozen=True, slots=True)
class Extraction:
    """The answers read from one output.

    ``answers`` has one entry per sub-question: a letter, a sorted set of letters
    such as ``"ACD"``, a text, or None for a gap. ``spans`` is parallel to it:
    character offsets (start, end) of the evidence in the original output, None for
    a gap; for an ambiguous output the passage that leaves it open, if there is one.
    ``method`` is the step of the cascade, ``pattern`` the name of the wording that
    decided. ``confidence`` (0 to 1) orders the methods by how explicit they are; it
    is not a probability. Raises ValueError if answers and spans differ in number.
    """

    answers: tuple[str | None, ...]
    outcome: ReadingOutcome
    method: str
    pattern: str
    spans: tuple[Span | None, ...]
    confidence: float

    def __post_init__(self) -> None:
        if len(self.answers) != len(self.spans):
            raise ValueError("every answer and every gap has its span or None")


def unread(
    outcome: ReadingOutcome,
    parts: int,
    *,
    method: str = "none",
    pattern: str = "",
    span: Span | None = None,
) -> Extraction:
    """Return an extraction of *parts* gaps with the reason *outcome*."""
    return Extraction((None,) * parts, outcome, method, pattern, (span,) * parts, 0.0)


def ambiguous(reading: Reading, parts: int = 1) -> Extraction:
    """Return an extraction of *parts* gaps, with the evidence of the undecided *reading*."""
    return Extraction(
        answers=(None,) * parts,
        outcome=ReadingOutcome.AMBIGUOUS,
        method=reading.method,
        pattern=reading.pattern,
        spans=(reading.span,) * parts,
        confidence=0.0,
    )


@dataclass(frozen=True, slots=True)
class Statement:
    """What a person or a model states was answered: one entry per sub-question, and the outcome."""

    answers: tuple[str | None, ...]
    outcome: str


def majority(statements: Sequence[Statement]) -> Statement | None:
    """Return the most frequent of *statements* (one per person), None for a tie.

    The newest statement has no precedence. The rule is ours.
    """
    (first, most), *others = Counter(statements).most_common(2)
    return None if others and others[0][1] == most else first

"""What reading a model's output gives: the answers, and the words that were the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

Span = tuple[int, int]


class Outcome(StrEnum):
    """How reading one output ended; the scoring ledger takes these words over."""

    READ = "read"
    NO_ANSWER = "no_answer"
    AMBIGUOUS = "ambiguous"
    REFUSED = "refused"
    TRUNCATED = "truncated"


@dataclass(frozen=True, slots=True)
class Extraction:
    """The answers read from one output.

    ``answers`` holds one entry per sub-question: a letter, a sorted set of
    letters such as ``"ACD"``, or None for a gap. ``spans`` runs parallel to it:
    character offsets (start, end) in the original output of the words that
    were the evidence, None for a gap; of an ambiguous output the words that
    leave it open, where one place does. ``method`` is the step of the cascade
    and ``pattern`` the name of the wording that decided. ``confidence`` (0 to
    1) orders the methods by how explicit they are; it is not a probability.
    """

    answers: tuple[str | None, ...]
    outcome: Outcome
    method: str
    pattern: str
    spans: tuple[Span | None, ...]
    confidence: float

    def __post_init__(self) -> None:
        if len(self.answers) != len(self.spans):
            raise ValueError("every answer and every gap has its span or None")


def unread(
    outcome: Outcome,
    parts: int,
    *,
    method: str = "none",
    pattern: str = "",
    span: Span | None = None,
) -> Extraction:
    """An extraction without any answer: *parts* gaps and the reason, with the words for it."""
    return Extraction((None,) * parts, outcome, method, pattern, (span,) * parts, 0.0)

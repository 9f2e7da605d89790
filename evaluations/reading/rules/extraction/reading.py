"""What one step of the cascade read, before it becomes an extraction."""

from __future__ import annotations

from dataclasses import dataclass

from evaluations.reading.rules.extraction.outcome import Span


@dataclass(frozen=True, slots=True)
class Reading:
    """Letters with their evidence in the original output.

    No letters: a field for the answer is there, and holds none. ``undecided``:
    letters are given as alternatives. Letters are in order of appearance, and
    ``places`` says where each of them stands (empty where nobody asks).
    """

    letters: tuple[str, ...]
    span: Span
    method: str
    pattern: str
    confidence: float
    undecided: bool = False
    places: tuple[Span, ...] = ()

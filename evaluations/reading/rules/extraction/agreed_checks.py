"""What several people who looked at one response say together: who was last settles nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluations.reading.rules.extraction.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Said:
    """What one person says that was answered: one entry a sub-question, and how reading ended."""

    answers: tuple[str | None, ...]
    outcome: str


def agreed(checks: Sequence[Said]) -> Said | None:
    """What most of *checks* (one for each person) say; None where no answer leads.

    Two who differ settle nothing, a third does. The rule is ours. Raises
    ValueError without any check.
    """
    if not checks:
        raise ValueError("nobody has checked")
    (first, most), *others = Counter(checks).most_common(2)
    return None if others and others[0][1] == most else first


def undecided(parts: int) -> Said:
    """What counts while people differ: nothing is guessed."""
    return Said((None,) * parts, Outcome.AMBIGUOUS)

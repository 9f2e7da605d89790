"""The mined patterns that count: those that people accepted."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from evaluations.models import MinedPattern
from evaluations.models.vocabulary import PatternVerdict
from evaluations.reading.rules.extraction.mined import ReadingPattern


@dataclass(frozen=True, slots=True)
class PatternSet:
    """The accepted patterns, and the id of the last decision, which identifies the set.

    ``decision`` is None where nobody ever decided. A set that is empty because all
    patterns were retired has a decision, so that what was read by them is read again.
    """

    decision: int | None = None
    patterns: tuple[ReadingPattern, ...] = ()

    def of(self, question_type: str) -> tuple[ReadingPattern, ...]:
        """Return those found in responses to questions of this type."""
        return tuple(one for one in self.patterns if one.question_type == question_type)


ACCEPTED = Q(decision__verdict=PatternVerdict.ACCEPTED)


def accepted_patterns() -> PatternSet:
    """Return the accepted patterns, in the order in which they were found."""
    columns = ("decision", "decision__verdict", "name", "question_type", "expression")
    decided = MinedPattern.objects.filter(decision__isnull=False).order_by("pk")
    rows = list(decided.values_list(*columns))
    patterns = (row for _, verdict, *row in rows if verdict == PatternVerdict.ACCEPTED)
    version = max((decision for decision, *_ in rows), default=None)
    return PatternSet(version, tuple(ReadingPattern(*row) for row in patterns))

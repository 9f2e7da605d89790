"""The accepted patterns: those whose newest decision accepted them."""

from __future__ import annotations

from dataclasses import dataclass

from evaluations.models import MinedPattern, PatternDecision
from evaluations.models.vocabulary import PatternVerdict
from evaluations.reading.rules.extraction.mined import ReadingPattern


@dataclass(frozen=True, slots=True)
class PatternSet:
    """The accepted patterns, and the id of the newest decision, which identifies the set.

    ``decision`` is None where nobody ever decided. A set that is empty because all
    patterns were retired has a decision, so that what was read by them is read again.
    """

    decision: int | None = None
    patterns: tuple[ReadingPattern, ...] = ()

    def of(self, question_type: str) -> tuple[ReadingPattern, ...]:
        """Return those found in responses to questions of this type."""
        return tuple(one for one in self.patterns if one.question_type == question_type)


def newest_decisions() -> dict[int, PatternDecision]:
    """The decision that counts, by pattern."""
    decisions = PatternDecision.objects.select_related("author").order_by("pk")
    return {decision.pattern_id: decision for decision in decisions}


def accepted_patterns() -> PatternSet:
    """Return the accepted patterns, in the order in which they were found."""
    newest = newest_decisions()
    if not newest:
        return PatternSet()
    accepted = [
        pattern
        for pattern, decision in newest.items()
        if decision.verdict == PatternVerdict.ACCEPTED
    ]
    rows = MinedPattern.objects.filter(pk__in=accepted).order_by("pk")
    patterns = rows.values_list("name", "question_type", "expression")
    decision = max(decision.pk for decision in newest.values())
    return PatternSet(decision, tuple(ReadingPattern(*row) for row in patterns))

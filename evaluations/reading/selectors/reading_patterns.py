"""The mined patterns that count: those that people accepted."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q, QuerySet

from evaluations.models import MinedPattern, Response
from evaluations.models.vocabulary import PatternVerdict
from evaluations.reading.rules.extraction.mined import ReadingPattern
from evaluations.statistics.outcomes import ReadingOutcome
from questions.rules.vocabulary import CHOICE_TYPES

# Where patterns are tried after the cascade.
UNSURE = (ReadingOutcome.NO_ANSWER, ReadingOutcome.AMBIGUOUS)


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


def scored_by_other_patterns(responses: QuerySet[Response]) -> QuerySet[Response]:
    """Return those of *responses* whose strict score did not try the patterns that count today.

    Only where patterns are tried: after a cascade that was unsure, if nobody decided above it.
    """
    present = accepted_patterns().decision
    if present is None:
        return responses.none()
    unsure = Q(
        strict_score__extraction__outcome__in=UNSURE,
        revision__question_type__in=CHOICE_TYPES,
        is_error_text=False,
    )
    by_rules = responses.filter(
        unsure | Q(strict_score__patterns__isnull=False),
        strict_score__isnull=False,
        strict_score__model_reading=None,
        strict_score__answer_check=None,
    )
    return by_rules.exclude(strict_score__patterns=present)

"""The precision of patterns on the responses that people checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluations.models import AnswerCheck, MinedPattern, Response, Run
from evaluations.reading.rules.extraction.mined import option_letters
from evaluations.reading.rules.extraction.pattern_mining import Output, answer
from evaluations.reading.rules.extraction.source_text import plain_source
from evaluations.reading.selectors.answer_checks import PERSON, decided_readings
from evaluations.statistics.outcomes import ReadingOutcome
from questions.rules.vocabulary import QuestionType

# So many checked responses are compared at most, the last checked ones.
MOST_CHECKED = 2_000


@dataclass(frozen=True, slots=True)
class Precision:
    """Of *checked* responses that the pattern reads and people checked, *right* agree with them.

    Where people say that there is no certain answer, a pattern that reads one is wrong.
    """

    right: int
    checked: int


@dataclass(frozen=True, slots=True)
class _Checked:
    question_type: str
    output: Output
    answers: tuple[str | None, ...] | None


def precisions(run: Run, patterns: Sequence[MinedPattern]) -> dict[int, Precision]:
    """Return the precision by pattern on the checked responses of *run*."""
    checked = _checked(run)
    found = {}
    for row in patterns:
        several = row.question_type == QuestionType.MULTIPLE_CHOICE
        right = total = 0
        for one in checked:
            if one.question_type != row.question_type:
                continue
            read = answer(one.output, row.expression, several=several)
            total += read is not None
            right += read is not None and read == one.answers
        found[row.pk] = Precision(right, total)
    return found


def _checked(run: Run) -> list[_Checked]:
    newest = AnswerCheck.objects.filter(response__run=run).order_by("-pk")
    ids = list(dict.fromkeys(newest.values_list("response_id", flat=True)))[:MOST_CHECKED]
    decided = {pk: one for pk, one in decided_readings(ids).items() if one.method == PERSON}
    names = ("text", "revision__question_type", "revision__letters", "revision__answer_key")
    rows = Response.objects.filter(pk__in=list(decided)).values_list("pk", *names)
    return [
        _Checked(
            question_type,
            Output(
                plain_source(text).text, option_letters(question_type, letters), max(len(key), 1)
            ),
            decided[pk].answers if decided[pk].outcome is ReadingOutcome.READ else None,
        )
        for pk, text, question_type, letters, key in rows
    ]

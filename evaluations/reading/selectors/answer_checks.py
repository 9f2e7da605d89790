"""The readings decided by models and by people, which count before the cascade."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from evaluations.models import AnswerCheck, Extraction, ModelReading, Response
from evaluations.reading.rules.extraction.model_reader import METHOD
from evaluations.reading.rules.extraction.reading import Span, Statement, majority
from evaluations.statistics.outcomes import ReadingOutcome

PERSON = "person"
DECIDED = (METHOD, PERSON)
BATCH = 500


@dataclass(frozen=True, slots=True)
class DecidedReading:
    """What a model read or people say of a response, which counts instead of the cascade's reading.

    ``answers`` and ``spans`` have one entry a sub-question; a span is None where
    nobody showed the words. ``method`` is ``model`` or ``person``; ``model_reading`` or
    ``answer_check`` is the id of the row it rests on, of several checks the newest.
    """

    answers: tuple[str | None, ...]
    spans: tuple[Span | None, ...]
    outcome: ReadingOutcome
    method: str
    pattern: str
    confidence: float
    model_reading: int | None = None
    answer_check: int | None = None


def decided_readings(responses: Collection[int]) -> dict[int, DecidedReading]:
    """Return the decided readings of *responses* by response: by people, else by a model.

    A model counts where it read an answer; that it found none changes nothing.
    Responses of which neither said anything are not in it.
    """
    found: dict[int, DecidedReading] = {}
    for some in batches(responses):
        readings = ModelReading.objects.filter(outcome=ReadingOutcome.READ, counts_for__in=some)
        found |= {
            one.response_id: DecidedReading(
                answers=tuple(one.answers),
                spans=spans_of(one),
                outcome=ReadingOutcome(one.outcome),
                method=METHOD,
                pattern=one.version,
                confidence=one.confidence,
                model_reading=one.pk,
            )
            for one in readings
        }
        for response, checks in newest_checks(some).items():
            found[response] = _by_people(checks)
    return found


def batches(keys: Collection[int]) -> Iterator[Sequence[int]]:
    """Yield *keys* in batches for one SQL statement each."""
    rows = sorted(set(keys))
    return (rows[at : at + BATCH] for at in range(0, len(rows), BATCH))


def newest_checks(responses: Iterable[int] | None = None) -> dict[int, list[AnswerCheck]]:
    """Return the present check of each person by response, in order of creation."""
    rows = AnswerCheck.objects.filter(followed_by__isnull=True)
    if responses is not None:
        rows = rows.filter(response__in=list(responses))
    found: dict[int, list[AnswerCheck]] = defaultdict(list)
    for row in rows.select_related("checker", "extraction", "model_reading").order_by("pk"):
        found[row.response_id].append(row)
    return dict(found)


def said_in(row: AnswerCheck | ModelReading | Extraction) -> Statement:
    """Return the answers and the outcome of *row*."""
    return Statement(tuple(row.answers), row.outcome)


def corrects(checks: Sequence[AnswerCheck]) -> bool | None:
    """Return whether *checks*, of one response, change its reading; None where they differ evenly.

    What most people state counts.
    """
    said = majority([said_in(check) for check in checks])
    if said is None:
        return None
    return not [check for check in checks if said_in(check) == said][-1].confirmed


def looked_at(check: AnswerCheck) -> Extraction | ModelReading:
    """Return the reading that *check* is about."""
    row = check.extraction or check.model_reading
    assert row is not None  # a_check_names_one_reading
    return row


def reading_to_check(response: Response) -> Extraction | ModelReading | None:
    """Return the reading of *response* that a person is shown: a model's, else the rules'."""
    return response.model_reading or response.rule_reading


def _by_people(checks: Sequence[AnswerCheck]) -> DecidedReading:
    parts = len(checks[0].answers)
    said = majority([said_in(check) for check in checks]) or Statement(
        (None,) * parts, ReadingOutcome.AMBIGUOUS
    )
    return DecidedReading(
        answers=said.answers,
        spans=_shown(checks[-1], said),
        outcome=ReadingOutcome(said.outcome),
        method=PERSON,
        pattern="",
        confidence=1.0 if said.outcome == ReadingOutcome.READ else 0.0,
        answer_check=checks[-1].pk,
    )


def _shown(check: AnswerCheck, said: Statement) -> tuple[Span | None, ...]:
    """Return the spans of the reading for those answers that the people confirm."""
    row = looked_at(check)
    rows = list(zip(row.answers, spans_of(row), strict=True))
    if len(rows) != len(said.answers):
        return (None,) * len(said.answers)
    return tuple(
        span if answer == read and answer is not None else None
        for answer, (read, span) in zip(said.answers, rows, strict=True)
    )


def spans_of(row: Extraction | ModelReading) -> tuple[Span | None, ...]:
    """Return the span of the evidence of each sub-answer in the text of the response."""
    return tuple(span and (span[0], span[1]) for span in row.spans)

"""Reads and scores objective responses by rule, and keeps every reading and every score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from django.db import transaction

from evaluations.models import Extraction, ObjectiveScore, Response
from evaluations.rules.extraction.cascade import EXTRACTOR_VERSION, read_answer
from evaluations.rules.extraction.outcome import Extraction as Reading
from evaluations.rules.extraction.published import read_answer_published
from evaluations.rules.scoring.objective import ObjectiveResult, score_objective
from evaluations.rules.scoring.policies import SCORER_VERSION, Policy
from questions.models import QuestionRevision
from questions.rules.vocabulary import CHOICE_TYPES, Part, QuestionType

BATCH = 500

# A new reader gives new scores too, so a score names both.
SCORE_VERSION = f"{EXTRACTOR_VERSION}+{SCORER_VERSION}"

SEVERAL_ANSWERS = (QuestionType.SEVERAL_QUESTIONS, QuestionType.FIVE_OUT_OF_SEVEN)

Counts = Counter[tuple[Policy, str]]


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """What one revision of an objective item is scored against."""

    question_type: str
    letters: str
    key: tuple[str, ...]
    sub_marks: tuple[Decimal, ...]


def score_responses(
    responses: Iterable[Response], *, policies: Sequence[Policy] = tuple(Policy)
) -> Counts:
    """Score the objective ones among *responses* under each of *policies*.

    Append-only and idempotent: a response that has a score of this policy and of
    the present reader and scorer is passed over. The result counts the scores
    that were added, by (policy, outcome). A revision whose keys and marks do not
    fit together has no score; reports count its responses as not scored.
    """
    counts: Counts = Counter()
    iterator = iter(responses)
    while batch := list(islice(iterator, BATCH)):
        keys = _answer_keys(batch)
        objective = [response for response in batch if response.revision_id in keys]
        for policy in policies:
            counts += _score_batch(objective, keys, policy)
    return counts


def _answer_keys(batch: Sequence[Response]) -> dict[int, AnswerKey]:
    """The keys of the objective revisions that *batch* answers, by revision."""
    rows = QuestionRevision.objects.filter(
        pk__in={response.revision_id for response in batch},
        question__part=Part.OBJECTIVE,
        question_type__in=CHOICE_TYPES,
    ).values_list("pk", "question_type", "letters", "answer_key", "sub_marks")
    return {
        pk: AnswerKey(question_type, letters, tuple(key), tuple(map(Decimal, marks)))
        for pk, question_type, letters, key, marks in rows
        if key and len(key) == len(marks) and (len(key) == 1 or question_type in SEVERAL_ANSWERS)
    }


@transaction.atomic
def _score_batch(
    responses: Sequence[Response], keys: dict[int, AnswerKey], policy: Policy
) -> Counts:
    """One batch under one policy; readings that another worker added first are taken over."""
    scored = set(
        ObjectiveScore.objects.filter(
            response__in=[response.pk for response in responses],
            policy=policy,
            version=SCORE_VERSION,
        ).values_list("response_id", flat=True)
    )
    open_ = [response for response in responses if response.pk not in scored]
    readings = {
        response.pk: _read(response, keys[response.revision_id], policy) for response in open_
    }
    stored = _store_readings(readings, policy)
    results = {
        response.pk: _result(readings[response.pk], keys[response.revision_id], policy)
        for response in open_
    }
    ObjectiveScore.objects.bulk_create(_scores(results, stored, policy), ignore_conflicts=True)
    return Counter((policy, str(result.outcome)) for result in results.values())


def _read(response: Response, key: AnswerKey, policy: Policy) -> Reading:
    parts = len(key.key)
    if policy is Policy.PUBLISHED:
        return read_answer_published(response.text, key.question_type, parts)
    truncated = response.finish_reason == "length"
    return read_answer(response.text, key.question_type, key.letters, parts, truncated=truncated)


def _result(reading: Reading, key: AnswerKey, policy: Policy) -> ObjectiveResult:
    return score_objective(
        answers=reading.answers,
        key=key.key,
        sub_marks=key.sub_marks,
        question_type=key.question_type,
        outcome=reading.outcome,
        policy=policy,
    )


def _store_readings(readings: dict[int, Reading], policy: Policy) -> dict[int, int]:
    """Keep *readings* (by response); the id of the stored reading of each response."""
    Extraction.objects.bulk_create(
        (
            Extraction(
                response_id=response,
                policy=policy,
                version=EXTRACTOR_VERSION,
                answers=list(reading.answers),
                spans=[span and list(span) for span in reading.spans],
                outcome=reading.outcome,
                method=reading.method,
                pattern=reading.pattern,
                confidence=reading.confidence,
            )
            for response, reading in readings.items()
        ),
        ignore_conflicts=True,
    )
    kept = Extraction.objects.filter(
        response__in=list(readings), policy=policy, version=EXTRACTOR_VERSION
    )
    return dict(kept.values_list("response_id", "pk"))


def _scores(
    results: dict[int, ObjectiveResult], stored: dict[int, int], policy: Policy
) -> Iterator[ObjectiveScore]:
    for response, result in results.items():
        yield ObjectiveScore(
            response_id=response,
            extraction_id=stored[response],
            policy=policy,
            version=SCORE_VERSION,
            points=result.points,
            full=result.full,
            sub_points=[str(points) for points in result.sub_points],
            outcome=result.outcome,
        )

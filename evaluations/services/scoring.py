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
from evaluations.selectors.repaired_keys import repaired_keys
from questions.models import QuestionRevision
from questions.rules.vocabulary import CHOICE_TYPES, Part, QuestionType

BATCH = 500

# A new reader gives new scores too, so a score names both.
SCORE_VERSION = f"{EXTRACTOR_VERSION}+{SCORER_VERSION}"

SEVERAL_ANSWERS = (QuestionType.SEVERAL_QUESTIONS, QuestionType.FIVE_OUT_OF_SEVEN)

Counts = Counter[tuple[Policy, str]]


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """What one revision of an objective item is scored against, and what its scores are called."""

    question_type: str
    letters: str
    key: tuple[str, ...]
    sub_marks: tuple[Decimal, ...]
    version: str = SCORE_VERSION


def score_responses(
    responses: Iterable[Response], *, policies: Sequence[Policy] = tuple(Policy)
) -> Counts:
    """Score the objective ones among *responses* under each of *policies*.

    Append-only and idempotent: a response that has a score of this policy and of
    the present reader and scorer is passed over. The result counts the scores
    that were added, by (policy, outcome). A revision whose keys and marks do not
    fit together has no score; reports count its responses as not scored.

    Where a curator repaired a key, ``strict`` scores by the repaired one, also the
    answers that were given to the same text before, and ``published`` by the
    published one.
    """
    counts: Counts = Counter()
    iterator = iter(responses)
    while batch := list(islice(iterator, BATCH)):
        for policy in policies:
            keys = _answer_keys(batch, policy)
            objective = [response for response in batch if response.revision_id in keys]
            counts += _score_batch(objective, keys, policy)
    return counts


def _answer_keys(batch: Sequence[Response], policy: Policy) -> dict[int, AnswerKey]:
    """The keys of the objective revisions that *batch* answers, by revision."""
    wanted = {response.revision_id for response in batch}
    repaired = repaired_keys(wanted) if policy is Policy.STRICT else {}
    rows = QuestionRevision.objects.filter(
        pk__in=wanted, question__part=Part.OBJECTIVE, question_type__in=CHOICE_TYPES
    ).values_list("pk", "question_type", "letters", "answer_key", "published_key", "sub_marks")
    keys: dict[int, AnswerKey] = {}
    for pk, question_type, letters, key, published, marks in rows:
        version = SCORE_VERSION
        if policy is Policy.PUBLISHED and published is not None:
            key = published
        elif pk in repaired:
            key, version = repaired[pk].key, SCORE_VERSION + repaired[pk].mark
        fits = len(key) == len(marks) and (len(key) == 1 or question_type in SEVERAL_ANSWERS)
        if key and fits:
            sub_marks = tuple(map(Decimal, marks))
            keys[pk] = AnswerKey(question_type, letters, tuple(key), sub_marks, version)
    return keys


@transaction.atomic
def _score_batch(
    responses: Sequence[Response], keys: dict[int, AnswerKey], policy: Policy
) -> Counts:
    """One batch under one policy; readings that another worker added first are taken over."""
    scored = set(
        ObjectiveScore.objects.filter(
            response__in=[response.pk for response in responses],
            policy=policy,
        ).values_list("response_id", "version")
    )
    open_ = [
        response
        for response in responses
        if (response.pk, keys[response.revision_id].version) not in scored
    ]
    readings = {
        response.pk: _read(response, keys[response.revision_id], policy) for response in open_
    }
    stored = _store_readings(readings, policy)
    results = {
        response.pk: _result(readings[response.pk], keys[response.revision_id], policy)
        for response in open_
    }
    versions = {response.pk: keys[response.revision_id].version for response in open_}
    scores = _scores(results, stored, versions, policy)
    ObjectiveScore.objects.bulk_create(scores, ignore_conflicts=True)
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
    results: dict[int, ObjectiveResult],
    stored: dict[int, int],
    versions: dict[int, str],
    policy: Policy,
) -> Iterator[ObjectiveScore]:
    for response, result in results.items():
        yield ObjectiveScore(
            response_id=response,
            extraction_id=stored[response],
            policy=policy,
            version=versions[response],
            points=result.points,
            full=result.full,
            sub_points=[str(points) for points in result.sub_points],
            outcome=result.outcome,
        )

"""Reads and scores objective responses by rule, and keeps every reading and every score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import islice

from django.db import transaction

from evaluations.models import Extraction, ObjectiveScore, Response
from evaluations.rules.extraction.blanks import READER_VERSION as EXACT_VERSION
from evaluations.rules.extraction.cascade import EXTRACTOR_VERSION
from evaluations.rules.extraction.outcome import Extraction as Reading
from evaluations.rules.scoring.multi_choice_credit import default_partial_credit
from evaluations.rules.scoring.objective import ObjectiveResult, has_key, score_objective
from evaluations.rules.scoring.outcomes import LedgerOutcome
from evaluations.rules.scoring.policies import (
    SCORER_VERSION,
    Policy,
    published_rules,
)
from evaluations.selectors.reading_patterns import PatternSet, accepted_patterns
from evaluations.selectors.repaired_keys import repaired_keys
from evaluations.services.readers import (
    ERROR_TEXT_VERSION,
    PUBLISHED_VERSIONS,
    AnswerKey,
    Read,
    StrictReaders,
    read_published,
)
from gradeapp.collector import collector_paused
from questions.models import QuestionRevision
from questions.rules.vocabulary import OBJECTIVE_TYPES, Part, QuestionType

BATCH = 500

# What a score is called begins with its reader and the scorer; see ``version_of``.
SCORE_VERSION = f"{EXTRACTOR_VERSION}+{SCORER_VERSION}"
PRESENT_VERSIONS = (
    SCORE_VERSION,
    *(
        f"{reader}+{SCORER_VERSION}"
        for reader in (EXACT_VERSION, *PUBLISHED_VERSIONS.values(), ERROR_TEXT_VERSION)
    ),
)

SEVERAL_ANSWERS = (
    QuestionType.SEVERAL_QUESTIONS,
    QuestionType.FIVE_OUT_OF_SEVEN,
    QuestionType.EXACT_ANSWER,
)

Counts = Counter[tuple[Policy, str]]
Keys = Mapping[int, AnswerKey]


def score_responses(
    responses: Iterable[Response], *, policies: Sequence[Policy] = tuple(Policy)
) -> Counts:
    """Score the objective ones among *responses* under each of *policies*.

    Append-only and idempotent: a response that has a score of this policy and of
    the present reader and scorer is passed over. The result counts the scores
    that were added, by (policy, outcome). A revision without a key, or whose keys
    and marks do not fit together, has no score, and under ``published`` none for
    which no rules are published; reports count these responses as not scored.

    Where a curator repaired a key, ``strict`` scores by the repaired one, also the
    answers that were given to the same text before, and ``published`` by the
    published one. Under ``strict`` a person's check of a reading counts before a
    model's reading, and that before the cascade and the accepted patterns.
    """
    counts: Counts = Counter()
    patterns = accepted_patterns() if Policy.STRICT in policies else PatternSet()
    iterator = iter(responses)
    while batch := list(islice(iterator, BATCH)):
        for policy in policies:
            keys = answer_keys({response.revision_id for response in batch}, policy)
            objective = [response for response in batch if response.revision_id in keys]
            counts += _score_batch(objective, keys, policy, patterns)
    return counts


def answer_keys(revisions: Iterable[int], policy: Policy) -> dict[int, AnswerKey]:
    """The keys of the objective ones among *revisions*, by revision."""
    wanted = set(revisions)
    repaired = repaired_keys(wanted) if policy is Policy.STRICT else {}
    rows = QuestionRevision.objects.filter(
        pk__in=wanted, question__part=Part.OBJECTIVE, question_type__in=OBJECTIVE_TYPES
    ).values_list(
        *("pk", "question_type", "letters", "answer_key", "published_key", "sub_marks"),
        *("question__task__slug", "question__task__dataset__slug", "question__subject"),
    )
    keys: dict[int, AnswerKey] = {}
    for pk, question_type, letters, key, published, marks, task, dataset, subject in rows:
        rules, mark = None, ""
        if policy is Policy.PUBLISHED:
            rules = published_rules(dataset, question_type)
            if rules is None:
                continue
            key = key if published is None else published
        elif pk in repaired:
            key, mark = repaired[pk].key, repaired[pk].mark
        fits = len(key) == len(marks) and (len(key) == 1 or question_type in SEVERAL_ANSWERS)
        if has_key(key) and fits:
            sub_marks = tuple(map(Decimal, marks))
            keys[pk] = AnswerKey(
                question_type, letters, tuple(key), sub_marks, dataset, task, subject, mark, rules
            )
    return keys


def version_of(key: AnswerKey, mark: str) -> str:
    """The name of a score: its reader, the scorer, and what decided beside them."""
    own = SCORE_VERSION if key.reader == EXTRACTOR_VERSION else f"{key.reader}+{SCORER_VERSION}"
    return f"{own}{mark}{key.mark}"


@collector_paused()
@transaction.atomic
def _score_batch(
    responses: Sequence[Response], keys: Keys, policy: Policy, patterns: PatternSet
) -> Counts:
    """One batch under one policy; readings that another worker added first are taken over."""
    scored = set(
        ObjectiveScore.objects.filter(
            response__in=[response.pk for response in responses],
            policy=policy,
        ).values_list("response_id", "version")
    )
    reads = {
        response.pk: (read, key)
        for response, key, read in _unscored(responses, keys, policy, patterns, scored)
    }
    if not reads:
        return Counter()
    stored = _store_readings({pk: read for pk, (read, _key) in reads.items()}, policy)
    results = {pk: _result(read, key, policy) for pk, (read, key) in reads.items()}
    versions = {pk: version_of(key, read.mark) for pk, (read, key) in reads.items()}
    scores = _scores(results, stored, versions, policy)
    ObjectiveScore.objects.bulk_create(scores, ignore_conflicts=True)
    return Counter((policy, str(result.outcome)) for result in results.values())


def _unscored(
    responses: Sequence[Response],
    keys: Keys,
    policy: Policy,
    patterns: PatternSet,
    scored: set[tuple[int, str]],
) -> Iterator[tuple[Response, AnswerKey, Read]]:
    """The responses that have no score by the present rules, with their key, read."""
    readers = StrictReaders(responses, patterns) if policy is Policy.STRICT else None
    for response in responses:
        key = keys[response.revision_id]
        if response.is_error_text:
            key = replace(key, error_text=True)
        mark = readers.mark_of(response, key) if readers else ""
        if mark is not None and (response.pk, version_of(key, mark)) in scored:
            continue
        read = readers.read(response, key) if readers else read_published(response, key)
        if (response.pk, version_of(key, read.mark)) not in scored:
            yield response, key, read


def _result(read: Read, key: AnswerKey, policy: Policy) -> ObjectiveResult:
    if read.outcome == LedgerOutcome.API_ERROR:
        # No points under either policy; that ``strict`` leaves it out of n is for reports.
        nothing = tuple(Decimal(0) for _marks in key.sub_marks)
        full = sum(key.sub_marks, Decimal(0))
        return ObjectiveResult(Decimal(0), full, nothing, LedgerOutcome.API_ERROR)
    return score_objective(
        answers=read.reading.answers,
        key=key.key,
        sub_marks=key.sub_marks,
        question_type=key.question_type,
        outcome=read.reading.outcome,
        policy=policy,
        partial_credit=default_partial_credit(
            key.question_type, key.dataset, subject=key.subject, policy=policy
        ),
    )


def _store_readings(reads: Mapping[int, Read], policy: Policy) -> dict[int, int]:
    """Keep the readings (by response); the id of the one that counts for each response."""
    # What came first is stored first: the newest reading of a response is the one that counts.
    versioned: list[tuple[int, Reading, str, str]] = [
        (response, read.first, read.first.outcome, EXTRACTOR_VERSION)
        for response, read in reads.items()
        if read.first is not None
    ]
    versioned += [
        (response, read.reading, read.outcome, read.version) for response, read in reads.items()
    ]
    Extraction.objects.bulk_create(
        (
            Extraction(
                response_id=response,
                policy=policy,
                version=version,
                answers=list(reading.answers),
                spans=[span and list(span) for span in reading.spans],
                outcome=outcome,
                method=reading.method,
                pattern=reading.pattern,
                confidence=reading.confidence,
            )
            for response, reading, outcome, version in versioned
        ),
        ignore_conflicts=True,
    )
    versions = {read.version for read in reads.values()}
    kept = Extraction.objects.filter(
        response__in=list(reads), policy=policy, version__in=versions
    ).values_list("response_id", "version", "pk")
    by_version = {(response, version): pk for response, version, pk in kept}
    return {response: by_version[response, read.version] for response, read in reads.items()}


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

"""Reading and scoring of objective responses by rule; every reading and score is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice
from typing import Any

from django.db import transaction

from evaluations.facts.answer_facts import record_scores
from evaluations.facts.published import how_asked
from evaluations.models import Extraction, ObjectiveScore, Response
from evaluations.reading.rules.extraction.blanks import READER_VERSION as EXACT_VERSION
from evaluations.reading.rules.extraction.cascade import EXTRACTOR_VERSION
from evaluations.reading.rules.extraction.reading import Extraction as Reading
from evaluations.reading.rules.scoring.objective import (
    ObjectiveResult,
    default_partial_credit,
    has_key,
    score_objective,
    score_without_key,
    wrong_without_key,
)
from evaluations.reading.selectors.reading_patterns import PatternSet, accepted_patterns
from evaluations.reading.services.readers import (
    BASIS_COLUMNS,
    ERROR_TEXT_VERSION,
    PUBLISHED_VERSIONS,
    AnswerKey,
    Basis,
    Read,
    StrictReaders,
    read_published,
)
from evaluations.runs.rules.option_order import as_printed
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.policies import SCORER_VERSION, Policy, published_rules
from gradeapp.common.bulk_sql import update_rows
from gradeapp.common.collector import collector_paused
from questions.models import QuestionRevision
from questions.rules.vocabulary import OBJECTIVE_TYPES, SEVERAL_ANSWERS, Part
from questions.selectors.repaired_keys import repaired_keys

BATCH = 500

# The present readers; a score by another one is outdated.
PRESENT_READERS = (
    *(EXTRACTOR_VERSION, EXACT_VERSION, ERROR_TEXT_VERSION),
    *PUBLISHED_VERSIONS.values(),
)

Counts = Counter[tuple[Policy, str]]
Keys = Mapping[Response, AnswerKey]


def score_responses(
    responses: Iterable[Response], *, policies: Sequence[Policy] = tuple(Policy)
) -> Counts:
    """Score the objective ones among *responses* under each of *policies*.

    Append-only and idempotent: a response whose current score of this policy rests on
    the present reader, scorer, key and decisions is passed over. The result counts the
    scores that were added, by (policy, outcome). A revision without a key has no score, except
    under published rules that count it as wrong (``wrong_without_key``); one whose keys and marks
    do not fit together has none. Under ``published`` it has none for which no rules
    are published, or that was not asked by the published prompts (``HowAsked``). Reports count
    these responses as not scored.

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
            with transaction.atomic():
                _hold(batch, policy)
                keys = answer_keys({response.revision_id for response in batch}, policy)
                objective = {
                    response: key
                    for response in batch
                    if (key := keys.get(response.revision_id)) is not None
                }
                if policy is Policy.PUBLISHED:
                    objective = _by_published_rules(objective)
                counts += _score_batch(objective, policy, patterns)
    return counts


def _hold(responses: Sequence[Response], policy: Policy) -> None:
    """Lock *responses* until the transaction ends, and set which of their scores count by now.

    Whoever scores one of them at the same time, after a person's check or with a repaired key, was
    before and is seen, or comes after and counts.
    """
    names = [f"{Response.score_field(policy)}_id"]
    if policy is Policy.STRICT:
        names.append("rule_reading_id")
    rows = Response.objects.filter(pk__in=[response.pk for response in responses]).order_by("pk")
    held = rows.select_for_update(of=("self",), no_key=True).values_list("pk", *names)
    now = {pk: values for pk, *values in held}
    for response in responses:
        for name, value in zip(names, now.get(response.pk, ()), strict=False):
            setattr(response, name, value)


def _by_published_rules(keys: Mapping[Response, AnswerKey]) -> dict[Response, AnswerKey]:
    """Return those of *keys* that published rules score, with the rules of the prompts used."""
    asked = how_asked({response.run_id for response in keys})
    found = {}
    for response, key in keys.items():
        how = asked[response.run_id]
        rules = how.rules(key.dataset, key.question_type)
        scored = has_key(key.key) or wrong_without_key(rules, key.question_type)
        if rules is not None and scored:
            found[response] = replace(key, rules=rules, setting=how.agieval_setting)
    return found


def answer_keys(revisions: Iterable[int], policy: Policy) -> dict[int, AnswerKey]:
    """Return the keys of the objective ones among *revisions*, by revision, without rules.

    Under ``published`` also empty ones, where the rules of the dataset count every answer as wrong.
    """
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
        repaired_by = None
        if policy is Policy.PUBLISHED:
            key = key if published is None else published
        elif pk in repaired:
            key, repaired_by = repaired[pk].key, repaired[pk].revision
            repaired_by = None if repaired_by == pk else repaired_by
        fits = len(key) == len(marks) and (len(key) == 1 or question_type in SEVERAL_ANSWERS)
        scored = has_key(key) or (
            policy is Policy.PUBLISHED
            and wrong_without_key(published_rules(dataset, question_type), question_type)
        )
        if scored and fits:
            sub_marks = tuple(map(Decimal, marks))
            keys[pk] = AnswerKey(
                *(question_type, letters, tuple(key), sub_marks, dataset, task, subject),
                repaired_by,
            )
    return keys


@dataclass(frozen=True, slots=True)
class ScoreBasis:
    """What a score was made with: the basis of its reading, the scorer, the key and the rules."""

    reading: Basis
    key_revision: int | None
    published_rules: str

    def columns(self) -> dict[str, Any]:
        """Return the values of the model's columns."""
        return {
            **self.reading.columns(),
            "scorer_version": SCORER_VERSION,
            "key_revision_id": self.key_revision,
            "published_rules": self.published_rules,
        }


def score_basis(key: AnswerKey, basis: Basis) -> ScoreBasis:
    """Return what a score by *key* of a reading with *basis* rests on."""
    return ScoreBasis(basis, key.revision, key.rules or "")


SCORE_COLUMNS = tuple(ScoreBasis(Basis(""), None, "").columns())
# By response and by what it rests on: the ids of a score and of its reading.
Stored = dict[int, dict[tuple[Any, ...], tuple[int, int]]]


@collector_paused()
def _score_batch(keys: Keys, policy: Policy, patterns: PatternSet) -> Counts:
    """Score the held responses in *keys* under one policy; point each to the score that counts.

    A response whose present score has the present basis is passed over. Rows that
    another worker added first are used as they are.
    """
    responses = list(keys)
    stored = _stored_scores(responses, policy)
    field = f"{Response.score_field(policy)}_id"
    readers = StrictReaders(responses, patterns) if policy is Policy.STRICT else None
    reads: dict[int, tuple[Read, AnswerKey]] = {}
    chosen: dict[int, ScoreBasis] = {}
    for response, key in keys.items():
        if response.is_error_text or response.option_order:
            key = replace(
                key, error_text=response.is_error_text, option_order=response.option_order
            )
        known = stored.get(response.pk, {})
        basis = readers.basis_of(response, key) if readers else Basis(key.reader)
        read = None
        if basis is None or _row_of(score_basis(key, basis)) not in known:
            read = readers.read(response, key) if readers else read_published(response, key)
            basis = read.score_basis
        wanted = score_basis(key, basis)
        kept = known.get(_row_of(wanted))
        if kept is None and read is not None:
            reads[response.pk] = (read, key)
        if kept is None or kept[0] != getattr(response, field):
            chosen[response.pk] = wanted
    if reads:
        extractions = _store_readings({pk: read for pk, (read, _key) in reads.items()}, policy)
        results = {pk: _result(read, key, policy) for pk, (read, key) in reads.items()}
        ObjectiveScore.objects.bulk_create(
            _scores(results, extractions, chosen, policy), ignore_conflicts=True
        )
    else:
        results = {}
    by_rules = {
        pk for pk in chosen if (reads[pk][0].basis if pk in reads else chosen[pk].reading).by_rules
    }
    _point_to_scores([one for one in responses if one.pk in chosen], chosen, policy, by_rules)
    return Counter((policy, str(result.outcome)) for result in results.values())


def _row_of(basis: ScoreBasis) -> tuple[Any, ...]:
    return tuple(basis.columns().values())


def _stored_scores(responses: Iterable[Response], policy: Policy) -> Stored:
    """Return the stored scores of *responses* under *policy*."""
    rows = ObjectiveScore.objects.filter(
        response__in=[response.pk for response in responses], policy=policy
    ).values_list("response_id", "pk", "extraction_id", *SCORE_COLUMNS)
    stored: Stored = {}
    for response, pk, extraction, *row in rows.order_by():
        stored.setdefault(response, {})[tuple(row)] = pk, extraction
    return stored


def _point_to_scores(
    responses: Sequence[Response],
    chosen: Mapping[int, ScoreBasis],
    policy: Policy,
    by_rules: Collection[int],
) -> None:
    """Make the score with the chosen basis the current one of each of *responses*.

    Under ``strict`` its reading becomes the current one by rules for those *by_rules*.
    """
    if not responses:
        return
    stored = _stored_scores(responses, policy)
    field = Response.score_field(policy)
    for response in responses:
        score, extraction = stored[response.pk][_row_of(chosen[response.pk])]
        setattr(response, f"{field}_id", score)
        if policy is Policy.STRICT and response.pk in by_rules:
            response.rule_reading_id = extraction
    columns = {f"{field}_id": "bigint"}
    if policy is Policy.STRICT:
        columns["rule_reading_id"] = "bigint"
    rows = [[*(getattr(one, name) for name in columns), one.pk] for one in responses]
    update_rows("evaluations_response", columns, rows)
    record_scores((response.pk for response in responses), policy)


def _result(read: Read, key: AnswerKey, policy: Policy) -> ObjectiveResult:
    if read.outcome == LedgerOutcome.API_ERROR:
        # No points under either policy; that ``strict`` leaves it out of n is for reports.
        nothing = tuple(Decimal(0) for _marks in key.sub_marks)
        full = sum(key.sub_marks, Decimal(0))
        return ObjectiveResult(Decimal(0), full, nothing, LedgerOutcome.API_ERROR)
    answers = as_printed(read.reading.answers, key.letters, key.option_order)
    if not has_key(key.key):
        return score_without_key(answers, key.sub_marks, read.reading.outcome)
    return score_objective(
        answers=answers,
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
    rows: list[tuple[int, Reading, str, Basis]] = [
        (response, read.first, read.first.outcome, Basis(read.basis.reader_version))
        for response, read in reads.items()
        if read.first is not None
    ]
    rows += [(response, read.reading, read.outcome, read.basis) for response, read in reads.items()]
    Extraction.objects.bulk_create(
        (
            Extraction(
                response_id=response,
                policy=policy,
                answers=list(reading.answers),
                spans=[span and list(span) for span in reading.spans],
                outcome=outcome,
                method=reading.method,
                pattern=reading.pattern,
                confidence=reading.confidence,
                **basis.columns(),
            )
            for response, reading, outcome, basis in rows
        ),
        ignore_conflicts=True,
    )
    kept = Extraction.objects.filter(response__in=list(reads), policy=policy).order_by()
    by_basis = {
        (response, tuple(basis)): pk
        for response, pk, *basis in kept.values_list("response_id", "pk", *BASIS_COLUMNS)
    }
    return {
        response: by_basis[response, tuple(read.basis.columns().values())]
        for response, read in reads.items()
    }


def _scores(
    results: dict[int, ObjectiveResult],
    stored: dict[int, int],
    chosen: Mapping[int, ScoreBasis],
    policy: Policy,
) -> Iterator[ObjectiveScore]:
    for response, result in results.items():
        yield ObjectiveScore(
            response_id=response,
            extraction_id=stored[response],
            policy=policy,
            points=result.points,
            full=result.full,
            sub_points=[str(points) for points in result.sub_points],
            outcome=result.outcome,
            **chosen[response].columns(),
        )

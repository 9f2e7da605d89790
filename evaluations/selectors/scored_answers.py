"""Reads every answer with its points, as the rows that all reports are computed from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluations.models import FinalMark, Job, Judgement, ObjectiveScore, Response, Run
from evaluations.models.vocabulary import JobStatus, RunPurpose
from evaluations.rules.scoring.outcomes import LedgerOutcome
from evaluations.rules.scoring.policies import Policy
from evaluations.rules.statistics.gaokao_750 import published_item_mean
from evaluations.rules.statistics.rows import ScoredAnswer
from evaluations.selectors.report_params import TEACHERS, ReportParams
from questions.rules.vocabulary import ItemStatus, Part

KEY = "key"
UNMARKED = "unmarked"
NOT_JUDGED = "not_judged"


@dataclass(frozen=True, slots=True)
class Points:
    """What a marker gave to one response; None with the reason why there is nothing."""

    points: float | None
    outcome: str = ""
    reason: str = ""
    answer: str | None = None


def scored_answers(params: ReportParams) -> list[ScoredAnswer]:
    """One row for each answer to the dataset, and one for each call that failed for good.

    Objective answers carry the newest score of the policy (marker ``key``),
    subjective ones the newest settled final mark of the teachers, or the newest
    judgement of the judge. Under ``published`` a judge's mark is the mean of the
    totals released with it, possible or not; under ``strict`` an impossible one
    has no points, and its status as the reason. Answers to items that are
    quarantined or excluded come without points and with outcome ``excluded``.
    A failed call has the negative number of its job for a response.

    A model's runs are sittings of one row: a later run's repeats count on from
    the earlier run's.
    """
    marks = _judge_points(params) if params.is_judge else _teacher_points(params)
    given = {**_objective_points(params), **marks}
    first_repeats = _first_repeats(params)
    rows = [*_responses(params), *_failed_calls(params)]
    return [_scored(row, given, first_repeats[run], params) for run, row in rows]


def taking_part(rows: Iterable[ScoredAnswer]) -> Iterator[ScoredAnswer]:
    """The rows of items that are neither quarantined nor excluded."""
    return (row for row in rows if row.outcome != LedgerOutcome.EXCLUDED)


COLUMNS = (
    "pk",
    "run_id",
    "repeat",
    "question_id",
    "run__language_model__name",
    "question__task__slug",
    "question__subject",
    "question__part",
    "question__year",
    "question__status",
    "revision__full_marks",
    "revision__answer_key",
)


def _responses(params: ReportParams) -> Iterator[tuple[int, ScoredAnswer]]:
    answers = Response.objects.filter(_asked_for(params), run__purpose=RunPurpose.ANSWER)
    return _rows(answers.order_by("pk"), params)


def _failed_calls(params: ReportParams) -> Iterator[tuple[int, ScoredAnswer]]:
    """Jobs that failed after their last attempt and whose answer never came."""
    answered = Response.objects.filter(
        run=OuterRef("run"), question=OuterRef("question"), repeat=OuterRef("repeat")
    )
    failed = Job.objects.filter(
        _asked_for(params),
        ~Exists(answered),
        run__purpose=RunPurpose.ANSWER,
        status=JobStatus.FAILED,
    )
    for run, row in _rows(failed.order_by("pk"), params):
        outcome = row.outcome or LedgerOutcome.API_ERROR.value
        yield run, replace(row, response=-row.response, outcome=outcome, reason=outcome)


def _asked_for(params: ReportParams, path: str = "") -> Q:
    """The filter of *params* on responses, or on what *path* (``response__``) leads from."""
    wanted = Q(**{f"{path}run__dataset__slug": params.dataset})
    if params.models:
        wanted &= Q(**{f"{path}run__language_model__name__in": params.models})
    if params.year is not None:
        wanted &= Q(**{f"{path}question__year": params.year})
    return wanted


def _rows(answers: QuerySet[Any], params: ReportParams) -> Iterator[tuple[int, ScoredAnswer]]:
    """Rows without points, each with its run."""
    for columns in answers.values_list(*COLUMNS):
        pk, run, repeat, question, model, task, subject, part, year, status, full, key = columns
        excluded = status != ItemStatus.ACTIVE
        yield (
            run,
            ScoredAnswer(
                response=pk,
                question=question,
                model=model,
                dataset=params.dataset,
                task=task,
                subject=subject,
                part=part,
                year=year,
                repeat=repeat,
                marker=KEY if part == Part.OBJECTIVE else params.marker or TEACHERS,
                policy=params.policy,
                points=None,
                full=float(full),
                subs=max(len(key), 1),
                outcome=LedgerOutcome.EXCLUDED.value if excluded else "",
                reason=status if excluded else "",
            ),
        )


def _scored(
    row: ScoredAnswer, given: Mapping[int, Points], first_repeat: int, params: ReportParams
) -> ScoredAnswer:
    row = replace(row, repeat=first_repeat + row.repeat)
    if row.outcome:
        return row
    points = given.get(row.response)
    if points is None:
        reason = NOT_JUDGED if params.is_judge else UNMARKED
        reason = LedgerOutcome.NOT_SCORED.value if row.part == Part.OBJECTIVE else reason
        points = Points(None, LedgerOutcome.NOT_SCORED.value, reason)
    return replace(
        row,
        points=points.points,
        outcome=points.outcome,
        reason=points.reason,
        answer=points.answer,
    )


def _first_repeats(params: ReportParams) -> dict[int, int]:
    """How many repeats of the same model come before each run's own."""
    runs = Run.objects.filter(dataset__slug=params.dataset, purpose=RunPurpose.ANSWER)
    before: dict[int, int] = defaultdict(int)
    first: dict[int, int] = {}
    for run, model, repeats in runs.order_by("pk").values_list("pk", "language_model", "repeats"):
        first[run] = before[model]
        before[model] += repeats
    return first


def _objective_points(params: ReportParams) -> dict[int, Points]:
    """By response; a later row is a newer score and takes the place of an earlier one."""
    scores = ObjectiveScore.objects.filter(
        _asked_for(params, "response__"), policy=params.policy
    ).order_by("pk")
    return {
        response: Points(float(points), outcome, answer=_spelled(answers))
        for response, points, outcome, answers in scores.values_list(
            "response", "points", "outcome", "extraction__answers"
        )
    }


def _spelled(answers: list[str | None]) -> str:
    """One spelling for what was read, ``A - BD`` with a gap; empty when nothing was."""
    return " ".join(answer or "-" for answer in answers) if any(answers) else ""


def _teacher_points(params: ReportParams) -> dict[int, Points]:
    finals = FinalMark.objects.filter(_asked_for(params, "answer__response__")).order_by("pk")
    return {
        response: Points(float(value))
        for response, value in finals.values_list("answer__response", "value")
    }


def _judge_points(params: ReportParams) -> dict[int, Points]:
    judgements = Judgement.objects.filter(
        _asked_for(params, "response__"), judge__name=params.judge
    ).order_by("pk")
    return {
        response: judge_points(total, status, released, params.policy)
        for response, total, status, released in judgements.values_list(
            "response", "total", "status", "released"
        )
    }


def judge_points(total: object, status: str, released: list[float | None], policy: str) -> Points:
    """A judgement's points: as released under ``published``, else only a possible total."""
    published = published_item_mean(released) if policy == Policy.PUBLISHED else None
    if published is not None:
        return Points(published)
    if total is None:
        return Points(None, LedgerOutcome.NOT_SCORED.value, status)
    return Points(float(str(total)))

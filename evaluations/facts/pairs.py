"""Read the marks that two markers gave to the same responses, for the agreement report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Q

from evaluations.facts.open_marking import marks_wait_for_the_lead
from evaluations.facts.params import JUDGE_PREFIX, TEACHERS, ReportParams
from evaluations.facts.points import judge_points, left_out
from evaluations.models import BlindAnswer, FinalMark, Judgement, Mark
from evaluations.models.vocabulary import SlotKind
from evaluations.statistics.agreement import MarkPair
from gradeapp.common.casts import json_text, real

TEACHER_PAIR = "teacher-teacher"
JUDGE_PAIR = "teachers-"


@dataclass(frozen=True, slots=True)
class Answer:
    """Fields that both marks of a blind answer have in common."""

    response: int
    model: str
    condition: str
    subject: str
    full: float
    tolerance: float

    def pair(self, kind: str, x: float, y: float) -> MarkPair:
        """Return two marks of this answer."""
        return MarkPair(
            model=self.model,
            condition=self.condition,
            subject=self.subject,
            pair=kind,
            x=x,
            y=y,
            full=self.full,
            tolerance=self.tolerance,
            response=self.response,
        )


def mark_pairs(params: ReportParams) -> list[MarkPair]:
    """Return pairs of first and second marks, and of final marks with the marks of each judge.

    ``marker`` selects one kind of pair: ``teachers`` or ``judge:NAME``; without it all are
    returned. First and second marks are paired also if a third mark or the lead decided, because
    the report is about agreement before correction.
    """
    answers = _answers(params)
    pairs: list[MarkPair] = []
    if params.marker in ("", TEACHERS):
        pairs += _teacher_pairs(params, answers)
    if params.marker != TEACHERS:
        pairs += _judge_pairs(params, answers)
    return pairs


def _wanted(params: ReportParams, path: str = "") -> Q:
    """Return the filter of *params* on blind answers at *path*, without items that do not count."""
    wanted = params.of_rounds(f"{path}round")
    wanted &= params.of_runs(f"{path}response__run__")
    wanted &= ~Q(**{f"{path}question__status__in": left_out(params.policy)})
    if params.year is not None:
        wanted &= Q(**{f"{path}question__year": params.year})
    if params.without_blind:
        wanted &= Q(**{f"{path}response__images_omitted": 0})
    return wanted


def _answers(params: ReportParams) -> dict[int, Answer]:
    """Return the blind answers of *params* by their key."""
    asked = ("response__run__language_model__name", "response__run__condition__name")
    columns = ("pk", "response_id", *asked, "question__subject")
    rows = BlindAnswer.objects.filter(_wanted(params)).order_by()
    return {
        pk: Answer(response, model, condition, subject, full, tolerance)
        for pk, response, model, condition, subject, full, tolerance in rows.values_list(
            *columns, real("full_marks"), real("tolerance")
        )
    }


def _teacher_pairs(params: ReportParams, answers: Mapping[int, Answer]) -> Iterator[MarkPair]:
    """Yield the newest versions of the first and second mark of each answer that has both."""
    kinds = (SlotKind.FIRST.value, SlotKind.SECOND.value)
    marks = Mark.objects.counting().filter(_wanted(params, "slot__answer__"), slot__kind__in=kinds)
    marks = marks.exclude(marks_wait_for_the_lead("slot__answer__"))
    totals: dict[int, dict[str, float]] = defaultdict(dict)
    columns = ("slot__answer_id", "slot__kind", real("total"))
    for answer, kind, total in marks.order_by("version", "pk").values_list(*columns):
        totals[answer][kind] = total
    for answer, given in totals.items():
        if len(given) == len(kinds):
            x, y = (given[kind] for kind in kinds)
            yield answers[answer].pair(TEACHER_PAIR, x, y)


def _judge_pairs(params: ReportParams, answers: Mapping[int, Answer]) -> Iterator[MarkPair]:
    """Yield the newest final mark of each response with the judgement of each judge."""
    newest = FinalMark.objects.counting().filter(_wanted(params, "answer__")).order_by("pk")
    finals = {
        answers[answer].response: (answers[answer], value)
        for answer, value in newest.values_list("answer_id", real("value"))
    }
    for (judge, response), points in _judgements(params).items():
        if points is not None and response in finals:
            answer, final = finals[response]
            yield answer.pair(f"{JUDGE_PAIR}{JUDGE_PREFIX}{judge}", final, points)


def _judgements(params: ReportParams) -> dict[tuple[str, int], float | None]:
    judgements = Judgement.objects.counting().filter(response__run__dataset__slug=params.dataset)
    if params.is_judge:
        judgements = judgements.filter(judge__name=params.judge)
    rows = judgements.order_by("pk").values_list(
        *("judge__name", "response", real("total"), "status", json_text("released")),
        "judge__suspended_at",
    )
    return {
        (judge, response): judge_points(total, status, released, params.policy, suspended).points
        for judge, response, total, status, released, suspended in rows
    }

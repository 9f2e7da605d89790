"""Reads the marks that two markers gave to the same responses, for the agreement report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from django.db.models import Q

from evaluations.models import FinalMark, Judgement, Mark
from evaluations.models.vocabulary import SlotKind
from evaluations.rules.statistics.agreement import MarkPair
from evaluations.selectors.report_params import JUDGE_PREFIX, TEACHERS, ReportParams
from evaluations.selectors.scored_answers import judge_points
from questions.rules.vocabulary import ItemStatus

TEACHER_PAIR = "teacher-teacher"
JUDGE_PAIR = "teachers-"

# Of one blind answer: model, subject, full marks, tolerance.
CONTEXT = (
    "response__run__language_model__name",
    "question__subject",
    "full_marks",
    "tolerance",
)


def mark_pairs(params: ReportParams) -> list[MarkPair]:
    """First and second mark of the teachers, and their final mark with each judge's.

    ``marker`` picks one kind of pair: ``teachers`` or ``judge:NAME``; without it
    all come. The first two marks pair also where a third or the lead decided:
    how far teachers agree before they are corrected is the question.
    """
    pairs: list[MarkPair] = []
    if params.marker in ("", TEACHERS):
        pairs += _teacher_pairs(params)
    if params.marker != TEACHERS:
        pairs += _judge_pairs(params)
    return pairs


def _wanted(params: ReportParams, path: str) -> Q:
    """The filter on blind answers that *path* leads to; items under doubt take no part."""
    wanted = Q(
        **{
            f"{path}response__run__dataset__slug": params.dataset,
            f"{path}question__status": ItemStatus.ACTIVE,
        }
    )
    if params.models:
        wanted &= Q(**{f"{path}response__run__language_model__name__in": params.models})
    if params.year is not None:
        wanted &= Q(**{f"{path}question__year": params.year})
    return wanted


def _teacher_pairs(params: ReportParams) -> Iterator[MarkPair]:
    """The newest version of both marks of each answer that has both."""
    kinds = (SlotKind.FIRST.value, SlotKind.SECOND.value)
    path = "slot__answer__"
    marks = Mark.objects.filter(_wanted(params, path), stale=False, slot__kind__in=kinds)
    totals: dict[int, dict[str, float]] = defaultdict(dict)
    contexts: dict[int, tuple[object, ...]] = {}
    columns = (f"{path}pk", "slot__kind", "total", *(f"{path}{name}" for name in CONTEXT))
    for answer, kind, total, *context in marks.order_by("version", "pk").values_list(*columns):
        totals[answer][kind] = float(total)
        contexts[answer] = tuple(context)
    for answer, given in totals.items():
        if len(given) == len(kinds):
            x, y = (given[kind] for kind in kinds)
            yield _pair(TEACHER_PAIR, x, y, contexts[answer])


def _judge_pairs(params: ReportParams) -> Iterator[MarkPair]:
    """The newest final mark of each response with the newest judgement of each judge."""
    finals: dict[int, tuple[float, tuple[object, ...]]] = {}
    columns = ("answer__response", "value", *(f"answer__{name}" for name in CONTEXT))
    newest = FinalMark.objects.filter(_wanted(params, "answer__")).order_by("pk")
    for response, value, *context in newest.values_list(*columns):
        finals[response] = (float(value), tuple(context))
    for (judge, response), points in _judgements(params).items():
        if points is not None and response in finals:
            final, context = finals[response]
            yield _pair(f"{JUDGE_PAIR}{JUDGE_PREFIX}{judge}", final, points, context)


def _judgements(params: ReportParams) -> dict[tuple[str, int], float | None]:
    judgements = Judgement.objects.filter(response__run__dataset__slug=params.dataset)
    if params.is_judge:
        judgements = judgements.filter(judge__name=params.judge)
    return {
        (judge, response): judge_points(total, status, released, params.policy).points
        for judge, response, total, status, released in judgements.order_by("pk").values_list(
            "judge__name", "response", "total", "status", "released"
        )
    }


def _pair(kind: str, x: float, y: float, context: tuple[object, ...]) -> MarkPair:
    model, subject, full, tolerance = context
    return MarkPair(
        model=str(model),
        subject=str(subject),
        pair=kind,
        x=x,
        y=y,
        full=float(str(full)),
        tolerance=float(str(tolerance)),
    )

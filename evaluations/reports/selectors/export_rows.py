"""Reads scores and marks line by line, for export."""

from __future__ import annotations

from collections.abc import Iterator

from evaluations.facts.params import ReportParams
from evaluations.marking.rounds.selectors.exports import Cells, marks_as_cells
from evaluations.models import Mark
from evaluations.reports.selectors.scored_answers import scored_answers
from questions.models import Question

SCORE_COLUMNS = (
    *("dataset", "model", "task", "id", "subject", "part", "year", "repeat"),
    *("marker", "policy", "points", "full", "sub_answers", "outcome", "reason", "answer"),
)


def score_rows(params: ReportParams) -> Iterator[Cells]:
    """Every answer with its points, in ``SCORE_COLUMNS``; the subjective ones of one marker."""
    questions = Question.objects.filter(task__dataset__slug=params.dataset)
    ids = dict(questions.values_list("pk", "external_id"))
    for row in scored_answers(params):
        yield (
            *(row.dataset, row.model, row.task, ids[row.question], row.subject, row.part),
            *(row.year, row.repeat, row.marker, row.policy, row.points, row.full),
            *(row.subs, row.outcome, row.reason, row.answer),
        )


def mark_rows(params: ReportParams) -> Iterator[Cells]:
    """The marks of a dataset's answers in the rounds that count, as ``marks_as_cells`` has them."""
    marks = Mark.objects.filter(
        params.of_rounds("slot__answer__round"),
        slot__answer__response__run__dataset__slug=params.dataset,
    )
    if params.models:
        marks = marks.filter(slot__answer__response__run__language_model__name__in=params.models)
    if params.year is not None:
        marks = marks.filter(slot__answer__question__year=params.year)
    return marks_as_cells(marks)

"""Count the questions that models have answered, of those that count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from django.db.models import Count

from evaluations.facts.params import ReportParams
from evaluations.facts.points import left_out
from evaluations.statistics.figure import Figure, ReportRow
from evaluations.statistics.gaokao_750 import STREAMS
from evaluations.statistics.tally import ALL
from questions.models import Question
from questions.rules.vocabulary import Stream

if TYPE_CHECKING:
    import pandas as pd

ANSWERED = "answered"


def with_answered(
    rows: Sequence[ReportRow], frame: pd.DataFrame, there: Mapping[str, int]
) -> list[ReportRow]:
    """Return *rows* of report ``converted`` with the figure ``answered``.

    Its value is the number of questions with an answer, marked or not, in the subject, or in all
    subjects of the stream; its n is the number of those that count. *frame* is the
    ``question_frame`` that the rows are from, *there* are the ``questions_by_subject``.
    """
    grouped = frame.groupby(["model", "condition", "subject"])["question"].nunique()
    answered = {key: int(n) for key, n in grouped.items()}
    made = []
    for row in rows:
        subject = row.key["subject"]
        subjects = STREAMS[Stream(row.key["stream"])] if subject == ALL else (subject,)
        value = sum(answered.get((*row.asked, str(one)), 0) for one in subjects)
        figure = Figure(value, sum(there.get(str(one), 0) for one in subjects))
        made.append(replace(row, figures=row.figures | {ANSWERED: figure}))
    return made


def questions_by_subject(params: ReportParams) -> dict[str, int]:
    """Return by subject how many questions of the dataset, and of the year asked for, count."""
    questions = Question.objects.filter(task__dataset__slug=params.dataset)
    if params.year is not None:
        questions = questions.filter(year=params.year)
    counting = questions.exclude(status__in=left_out(params.policy))
    return dict(counting.order_by().values_list("subject").annotate(n=Count("pk")))

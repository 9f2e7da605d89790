"""Keeps the rubrics that come with questions: a new accepted version where one changed."""

from __future__ import annotations

from collections.abc import Mapping

from questions.importers.records import QuestionRecord
from questions.models import Rubric
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint
from questions.selectors.rubrics import LINES, lines_of
from questions.services.rubric_rows import Origin, add_versions

SOURCE = "import"


def store_rubrics(records: Mapping[int, QuestionRecord]) -> None:
    """A new accepted version for each item (by key) whose rubric its source changed.

    What was imported last counts, not what a person made of it since: an unchanged
    rubric never comes back over a newer one. The number of queries does not depend
    on the number of items.
    """
    wanted = {question: _lines(record) for question, record in records.items() if record.rubric}
    if not wanted:
        return
    imported = Rubric.objects.filter(question__in=list(wanted), source=SOURCE).order_by("version")
    newest = {rubric.question_id: rubric for rubric in imported.prefetch_related(*LINES)}
    changed = {
        question: lines
        for question, lines in wanted.items()
        if question not in newest or lines_of(newest[question]) != lines
    }
    add_versions(changed, Origin(SOURCE, accepted=True))


def _lines(record: QuestionRecord) -> RubricLines:
    points = (ScoringPoint(p.text, p.points, p.sub, p.group) for p in record.rubric)
    groups = (PointGroup(g.cap, g.text, g.sub, g.choose) for g in record.rubric_groups)
    return RubricLines(tuple(points), tuple(groups))

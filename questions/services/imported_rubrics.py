"""Keeps the rubrics that come with questions: a new accepted version where one changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from questions.importers.records import QuestionRecord
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint
from questions.rules.vocabulary import RubricSource
from questions.selectors.rubrics import lines_of, newest_versions
from questions.services.rubric_rows import Origin, add_versions


def store_rubrics(records: Mapping[int, QuestionRecord]) -> set[int]:
    """A new accepted version for each item (by key) whose rubric its source changed.

    What was imported last counts, not what a person made of it since: an unchanged
    rubric never comes back over a newer one. Returns the items that got a version. The number
    of queries does not depend on the number of items.
    """
    wanted = {question: _lines(record) for question, record in records.items() if record.rubric}
    if not wanted:
        return set()
    before = newest_versions(wanted, source=RubricSource.IMPORT)
    changed = {
        question: lines
        for question, lines in wanted.items()
        if question not in before or lines_of(before[question]) != lines
    }
    return set(add_versions(changed, Origin(RubricSource.IMPORT, accepted=True)))


def _lines(record: QuestionRecord) -> RubricLines:
    return RubricLines(
        tuple(ScoringPoint(**asdict(point)) for point in record.rubric),
        tuple(PointGroup(**asdict(group)) for group in record.rubric_groups),
    )

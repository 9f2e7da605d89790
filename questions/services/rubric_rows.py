"""The rows of a rubric's version; what may be written is decided by those who call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from questions.models import Question, Rubric, RubricGroup, ScoringPoint
from questions.rules.rubric import RubricLines
from questions.rules.vocabulary import RubricSource
from questions.selectors.rubrics import lines_of, newest_versions


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a version comes from; ``accepted_at`` is None for a draft."""

    source: RubricSource
    created_by: int | None = None
    accepted_by: int | None = None
    accepted_at: datetime | None = None
    accepted: bool = False
    model_name: str = ""


def add_versions(wanted: Mapping[int, RubricLines], origin: Origin) -> dict[int, Rubric]:
    """One more version for each question (by primary key) whose newest one says something else.

    An accepted version is the one that counts from now on. The newest one is also followed where
    it is a draft and the new one is to count. The caller has locked the questions.
    """
    newest = newest_versions(wanted)
    changed = {
        question: lines
        for question, lines in wanted.items()
        if question not in newest or _differs(newest[question], lines, origin)
    }
    made = Rubric.objects.bulk_create(
        Rubric(
            question_id=question,
            version=newest[question].version + 1 if question in newest else 1,
            accepted=origin.accepted,
            source=origin.source,
            model_name=origin.model_name,
            created_by_id=origin.created_by,
            accepted_by_id=origin.accepted_by,
            accepted_at=origin.accepted_at,
        )
        for question in changed
    )
    rubrics = {rubric.question_id: rubric for rubric in made}
    if origin.accepted:
        moved = [Question(pk=question, rubric=rubric) for question, rubric in rubrics.items()]
        Question.objects.bulk_update(moved, ["rubric"], batch_size=100)
    groups = RubricGroup.objects.bulk_create(
        RubricGroup(
            rubric=rubrics[question],
            order=place,
            sub=group.sub,
            text=group.text,
            cap=group.cap,
            choose=group.choose,
        )
        for question, lines in changed.items()
        for place, group in enumerate(lines.groups, start=1)
    )
    by_place = {(group.rubric_id, group.order): group for group in groups}
    ScoringPoint.objects.bulk_create(
        ScoringPoint(
            rubric=rubrics[question],
            order=order,
            sub=point.sub,
            group=by_place[rubrics[question].pk, point.group] if point.group else None,
            text=point.text,
            points=point.points,
        )
        for question, lines in changed.items()
        for order, point in enumerate(lines.points, start=1)
    )
    return rubrics


def _differs(newest: Rubric, lines: RubricLines, origin: Origin) -> bool:
    return lines_of(newest) != lines or (origin.accepted and not newest.accepted)

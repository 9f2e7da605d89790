"""Keeps the rubrics that come with questions: a new accepted version where one changed."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from django.db.models import Max

from questions.importers.records import QuestionRecord
from questions.models import Rubric, RubricGroup, ScoringPoint

SOURCE = "import"

Point = tuple[int, str, Decimal, int | None]
Group = tuple[int, str, Decimal, int | None]
Lines = tuple[tuple[Point, ...], tuple[Group, ...]]


def store_rubrics(records: Mapping[int, QuestionRecord]) -> None:
    """A new accepted version for each item (by key) whose rubric its source changed.

    What was imported last counts, not what a person made of it since: an unchanged
    rubric never comes back over a newer one. The number of queries does not depend
    on the number of items.
    """
    wanted = {question: _lines(record) for question, record in records.items() if record.rubric}
    if not wanted:
        return
    known = Rubric.objects.filter(question__in=list(wanted))
    before = _imported(list(known.filter(source=SOURCE).order_by("version")))
    versions = dict(known.values_list("question").annotate(Max("version")).order_by())
    changed = {q: lines for q, lines in wanted.items() if before.get(q) != lines}
    made = Rubric.objects.bulk_create(
        Rubric(question_id=q, version=versions.get(q, 0) + 1, accepted=True, source=SOURCE)
        for q in changed
    )
    _store_lines(list(zip(made, changed.values(), strict=True)))


def _lines(record: QuestionRecord) -> Lines:
    points = tuple((point.sub, point.text, point.points, point.group) for point in record.rubric)
    groups = tuple((g.sub, g.text, g.cap, g.choose) for g in record.rubric_groups)
    return points, groups


def _imported(rubrics: list[Rubric]) -> dict[int, Lines]:
    """By item: the lines of the newest of its *rubrics*, which stand in order of their version."""
    newest = {rubric.question_id: rubric.pk for rubric in rubrics}
    groups: dict[int, list[tuple[int, Group]]] = {pk: [] for pk in newest.values()}
    points: dict[int, list[Point]] = {pk: [] for pk in newest.values()}
    for group in RubricGroup.objects.filter(rubric__in=groups).order_by("rubric", "order"):
        line = (group.sub, group.text, group.cap, group.choose)
        groups[group.rubric_id].append((group.pk, line))
    places = {pk: place for found in groups.values() for place, (pk, _) in enumerate(found, 1)}
    for point in ScoringPoint.objects.filter(rubric__in=points).order_by("rubric", "order"):
        place = places[point.group_id] if point.group_id else None
        points[point.rubric_id].append((point.sub, point.text, point.points, place))
    return {
        question: (tuple(points[pk]), tuple(line for _, line in groups[pk]))
        for question, pk in newest.items()
    }


def _store_lines(versions: list[tuple[Rubric, Lines]]) -> None:
    groups = RubricGroup.objects.bulk_create(
        RubricGroup(rubric=rubric, order=order, sub=sub, text=text, cap=cap, choose=choose)
        for rubric, (_, lines) in versions
        for order, (sub, text, cap, choose) in enumerate(lines, start=1)
    )
    places = {(group.rubric_id, group.order): group for group in groups}
    ScoringPoint.objects.bulk_create(
        ScoringPoint(
            rubric=rubric,
            order=order,
            sub=sub,
            group=places[rubric.pk, group] if group else None,
            text=text,
            points=points,
        )
        for rubric, (lines, _) in versions
        for order, (sub, text, points, group) in enumerate(lines, start=1)
    )

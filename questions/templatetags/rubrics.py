"""Rubrics on a page: ``{% for row in rubric|rubric_rows %}``, ``{{ group|limit }}``."""

from __future__ import annotations

from dataclasses import dataclass

from django import template
from django.utils.translation import gettext as _

from gradeapp.common.plain_number import plain
from questions.models import Rubric, RubricGroup
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint, reachable
from questions.rules.vocabulary import RubricSource
from questions.selectors.rubrics import lines_of

register = template.Library()


@dataclass(frozen=True, slots=True)
class Row:
    """One scoring point with what stands above it: a new sub-question, a new group."""

    number: int
    point: ScoringPoint
    group: PointGroup | None
    first_of_sub: bool
    first_of_group: bool


@register.filter
def rubric_rows(rubric: Rubric | RubricLines) -> list[Row]:
    """The points in their order; sub-questions have headings where there is more than one."""
    lines = lines_of(rubric) if isinstance(rubric, Rubric) else rubric
    several = len({point.sub for point in lines.points}) > 1
    rows: list[Row] = []
    sub, group = 0, None
    for number, point in enumerate(lines.points, start=1):
        new_sub = several and point.sub != sub
        new_group = point.group is not None and point.group != group
        own = lines.groups[point.group - 1] if point.group else None
        rows.append(Row(number, point, own, new_sub, new_group))
        sub, group = point.sub, point.group
    return rows


@register.filter
def written_by(rubric: Rubric) -> str:
    """Where a version comes from: a person's name, the import, a file, the key, a model."""
    if rubric.source == RubricSource.MODEL:
        return _("proposed by %(model)s") % {"model": rubric.model_name}
    if rubric.source == RubricSource.PROPOSAL:
        return _("proposed from the answer key")
    if rubric.created_by is None:
        return _("imported with the questions")
    if rubric.source == RubricSource.FILE:
        return _("from a file, by %(name)s") % {"name": rubric.created_by}
    return str(rubric.created_by)


@register.filter
def reachable_points(lines: RubricLines) -> str:
    """The points that a response can get at most."""
    return plain(reachable(lines))


@register.filter
def limit(group: PointGroup | RubricGroup) -> str:
    """What a group gives at most, in words."""
    named = {"cap": plain(group.cap), "choose": group.choose}
    if group.choose == 1:
        return _("alternatives: the best one counts, at most %(cap)s") % named
    if group.choose is not None:
        return _("the best %(choose)s count, at most %(cap)s") % named
    return _("at most %(cap)s together") % named

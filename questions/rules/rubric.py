"""A rubric as values: scoring points, groups under a cap, and what they come to.

A group says that its points give *cap* points at most, and, with *choose*, that
only the best so many of them count: "any three of these, 10 points". With
``choose`` 1 the points are alternatives of each other. Points outside a group
simply add up. This module knows no database and no page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from hashlib import sha256
from typing import Annotated

from pydantic import Field

from gradeapp.common.plain_number import plain
from questions.rules.figures import referenced_images
from questions.rules.json_schema import CONFIG, Filled, Marks, PartNumber

DEFAULT_STEP = Decimal("0.5")
MOST_MARKS = Decimal(300)
MOST_POINTS = 200
LONGEST_POINT = 2000
LONGEST_GROUP_TEXT = 200
LONGEST_NAME = 80
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class ScoringPoint:
    """One line of a rubric: its wording, its points, and the 1-based sub-question it belongs to.

    *group* is the 1-based place of its group in the list of groups, None outside.
    """

    __pydantic_config__ = CONFIG

    text: Filled
    points: Marks
    sub: PartNumber = 1
    group: PartNumber | None = None


@dataclass(frozen=True, slots=True)
class PointGroup:
    """Points under one cap: *cap* points at most, the best *choose* of them (None: all)."""

    __pydantic_config__ = CONFIG

    cap: Marks
    text: Annotated[str, Field(max_length=LONGEST_GROUP_TEXT)] = ""
    sub: PartNumber = 1
    choose: PartNumber | None = None

    @property
    def alternatives(self) -> bool:
        """Only one of its points counts."""
        return self.choose == 1

    def total(self, given: Sequence[Decimal]) -> Decimal:
        """What *given* comes to: the best *choose* of them, at most *cap*."""
        best = sorted(given, reverse=True)[: self.choose]
        return min(sum(best, Decimal(0)), self.cap)


@dataclass(frozen=True, slots=True)
class RubricLines:
    """A whole rubric: its points in the order of the desk, and its groups."""

    points: tuple[ScoringPoint, ...] = ()
    groups: tuple[PointGroup, ...] = ()

    @property
    def code(self) -> str:
        """The same for rubrics that say the same: a letter, so that no spreadsheet reads a number.

        The number of a version would say more than what is shown of it.
        """
        points = [(one.text, plain(one.points), one.sub, one.group) for one in self.points]
        groups = [(one.text, plain(one.cap), one.sub, one.choose) for one in self.groups]
        said = repr((points, groups)).encode("utf-8", "surrogatepass")
        return f"r{sha256(said).hexdigest()[:10]}"


class RubricFault(StrEnum):
    """What is wrong with a rubric; the value is stable, interfaces say it in a sentence.

    Behind each stand the parameters that a sentence may use: ``point``, ``group``
    and ``sub`` are 1-based places, ``name`` is that of a picture.
    """

    EMPTY = "empty"
    TOO_LONG = "too_long"  # most
    POINT_WITHOUT_TEXT = "point_without_text"  # point
    POINT_TEXT_TOO_LONG = "point_text_too_long"  # point, most
    POINT_PICTURE_UNKNOWN = "point_picture_unknown"  # point, name
    POINT_OUT_OF_RANGE = "point_out_of_range"  # point, points, most
    POINT_NOT_A_STEP = "point_not_a_step"  # point, points, step
    POINT_SUB_UNKNOWN = "point_sub_unknown"  # point, sub, subs
    POINT_GROUP_UNKNOWN = "point_group_unknown"  # point, group
    POINT_OUTSIDE_GROUP_SUB = "point_outside_group_sub"  # point, group
    GROUP_TEXT_TOO_LONG = "group_text_too_long"  # group, most
    GROUP_CAP_OUT_OF_RANGE = "group_cap_out_of_range"  # group, cap, most
    GROUP_CAP_NOT_A_STEP = "group_cap_not_a_step"  # group, cap, step
    GROUP_WITHOUT_POINTS = "group_without_points"  # group
    GROUP_CHOOSES_TOO_MANY = "group_chooses_too_many"  # group, choose, points
    GROUP_CAP_ABOVE_POINTS = "group_cap_above_points"  # group, cap, sum
    SUB_SUM_DIFFERS = "sub_sum_differs"  # sub, sum, full


# A draft may be unfinished in these ways; an accepted rubric in none.
UNFINISHED = frozenset(
    {
        RubricFault.SUB_SUM_DIFFERS,
        RubricFault.GROUP_CAP_ABOVE_POINTS,
        RubricFault.POINT_NOT_A_STEP,
        RubricFault.GROUP_CAP_NOT_A_STEP,
    }
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a rubric with what its sentence needs."""

    code: RubricFault
    params: dict[str, Decimal | int | str] = field(default_factory=dict)


def given_total(
    given: Sequence[Decimal], points: Sequence[ScoringPoint], groups: Sequence[PointGroup]
) -> Decimal:
    """What points *given* one by one to *points* come to, in points.

    In a group the best ``choose`` count and give ``cap`` at most. Raises
    ValueError when *given* and *points* differ in number.
    """
    by_group: dict[int | None, list[Decimal]] = defaultdict(list)
    for value, point in zip(given, points, strict=True):
        by_group[point.group].append(value)
    free = sum(by_group.pop(None, []), Decimal(0))
    return free + sum(
        (groups[place - 1].total(values) for place, values in by_group.items() if place),
        Decimal(0),
    )


def reachable(rubric: RubricLines) -> Decimal:
    """The highest total that a response can get, in points."""
    return sum(reachable_by_sub(rubric).values(), Decimal(0))


def reachable_by_sub(rubric: RubricLines) -> dict[int, Decimal]:
    """The highest total of each sub-question that has points; a group counts for its own sub."""
    totals: dict[int, Decimal] = defaultdict(Decimal)
    members: dict[int, list[Decimal]] = defaultdict(list)
    for point in rubric.points:
        if point.group is None:
            totals[point.sub] += point.points
        else:
            members[point.group].append(point.points)
    for place, values in members.items():
        group = rubric.groups[place - 1]
        totals[group.sub] += group.total(values)
    return dict(totals)


def in_order(rubric: RubricLines) -> RubricLines:
    """The same rubric read from top to bottom: by sub-question, a group's points together.

    Points and groups keep their order otherwise, so what is in order already
    comes back equal. Groups are numbered as they come.
    """
    by_sub = sorted(rubric.points, key=lambda point: point.sub)
    places: dict[int, int] = {}
    points: list[ScoringPoint] = []
    for point in by_sub:
        if point.group is None:
            points.append(point)
        elif point.group not in places:
            places[point.group] = len(places) + 1
            points += [
                replace(one, group=places[point.group])
                for one in by_sub
                if one.group == point.group
            ]
    unused = [place for place in range(1, len(rubric.groups) + 1) if place not in places]
    known = [place for place in places if place <= len(rubric.groups)]
    groups = tuple(rubric.groups[place - 1] for place in [*known, *unused])
    return RubricLines(tuple(points), groups)


def findings(
    rubric: RubricLines,
    sub_marks: Sequence[Decimal],
    step: Decimal = DEFAULT_STEP,
    images: Collection[str] = (),
) -> list[Finding]:
    """Everything that is wrong with *rubric* for an item of *sub_marks*, in reading order.

    *sub_marks* are the full marks of each sub-question in points; *step* is the
    smallest mark (use ``step_for`` where full marks are finer); *images* are the names of the
    pictures that the item has. Sums are looked at only once every point and group can be read.
    """
    if not rubric.points:
        return [Finding(RubricFault.EMPTY)]
    if len(rubric.points) > MOST_POINTS:
        return [_found(RubricFault.TOO_LONG, most=MOST_POINTS)]
    found = [
        *_point_findings(rubric, len(sub_marks), step, images),
        *_group_findings(rubric, step),
    ]
    if all(finding.code in UNFINISHED for finding in found):
        found += _sum_findings(rubric, sub_marks)
    return found


def step_for(sub_marks: Sequence[Decimal], step: Decimal = DEFAULT_STEP) -> Decimal:
    """*step*, or a hundredth where the full marks themselves are finer than it."""
    return step if all(mark % step == 0 for mark in sub_marks) else CENT


def _point_findings(
    rubric: RubricLines, subs: int, step: Decimal, images: Collection[str]
) -> Iterator[Finding]:
    for number, point in enumerate(rubric.points, start=1):
        if not point.text.strip():
            yield _found(RubricFault.POINT_WITHOUT_TEXT, point=number)
        if len(point.text) > LONGEST_POINT:
            yield _found(RubricFault.POINT_TEXT_TOO_LONG, point=number, most=LONGEST_POINT)
        for name in referenced_images(point.text):
            if name not in images:
                wrong = RubricFault.POINT_PICTURE_UNKNOWN
                yield _found(wrong, point=number, name=name[:LONGEST_NAME])
        if not _is_marks(point.points):
            wrong = RubricFault.POINT_OUT_OF_RANGE
            yield _found(wrong, point=number, points=point.points, most=MOST_MARKS)
        elif point.points % step:
            wrong = RubricFault.POINT_NOT_A_STEP
            yield _found(wrong, point=number, points=point.points, step=step)
        if not 1 <= point.sub <= subs:
            yield _found(RubricFault.POINT_SUB_UNKNOWN, point=number, sub=point.sub, subs=subs)
        yield from _membership(number, point, rubric.groups)


def _membership(
    number: int, point: ScoringPoint, groups: Sequence[PointGroup]
) -> Iterator[Finding]:
    if point.group is None:
        return
    if not 1 <= point.group <= len(groups):
        yield _found(RubricFault.POINT_GROUP_UNKNOWN, point=number, group=point.group)
    elif groups[point.group - 1].sub != point.sub:
        yield _found(RubricFault.POINT_OUTSIDE_GROUP_SUB, point=number, group=point.group)


def _group_findings(rubric: RubricLines, step: Decimal) -> Iterator[Finding]:
    for place, group in enumerate(rubric.groups, start=1):
        members = [point.points for point in rubric.points if point.group == place]
        if len(group.text) > LONGEST_GROUP_TEXT:
            yield _found(RubricFault.GROUP_TEXT_TOO_LONG, group=place, most=LONGEST_GROUP_TEXT)
        if not members:
            yield _found(RubricFault.GROUP_WITHOUT_POINTS, group=place)
        elif not _is_marks(group.cap):
            wrong = RubricFault.GROUP_CAP_OUT_OF_RANGE
            yield _found(wrong, group=place, cap=group.cap, most=MOST_MARKS)
        else:
            if group.cap % step:
                yield _found(
                    RubricFault.GROUP_CAP_NOT_A_STEP, group=place, cap=group.cap, step=step
                )
            yield from _reach(place, group, members)


def _reach(place: int, group: PointGroup, members: Sequence[Decimal]) -> Iterator[Finding]:
    """Whether the group can give what it says."""
    if group.choose is not None and not 1 <= group.choose <= len(members):
        wrong = RubricFault.GROUP_CHOOSES_TOO_MANY
        yield _found(wrong, group=place, choose=group.choose, points=len(members))
    elif all(map(_is_marks, members)):
        most = sum(sorted(members, reverse=True)[: group.choose], Decimal(0))
        if group.cap > most:
            wrong = RubricFault.GROUP_CAP_ABOVE_POINTS
            yield _found(wrong, group=place, cap=group.cap, sum=most)


def _sum_findings(rubric: RubricLines, sub_marks: Sequence[Decimal]) -> Iterator[Finding]:
    totals = reachable_by_sub(rubric)
    for sub, full in enumerate(sub_marks, start=1):
        if (total := totals.get(sub, Decimal(0))) != full:
            yield _found(RubricFault.SUB_SUM_DIFFERS, sub=sub, sum=total, full=full)


def _found(code: RubricFault, **params: Decimal | int | str) -> Finding:
    return Finding(code, params)


def _is_marks(value: Decimal) -> bool:
    """A number that the table can hold: above 0, at most 300, two decimals."""
    return value.is_finite() and 0 < value <= MOST_MARKS and value == round(value, 2)

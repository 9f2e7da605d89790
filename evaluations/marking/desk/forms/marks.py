"""The form of the marking desk: its fields, and how each scoring point is given its points."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import zip_longest
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from evaluations.marking.desk.selectors.desk import DeskItem, Given
from evaluations.marking.desk.services.drafts import LONGEST_COMMENT
from evaluations.marking.rules.blinding import BlindItem
from evaluations.models.vocabulary import Flag
from gradeapp.common import number_fields
from gradeapp.common.desk_pages import DeskForm
from gradeapp.common.plain_number import choices, decimal_of, plain, with_half
from gradeapp.common.submission_keys import submission_key
from gradeapp.common.text_fields import LinesField, with_plain_breaks
from questions.rules.rubric import PointGroup, ScoringPoint, given_total

# Up to this many points a row of chips shows every whole mark; past it one types a number.
MOST_CHIPS = Decimal(12)
FINEST_STEP = Decimal("0.5")


@dataclass(frozen=True, slots=True)
class Chip:
    """One mark that can be chosen; halves show only where there is no script to add them."""

    value: str
    half: bool
    chosen: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One scoring point of the marks panel; without chips it is a field to type into."""

    number: int
    name: str
    text: str
    full: str
    sub: int
    first_of_sub: bool
    value: str
    chips: tuple[Chip, ...]
    steps: tuple[str, ...]
    place: int | None
    group: PointGroup | None
    first_of_group: bool

    @property
    def halves(self) -> bool:
        """Whether a half can be added to some of the chips."""
        return any(chip.half for chip in self.chips)


@dataclass(frozen=True, slots=True)
class FlagChoice:
    """A flag, its key, and whether it is set."""

    value: str
    label: str
    key: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class Panel:
    """The marks panel as the template draws it: everything in it is text."""

    lines: tuple[Line, ...]
    total: str
    total_steps: tuple[str, ...]
    full: str
    step: str
    given: int
    sum: str
    comment: str
    flags: tuple[FlagChoice, ...]
    key: str
    version: int


@dataclass(frozen=True, slots=True)
class Beside:
    """One line of two marks side by side: a scoring point by its number, "" for the total."""

    number: str
    stored: str
    sent: str


class TypedMark(number_fields.DecimalField):
    """A mark as typed at the desk, where "." adds a half."""

    def to_python(self, value: Any) -> Decimal | None:
        return super().to_python(with_half(value) if isinstance(value, str) else value)


class MarkForm(DeskForm):
    """What the desk sends. Which marks are possible is the service's to say."""

    comment = LinesField(required=False, max_length=LONGEST_COMMENT)
    rubric = forms.CharField(required=False, max_length=20)
    flags = forms.MultipleChoiceField(choices=Flag.choices(), required=False)
    # Of the newest draft that the page knew; a page without a script knows the one that it shows.
    sequence = number_fields.IntegerField(required=False, min_value=0, max_value=2**53)

    def __init__(self, shown: UUID, points: int, data: Mapping[str, Any]) -> None:
        """The form of the response called *shown*, whose rubric has so many *points*, or none."""
        super().__init__(data)
        self.item_id = str(shown)
        self.points = [f"point-{number}" for number in range(1, points + 1)]
        for number, name in enumerate(self.points, start=1):
            missing = gettext("Scoring point %(number)s has no mark yet.") % {"number": number}
            self.fields[name] = mark_field(missing, TypedMark)
        if not points:
            self.fields["total"] = mark_field(gettext("Enter a mark first."), TypedMark)

    def as_mark(self) -> dict[str, Any]:
        """The arguments of ``save_mark``."""
        data = self.cleaned_data
        return {
            "key": data["key"],
            "based_on_version": data["version"],
            "points": tuple(data[name] for name in self.points),
            "total": data.get("total"),
            "comment": data["comment"],
            "flags": tuple(Flag(flag) for flag in data["flags"]),
            "seconds": data["seconds"],
            "rubric": data["rubric"],
            "known_draft": data["sequence"] or 0,
        }


def mark_field(
    missing: str, kind: type[number_fields.DecimalField] = number_fields.DecimalField
) -> number_fields.DecimalField:
    """A mark, with a sentence for an empty one and for one that is no number."""
    no_number = _("A mark must be a number such as 3 or 2.5.")
    return kind(error_messages={"required": missing, "invalid": no_number})


def typed(points: int, data: Any) -> Given:
    """What stands in a sent form with so many *points*, read or not: to keep or show it again."""
    numbers = range(1, points + 1)
    return Given(
        points=tuple(with_half(data.get(f"point-{number}", "")) for number in numbers),
        total=with_half(data.get("total", "")),
        comment=with_plain_breaks(data.get("comment", "")),
        flags=tuple(data.getlist("flags")),
    )


def typed_before(data: Any) -> Given:
    """What stands in a sent form of another rubric, whose number of points nobody knows."""
    numbers = [re.fullmatch(r"point-([0-9]{1,3})", name) for name in data]
    given = typed(max((int(one[1]) for one in numbers if one), default=0), data)
    return replace(given, flags=tuple(flag for flag in given.flags if flag in set(Flag)))


def panel(desk: DeskItem, teacher: UUID, given: Given | None = None) -> Panel:
    """The marks panel of a response, filled with *given* (or with the draft or own mark).

    The key follows from teacher, response and version, so that the page is the
    same each time it is loaded, and a save repeated from it is one save.
    """
    item, given = desk.item, given or desk.given
    lines = _lines(item, given)
    values = [Decimal(line.value) for line in lines if _is_number(line.value)]
    total = given.total if _is_number(given.total) else ""
    return Panel(
        lines=lines,
        total=given.total,
        total_steps=() if lines else _steps(item.full_marks),
        full=plain(item.full_marks),
        step=plain(item.step),
        given=len(values),
        sum=plain(_sum(item, lines)) if lines else total,
        comment=given.comment,
        flags=_flags(given.flags),
        key=str(submission_key(item.public_id, teacher, desk.saves)),
        version=desk.version,
    )


def beside(sent: Panel, stored: Mapping[str, Any]) -> tuple[Beside, ...]:
    """What is stored and what was sent: the totals, then scoring point by scoring point."""
    values = [line.value for line in sent.lines]
    pairs = zip_longest(stored["points"], values, fillvalue="")
    lines = [Beside(str(number), *pair) for number, pair in enumerate(pairs, start=1)]
    return (Beside("", stored["total"], sent.sum), *lines)


def _lines(item: BlindItem, given: Given) -> tuple[Line, ...]:
    several = len({point.sub for point in item.scoring_points}) > 1
    lines: list[Line] = []
    last_sub, last_group = 0, None
    for number, (point, value) in enumerate(
        zip(item.scoring_points, given.points, strict=True), start=1
    ):
        chips = _chips(point, item.step, value)
        lines.append(
            Line(
                number=number,
                name=f"point-{number}",
                text=point.text,
                full=plain(point.points),
                sub=point.sub,
                first_of_sub=several and point.sub != last_sub,
                value=value,
                chips=chips,
                steps=() if chips else _steps(point.points),
                place=point.group,
                group=item.point_groups[point.group - 1] if point.group else None,
                first_of_group=point.group is not None and point.group != last_group,
            )
        )
        last_sub, last_group = point.sub, point.group
    return tuple(lines)


def _sum(item: BlindItem, lines: tuple[Line, ...]) -> Decimal:
    """What is given so far, under the caps of the rubric."""
    given = [Decimal(line.value) if _is_number(line.value) else Decimal(0) for line in lines]
    return given_total(given, item.scoring_points, item.point_groups)


def _chips(point: ScoringPoint, step: Decimal, value: str) -> tuple[Chip, ...]:
    """A chip for each possible mark; none where a row of them would be too long."""
    if point.points > MOST_CHIPS or step < FINEST_STEP:
        return ()
    chosen = Decimal(value) if _is_number(value) else None
    marks = choices(point.points, step)
    return tuple(
        Chip(plain(mark), mark % 1 != 0 and mark != point.points, mark == chosen) for mark in marks
    )


def _steps(full: Decimal) -> tuple[str, ...]:
    """About five larger steps up to full marks, for those who would rather click."""
    size = max(Decimal(1), full // 5)
    marks = [size * number for number in range(int(full // size) + 1)]
    return tuple(plain(mark) for mark in (marks if marks[-1] == full else [*marks, full]))


def _flags(chosen: tuple[str, ...]) -> tuple[FlagChoice, ...]:
    language = get_language() or "en"
    return tuple(
        FlagChoice(flag.value, flag.label(language), key, flag.value in chosen)
        for key, flag in enumerate(Flag, start=1)
    )


def _is_number(text: str) -> bool:
    return decimal_of(text) is not None

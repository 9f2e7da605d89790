"""The editor of a rubric: rows of text as they were typed, and the rubric that they say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from django import forms
from django.utils.translation import gettext_lazy as _

from gradeapp.common.plain_number import decimal_of, plain
from questions.models import Dataset
from questions.rules.json_schema import MAX_SUB
from questions.rules.rubric import (
    MOST_POINTS,
    PointGroup,
    RubricLines,
    ScoringPoint,
    in_order,
    reachable_by_sub,
)
from questions.rules.rubric_files import MAX_FILE_BYTES

SPARE_POINTS = 3
SPARE_GROUPS = 3
MOST_GROUPS = 60
NO_NUMBER = Decimal("NaN")


@dataclass(slots=True)
class PointEntry:
    """One row of the editor, as typed."""

    text: str = ""
    points: str = ""
    sub: str = "1"
    group: str = ""

    @property
    def blank(self) -> bool:
        """A row that says nothing is left out."""
        return not (self.text.strip() or self.points.strip())


@dataclass(slots=True)
class GroupEntry:
    """One group of the editor, as typed; *choose* "" counts all of its points."""

    text: str = ""
    cap: str = ""
    choose: str = ""

    @property
    def blank(self) -> bool:
        """A group that nobody filled in."""
        return not (self.text.strip() or self.cap.strip() or self.choose.strip())


@dataclass(slots=True)
class Editor:
    """What stands in the form: rows of points and rows of groups, both numbered from 1."""

    points: list[PointEntry] = field(default_factory=list)
    groups: list[GroupEntry] = field(default_factory=list)

    @classmethod
    def of(cls, rubric: RubricLines) -> Editor:
        """The editor filled with *rubric*."""
        points = [
            PointEntry(p.text, plain(p.points), str(p.sub), str(p.group or ""))
            for p in rubric.points
        ]
        groups = [GroupEntry(g.text, plain(g.cap), str(g.choose or "")) for g in rubric.groups]
        return cls(points, groups)

    @classmethod
    def typed(cls, data: Mapping[str, str]) -> Editor:
        """What was sent, row by row; rows end at the first number that is not there."""
        made = cls()
        while f"text-{(row := len(made.points) + 1)}" in data and row <= MOST_POINTS + 1:
            names = ("text", "points", "sub", "group")
            made.points.append(PointEntry(*(data.get(f"{name}-{row}", "") for name in names)))
        while f"cap-{(row := len(made.groups) + 1)}" in data and row <= MOST_GROUPS:
            said = (data.get(f"{name}-{row}", "") for name in ("group-text", "cap", "choose"))
            made.groups.append(GroupEntry(*said))
        return made

    def rubric(self, versions: Iterable[RubricLines] = ()) -> RubricLines:
        """The rubric that the rows say, in reading order; what is no number becomes NaN.

        Blank rows are left out. A group belongs to the sub-question of its first point. A text
        that comes back as the form showed it in one of *versions* stays as it is there; others
        lose the spaces around them.
        """
        known = list(versions)
        texts = {_sent(point.text): point.text for one in known for point in one.points}
        purposes = {_line(group.text): group.text for one in known for group in one.groups}
        rows = [row for row in self.points if not row.blank]
        used = {_whole(row.group) for row in rows}
        kept = [
            number
            for number, group in enumerate(self.groups, start=1)
            if number in used or not group.blank
        ]
        places = {number: place for place, number in enumerate(kept, start=1)}
        points = [
            ScoringPoint(
                texts.get(_sent(row.text)) or _sent(row.text).strip(),
                _number(row.points),
                _whole(row.sub) or 1,
                places.get(_whole(row.group) or 0),
            )
            for row in rows
        ]
        groups = [self._group(number, rows, purposes) for number in kept]
        return in_order(RubricLines(tuple(points), tuple(groups)))

    def _group(
        self, number: int, rows: list[PointEntry], purposes: Mapping[str, str]
    ) -> PointGroup:
        own = next((row for row in rows if _whole(row.group) == number), PointEntry())
        entry = self.groups[number - 1]
        text = purposes.get(_line(entry.text)) or _line(entry.text).strip()
        return PointGroup(_number(entry.cap), text, _whole(own.sub) or 1, _whole(entry.choose))

    def subs(self, asked: int) -> list[str]:
        """The sub-questions to choose from: *asked*, and those of rows that are of more."""
        most = max([asked, *(_whole(row.sub) or 1 for row in self.points)])
        return [str(sub) for sub in range(1, min(most, MAX_SUB) + 1)]

    def sums(self, sub_marks: tuple[Decimal, ...]) -> list[dict[str, object]]:
        """What each sub-question comes to so far, against its full marks."""
        lines = self.rubric()
        finite = all(p.points.is_finite() for p in lines.points)
        readable = finite and all(group.cap.is_finite() for group in lines.groups)
        totals = reachable_by_sub(lines) if readable else {}
        return [
            {
                "sub": sub,
                "sum": plain(totals.get(sub, Decimal(0))) if readable else "–",
                "full": plain(full),
                "fits": readable and totals.get(sub, Decimal(0)) == full,
            }
            for sub, full in enumerate(sub_marks, start=1)
        ]

    def change(self, wish: str) -> None:
        """Carry out a button of the form without a script: ``up-2``, ``down-2``, ``remove-2``."""
        action, _dash, row = wish.partition("-")
        place = (_whole(row) or 0) - 1
        if not 0 <= place < len(self.points):
            return
        if action == "remove":
            del self.points[place]
        other = place + {"up": -1, "down": 1}.get(action, 0)
        if action in ("up", "down") and 0 <= other < len(self.points):
            rows = self.points
            rows[place], rows[other] = rows[other], rows[place]

    def with_spares(self) -> Editor:
        """The same with blank rows at the end, for those who have no script to add them."""
        points = list(self.points)
        while points and points[-1].blank:
            points.pop()
        groups = list(self.groups)
        while groups and groups[-1].blank:
            groups.pop()
        sub = points[-1].sub if points else "1"
        points += [PointEntry(sub=sub) for _spare in range(SPARE_POINTS)]
        groups += [GroupEntry() for _spare in range(SPARE_GROUPS)]
        return Editor(points, groups[:MOST_GROUPS])


class RubricFileForm(forms.Form):
    """A file of rubrics; they are drafts unless who imports them accepts them."""

    file = forms.FileField(
        label=_("File"),
        help_text=_(
            "CSV or JSON in the export format. If any row has an error, nothing is imported."
        ),
        widget=forms.FileInput(attrs={"accept": ".csv,.json"}),
    )
    accept = forms.BooleanField(
        label=_("I have read these rubrics. Accept them at once."), required=False
    )

    def content(self) -> bytes:
        """The file, or a little more than what is accepted of a larger one."""
        content: bytes = self.cleaned_data["file"].read(MAX_FILE_BYTES + 1)
        return content


class DatasetForm(forms.Form):
    """Which dataset is meant."""

    dataset = forms.ModelChoiceField(Dataset.objects.all(), to_field_name="slug")


def _sent(text: str) -> str:
    """*text* as a browser sends it from a field of many lines, with line feeds.

    A line end right behind the tag of the field is none of its text.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\n")


def _line(text: str) -> str:
    """*text* as a browser sends it from a field of one line."""
    return _sent(text).replace("\n", "")


def _whole(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else None


def _number(text: str) -> Decimal:
    text = text.strip().replace("，", ".").replace(",", ".").replace("。", ".")
    number = decimal_of(text) if len(text) <= 12 else None
    return NO_NUMBER if number is None else number

"""A marking sheet as values: its columns, one line a response, and what came back in a row.

A sheet is filled on paper or in a spreadsheet. What it shows of a response is a
``BlindItem`` and nothing else, as at the desk. Cells come back as text; nothing
in them is rounded, clamped or guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from evaluations.marking.rules.blinding import BlindItem
from gradeapp.common.csv_cells import GUARD, guard
from gradeapp.common.named import Named

# Says in a cell that the response has no such scoring point.
NONE = "–"
_POINT = re.compile(r"(?:point|采分点)\s{0,3}([0-9]{1,3})(?!\d).*", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,20})?")
# What a spreadsheet makes of 3/4, 1:30 and -x: a date, a time, an error value.
_CHANGED = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]{5,20}|\d\d:\d\d:\d\d(?:\.\d{1,9})?"
    r"|#(?:NAME\?|VALUE!|REF!|DIV/0!|NUM!|NULL!|N/A)"
)
_BETWEEN_FLAGS = re.compile(r"[,;，；、\n]+")


class SheetColumn(Named):
    """The columns of a sheet beside those of the scoring points; read back under either name."""

    ALIAS = "alias", "Response", "代号"
    QUESTION = "question", "Question", "试题"
    KEY = "answer_key", "Answer key", "参考答案"
    RUBRIC = "scoring_points", "Scoring points", "评分细则"
    TEXT = "text", "Text of the response", "作答内容"
    FULL = "full_marks", "Full marks", "满分"
    TOTAL = "total", "Total", "总分"
    COMMENT = "comment", "Comment", "评语"
    FLAGS = "flags", "Flags", "标记"
    VERSION = "version", "Version", "版本"
    RUBRIC_CODE = "rubric", "Rubric code", "评分细则代码"
    ID = "id", "Id of the response", "作答编号"
    SHEET = "sheet", "Id of the sheet", "评卷单编号"


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One response of a sheet and the version of the teacher's own mark when it was made."""

    item: BlindItem
    version: int


@dataclass(frozen=True, slots=True)
class FilledRow:
    """One row that came back, cell by cell as text; *line* counts from 1 with the header.

    *alias* names the response as its reader knows it, "" where the column was taken out.
    """

    line: int
    sheet: str
    response: str
    version: str
    points: tuple[str, ...]
    total: str
    comment: str
    flags: str
    rubric: str = ""
    alias: str = ""

    @property
    def is_empty(self) -> bool:
        """Nothing was filled in: the response is simply not marked yet."""
        filled = (*self.points, self.total, self.comment, self.flags)
        return not any(cell not in ("", NONE) for cell in filled)


@dataclass(frozen=True, slots=True)
class ReadRow:
    """What a filled row says: a mark as the desk would send it."""

    points: tuple[Decimal, ...]
    total: Decimal | None
    comment: str
    flags: tuple[str, ...]


class CellFault(StrEnum):
    """What is wrong with a row; the value is stable, services say it in a sentence."""

    POINT_MISSING = "point_missing"  # point
    POINT_NOT_A_NUMBER = "point_not_a_number"  # point, text
    POINT_TOO_MANY = "point_too_many"  # point, points
    TOTAL_MISSING = "total_missing"
    TOTAL_NOT_A_NUMBER = "total_not_a_number"  # text
    COMMENT_CHANGED = "comment_changed"  # text
    UNKNOWN_FLAG = "unknown_flag"  # text


class CellError(ValueError):
    """A row that cannot be read: ``code`` says how, ``params`` what the sentence needs."""

    def __init__(self, code: CellFault, **params: str | int) -> None:
        self.code = code
        self.params = params
        super().__init__(f"{code}: {params}")


def column_of(title: str) -> SheetColumn | int | None:
    """What a column called *title* holds: a fixed column, a scoring point by number, or nothing.

    Code, English and Chinese name are known, so that a sheet that was made in
    one language is read in the other.
    """
    title = title.strip().lstrip(GUARD)
    for column in SheetColumn:
        if title.casefold() in (column.value, column.english.casefold(), column.chinese):
            return column
    match = _POINT.fullmatch(title)
    return int(match.group(1)) if match and int(match.group(1)) else None


def point_title(number: int, language: str) -> str:
    """The title of the column of a scoring point."""
    return f"采分点{number}" if language.startswith("zh") else f"Point {number}"


def read_row(row: FilledRow, points: int, flags: Mapping[str, str]) -> ReadRow:
    """What a *row* for a response with so many scoring *points* says.

    *flags* gives the flag that each known word stands for. A total beside
    scoring points may be left out. Raises CellError for the first cell that
    cannot be read.
    """
    given = tuple(_point(number, row.points, points) for number in range(1, points + 1))
    for number, cell in enumerate(row.points[points:], start=points + 1):
        if cell not in ("", NONE):
            raise CellError(CellFault.POINT_TOO_MANY, point=number, points=points)
    return ReadRow(
        points=given,
        total=_total(row.total, needed=not points),
        comment=_comment(row.comment),
        flags=_flags(row.flags, flags),
    )


def _comment(cell: str) -> str:
    if _CHANGED.fullmatch(cell):
        raise CellError(CellFault.COMMENT_CHANGED, text=cell[:40])
    return unguarded(cell)


def unguarded(text: str) -> str:
    """*text* without the apostrophe that guarded it from being taken for a formula."""
    if text.startswith(GUARD) and guard(text[1:]) == text:
        return text[1:]
    return text


def _point(number: int, cells: Sequence[str], points: int) -> Decimal:
    cell = cells[number - 1] if number <= len(cells) else ""
    if cell in ("", NONE):
        raise CellError(CellFault.POINT_MISSING, point=number)
    if not _NUMBER.fullmatch(cell):
        raise CellError(CellFault.POINT_NOT_A_NUMBER, point=number, text=cell[:40])
    return Decimal(cell)


def _total(cell: str, *, needed: bool) -> Decimal | None:
    if cell in ("", NONE):
        if needed:
            raise CellError(CellFault.TOTAL_MISSING)
        return None
    if not _NUMBER.fullmatch(cell):
        raise CellError(CellFault.TOTAL_NOT_A_NUMBER, text=cell[:40])
    return Decimal(cell)


def _flags(cell: str, known: Mapping[str, str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for word in filter(None, (part.strip() for part in _BETWEEN_FLAGS.split(cell))):
        if word.casefold() not in known:
            raise CellError(CellFault.UNKNOWN_FLAG, text=word[:40])
        found[known[word.casefold()]] = None
    return tuple(found)

"""Rubrics as files: CSV with one row a scoring point, JSON with one object a rubric.

Both say of which item a rubric is by dataset, task and id, in the words of our
exam format (docs/datasets.md). A file is read whole or refused with the row and
the reason; rows count from 1, in CSV with the header, as a spreadsheet does.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from gradeapp.common.csv_text import CsvFault, decoded, delimiter_of
from gradeapp.common.plain_number import decimal_of, plain
from gradeapp.common.storable import storable
from gradeapp.common.strict_json import JsonRefusal, cleaned, read_document
from questions.rules.json_schema import CONFIG, Filled, json_text, validated
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint

BOM = "\ufeff"
NEEDED = ("dataset", "task", "id", "points", "text")
COLUMNS = ("dataset", "task", "id", "sub", "points", "text", "group", "cap", "choose", "group_text")
MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_NUMBER_LENGTH = 12
FORMULA_STARTS = frozenset("=+-@\t\r\n＝＋－＠")


@dataclass(frozen=True, slots=True)
class RubricFor:
    """The rubric of one item; *row* is where it begins in its file, 0 outside of one."""

    dataset: str
    task: str
    external_id: str
    rubric: RubricLines
    row: int = 0

    @property
    def item(self) -> tuple[str, str, str]:
        """What the item is called in the bank."""
        return self.dataset, self.task, self.external_id


@dataclass(frozen=True, slots=True)
class JsonRubric:
    """One object of ``rubrics`` in a JSON file."""

    __pydantic_config__ = CONFIG

    dataset: Filled
    task: Filled
    external_id: Annotated[Filled, Field(alias="id")]
    rubric: tuple[ScoringPoint, ...]
    rubric_groups: tuple[PointGroup, ...] = ()


@dataclass(frozen=True, slots=True)
class _JsonFile:
    __pydantic_config__ = CONFIG

    rubrics: list[Any]


_JSON_RUBRIC = TypeAdapter(JsonRubric)
_JSON_FILE = TypeAdapter(_JsonFile)


# A benchmark has some thousand scoring points; many more rows only keep the site busy.
MOST_ROWS = 100_000


class FileFault(StrEnum):
    """Why a file of rubrics is refused; behind each what its sentence needs besides ``row``."""

    TOO_LARGE = "too_large"  # most (MB)
    TOO_LONG = "too_long"  # most (rows)
    NOT_TEXT = "not_text"
    NOT_CSV = "not_csv"
    NO_RUBRIC = "no_rubric"
    UNKNOWN_COLUMN = "unknown_column"  # name
    MISSING_COLUMN = "missing_column"  # name
    ROW_LENGTH = "row_length"  # cells, columns
    BAD_CHARACTER = "bad_character"
    EMPTY_CELL = "empty_cell"  # name
    NOT_A_NUMBER = "not_a_number"  # name
    NOT_WHOLE = "not_whole"  # name
    GROUP_DIFFERS = "group_differs"  # group
    CAP_WITHOUT_GROUP = "cap_without_group"
    ITEM_TWICE = "item_twice"  # name


class FileRefusal(ValueError):
    """A file of rubrics that is not taken: *code*, the row (None: the whole file), parameters."""

    def __init__(self, code: FileFault, row: int | None = None, **params: str | int) -> None:
        super().__init__(f"{code} in row {row}: {params}")
        self.code = code
        self.row = row
        self.params = params


def write_csv(rubrics: Iterable[RubricFor]) -> bytes:
    """UTF-8 with BOM, CRLF, every cell quoted; ``read_csv`` gives the same back.

    A text that a spreadsheet could take for a formula gets a leading apostrophe,
    which ``read_csv`` takes away again.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for one in rubrics:
        for point in one.rubric.points:
            writer.writerow([_guarded(cell) for cell in _cells(one, point)])
    return (BOM + buffer.getvalue()).encode("utf-8")


def read_csv(content: bytes) -> list[RubricFor]:
    """The rubrics of a CSV file in the order of their first rows.

    Columns may stand in any order; ``sub`` (1 where empty), ``group``, ``cap``,
    ``choose`` and ``group_text`` may be missing. Rows of one group must agree.
    Raises FileRefusal at the first thing that is wrong.
    """
    text = _text_of(content)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    items: dict[tuple[str, str, str], _Item] = {}
    header: list[str] = []
    number = 0
    try:
        for number, cells in enumerate(reader, start=1):
            if not any(cells):
                continue
            if not header:
                header = _header(cells)
                continue
            if number > MOST_ROWS:
                raise FileRefusal(FileFault.TOO_LONG, most=MOST_ROWS)
            row = _row(header, cells, number)
            items.setdefault((row["dataset"], row["task"], row["id"]), _Item(number)).add(
                row, number
            )
    except csv.Error:
        raise FileRefusal(FileFault.NOT_CSV, number + 1) from None
    if not items:
        raise FileRefusal(FileFault.NO_RUBRIC)
    return [RubricFor(*item, part.rubric(), part.first_row) for item, part in items.items()]


def write_json(rubrics: Iterable[RubricFor]) -> bytes:
    """The document as UTF-8, one rubric a line, numbers with every digit."""
    lines = ",\n".join(
        json_text(
            _JSON_RUBRIC.dump_python(
                JsonRubric(*one.item, one.rubric.points, one.rubric.groups),
                by_alias=True,
                exclude_defaults=True,
            )
        )
        for one in rubrics
    )
    return f'{{"rubrics": [\n{lines}\n]}}\n'.encode()


def read_json(content: bytes) -> list[RubricFor]:
    """The rubrics of a document ``{"rubrics": [{"dataset", "task", "id", "rubric", ...}]}``.

    ``rubric`` and ``rubric_groups`` are written as in a line of our exam format, so that one can
    be copied into the other. Raises FileRefusal or JsonRefusal at the first thing that is wrong.
    """
    if len(content) > MAX_FILE_BYTES:
        raise FileRefusal(FileFault.TOO_LARGE, most=MAX_FILE_BYTES // 2**20)
    rows = validated(_JSON_FILE, read_document(io.BytesIO(content))).rubrics
    if not rows:
        raise FileRefusal(FileFault.NO_RUBRIC)
    read: dict[tuple[str, str, str], RubricFor] = {}
    for number, row in enumerate(rows, start=1):
        one = _from_json(row, number)
        if one.item in read:
            raise FileRefusal(FileFault.ITEM_TWICE, number, name=one.external_id)
        read[one.item] = one
    return list(read.values())


def _from_json(row: Any, number: int) -> RubricFor:
    try:
        if cleaned(row)[1]:
            raise FileRefusal(FileFault.BAD_CHARACTER, number)
        one = validated(_JSON_RUBRIC, row)
    except JsonRefusal as refusal:
        refusal.row = number
        raise
    lines = RubricLines(one.rubric, one.rubric_groups)
    return RubricFor(one.dataset, one.task, one.external_id, lines, number)


class _Item:
    """The points of one item as their rows come, with its groups by their number."""

    def __init__(self, first_row: int) -> None:
        self.first_row = first_row
        self.points: list[ScoringPoint] = []
        self.groups: dict[int, PointGroup] = {}

    def add(self, row: dict[str, str], number: int) -> None:
        sub = _whole(row, "sub", number)
        group = _whole(row, "group", number)
        point = ScoringPoint(row["text"], _decimal(row, "points", number), sub or 1, group)
        if group is not None:
            cap = _decimal(row, "cap", number)
            choose = _whole(row, "choose", number)
            given = PointGroup(cap, row.get("group_text", ""), point.sub, choose)
            known = self.groups.setdefault(group, given)
            if (known.cap, known.text, known.choose) != (given.cap, given.text, given.choose):
                raise FileRefusal(FileFault.GROUP_DIFFERS, number, group=group)
        elif any(row.get(name, "") for name in ("cap", "choose", "group_text")):
            raise FileRefusal(FileFault.CAP_WITHOUT_GROUP, number)
        self.points.append(point)

    def rubric(self) -> RubricLines:
        """The groups in ascending order of their numbers, which become places."""
        places = {group: place for place, group in enumerate(sorted(self.groups), start=1)}
        points = [
            ScoringPoint(p.text, p.points, p.sub, places[p.group] if p.group else None)
            for p in self.points
        ]
        return RubricLines(tuple(points), tuple(self.groups[number] for number in places))


def _cells(one: RubricFor, point: ScoringPoint) -> Sequence[str]:
    group = one.rubric.groups[point.group - 1] if point.group else None
    return (
        *one.item,
        str(point.sub),
        plain(point.points),
        point.text,
        str(point.group or ""),
        plain(group.cap) if group else "",
        str(group.choose or "") if group else "",
        group.text if group else "",
    )


def _text_of(content: bytes) -> str:
    if len(content) > MAX_FILE_BYTES:
        raise FileRefusal(FileFault.TOO_LARGE, most=MAX_FILE_BYTES // 2**20)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:  # as a spreadsheet saves it
        try:
            return decoded(content)
        except CsvFault:
            raise FileRefusal(FileFault.NOT_TEXT) from None


def _header(cells: Sequence[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    for place, name in enumerate(header):
        if name not in COLUMNS or name in header[:place]:
            raise FileRefusal(FileFault.UNKNOWN_COLUMN, 1, name=name[:40])
    for name in NEEDED:
        if name not in header:
            raise FileRefusal(FileFault.MISSING_COLUMN, 1, name=name)
    return header


def _row(header: Sequence[str], cells: Sequence[str], number: int) -> dict[str, str]:
    if len(cells) != len(header):
        raise FileRefusal(FileFault.ROW_LENGTH, number, cells=len(cells), columns=len(header))
    if any(storable(cell) != cell for cell in cells):
        raise FileRefusal(FileFault.BAD_CHARACTER, number)
    row = {name: _unguarded(cell) for name, cell in zip(header, cells, strict=True)}
    for name in NEEDED:
        if not row[name].strip():
            raise FileRefusal(FileFault.EMPTY_CELL, number, name=name)
    return row


def _decimal(row: dict[str, str], name: str, number: int) -> Decimal:
    text = row.get(name, "").strip()
    if not text:
        raise FileRefusal(FileFault.EMPTY_CELL, number, name=name)
    value = decimal_of(text) if len(text) <= MAX_NUMBER_LENGTH else None
    if value is None:
        raise FileRefusal(FileFault.NOT_A_NUMBER, number, name=name)
    return value


def _whole(row: dict[str, str], name: str, number: int) -> int | None:
    """A whole number from 1 to 999, or None where the cell is empty."""
    text = row.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and int(text)):
        raise FileRefusal(FileFault.NOT_WHOLE, number, name=name)
    return int(text)


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet could take it for one, apostrophes before it set aside.

    Skipped before the first significant character are spaces of every width and
    invisible format characters.
    """
    for character in text.lstrip("'"):
        if character in FORMULA_STARTS:
            return True
        if unicodedata.category(character) not in ("Zs", "Cf"):
            return False
    return False


def _guarded(text: str) -> str:
    return f"'{text}" if _is_formula(text) else text


def _unguarded(text: str) -> str:
    return text[1:] if text.startswith("'") and _is_formula(text) else text

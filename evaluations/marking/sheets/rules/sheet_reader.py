"""Reads a filled marking sheet: CSV as spreadsheets write it, or a workbook; rows as text.

Nothing in the file is believed. A workbook, a zip of XML, is read in a child process
with limits on memory and time (``workbook.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluations.marking.sheets.rules.sheet_rows import FilledRow, SheetColumn, column_of
from evaluations.marking.sheets.rules.workbook import (
    MOST_COLUMNS,
    MOST_LINES,
    MOST_ROWS,
    cell_text,
)
from gradeapp.common.csv_text import CsvFault, csv_rows
from gradeapp.common.isolated import Bounds, Exceeded, Why, isolated_bytes

READ_WORKBOOK = "evaluations.marking.sheets.rules.workbook:read_workbook"
BOUNDS = Bounds(memory_bytes=448 * 2**20, cpu_seconds=6, clock_seconds=15)
NEEDED = (SheetColumn.ID, SheetColumn.SHEET, SheetColumn.VERSION)
ZIP = b"PK\x03\x04"
OLD_EXCEL = b"\xd0\xcf\x11\xe0"
Cells = Sequence[object]


class SheetFault(ValueError):
    """A file that is not read: a stable *code*, and what its sentence needs."""

    def __init__(self, code: str, **params: str | int) -> None:
        super().__init__(f"{code}: {params}")
        self.code = code
        self.params = params


def read_sheet(content: bytes) -> list[FilledRow]:
    """The rows of a filled sheet, without those in which nothing stands at all.

    Columns are known by their titles and may stand in any order; those with
    texts to read may be missing. Raises SheetFault: ``old_excel``,
    ``not_text``, ``broken_workbook``, ``too_large``, ``no_header`` (with
    ``missing``), ``column_twice`` (with ``title``), ``too_many_rows``, ``busy``.
    """
    if content.startswith(OLD_EXCEL):
        raise SheetFault("old_excel")
    rows = _workbook_rows(content) if content.startswith(ZIP) else _csv_rows(content)
    numbered = iter(enumerate(rows, start=1))
    places: dict[SheetColumn | int, int] = {}
    for _line, cells in numbered:
        if any(cell_text(cell) for cell in cells):
            places = _places(cells)
            break
    missing = [column.value for column in NEEDED if column not in places]
    if missing:
        raise SheetFault("no_header", missing=", ".join(missing))
    filled = (_row(line, cells, places) for line, cells in numbered if any(map(cell_text, cells)))
    return _bounded(filled)


def _bounded(rows: Iterable[FilledRow]) -> list[FilledRow]:
    found: list[FilledRow] = []
    for row in rows:
        if len(found) == MOST_ROWS:
            raise SheetFault("too_many_rows", most=MOST_ROWS)
        found.append(row)
    return found


def _places(titles: Cells) -> dict[SheetColumn | int, int]:
    """Where each known column stands."""
    places: dict[SheetColumn | int, int] = {}
    for place, title in enumerate(titles):
        column = column_of(cell_text(title))
        if column is None:
            continue
        if column in places:
            raise SheetFault("column_twice", title=cell_text(title)[:40])
        places[column] = place
    return places


def _row(line: int, cells: Cells, places: dict[SheetColumn | int, int]) -> FilledRow:
    def at(column: SheetColumn | int) -> str:
        place = places.get(column, len(cells))
        return cell_text(cells[place]) if place < len(cells) else ""

    most = max((column for column in places if isinstance(column, int)), default=0)
    return FilledRow(
        line=line,
        sheet=at(SheetColumn.SHEET),
        response=at(SheetColumn.ID),
        version=at(SheetColumn.VERSION),
        points=tuple(at(number) for number in range(1, most + 1)),
        total=at(SheetColumn.TOTAL),
        comment=at(SheetColumn.COMMENT),
        flags=at(SheetColumn.FLAGS),
        rubric=at(SheetColumn.RUBRIC_CODE),
        alias=at(SheetColumn.ALIAS),
    )


def _csv_rows(content: bytes) -> list[list[str]]:
    """Return the rows of a CSV file. Raises SheetFault."""
    try:
        return csv_rows(content, most_columns=MOST_COLUMNS, most_rows=MOST_LINES)
    except CsvFault as fault:
        if fault.code == "too_many_rows":
            raise SheetFault("too_many_rows", most=MOST_ROWS) from None
        raise SheetFault("too_large" if fault.code == "too_wide" else "not_text") from None


# ---- workbook ----


def _workbook_rows(content: bytes) -> list[Cells]:
    """The rows of the first page of a workbook, read in a child process."""
    try:
        answer = isolated_bytes(READ_WORKBOOK, content, bounds=BOUNDS)
    except Exceeded as error:
        codes = {Why.CRASH: "broken_workbook", Why.BUSY: "busy", Why.CLOCK: "busy"}
        raise SheetFault(codes.get(error.why, "too_large")) from error
    if "fault" in answer:
        raise SheetFault(answer["fault"], most=MOST_ROWS)
    rows: list[Cells] = answer["rows"]
    return rows

"""Marking sheets for tests: taken, filled in as a spreadsheet would, and read back."""

from __future__ import annotations

import csv
import io
from datetime import date
from typing import Any

import openpyxl

from evaluations.marking.sheets.services.marking_sheets import take_sheet
from evaluations.models import MarkingRound, MarkingSheet
from gradeapp.accounts.models import User
from tests.evaluations.marking_world import NOW

DAY = date(2026, 9, 8)
Rows = list[list[Any]]


def taken(made: MarkingRound, teacher: User, responses: int = 10, **fields: Any) -> MarkingSheet:
    """A sheet of *teacher*, held for a week."""
    given = {"responses": responses, "until": DAY, "acting_user": teacher, "now": NOW}
    return take_sheet(made, teacher, **(given | fields))


def table_of(content: bytes) -> Rows:
    """The cells of a CSV file."""
    return [list(row) for row in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))]


def workbook_of(content: bytes) -> Rows:
    """The cells of the first page of a workbook."""
    page = openpyxl.load_workbook(io.BytesIO(content)).worksheets[0]
    return [list(row) for row in page.iter_rows(values_only=True)]


def filled(rows: Rows, marks: dict[str, dict[str, Any]]) -> Rows:
    """*rows* with cells filled in: by the alias of a response, then by the title of a column."""
    head, *rest = rows
    for row in rest:
        for title, value in marks.get(row[0], {}).items():
            row[head.index(title)] = value
    return [head, *rest]


def points(*values: Any) -> dict[str, Any]:
    """Cells of scoring points in their order."""
    return {f"Point {number}": value for number, value in enumerate(values, start=1)}


def as_csv(rows: Rows, encoding: str = "utf-8-sig", delimiter: str = ",") -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue().encode(encoding)


def as_xlsx(rows: Rows) -> bytes:
    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)  # type: ignore[union-attr]
    book.save(out)
    return out.getvalue()

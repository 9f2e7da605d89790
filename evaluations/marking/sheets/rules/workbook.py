"""Reads the first page of an uploaded workbook as text. Runs in a child process (``isolated``).

Nothing in the file is believed. A workbook is a zip of XML: how many files it holds and how large
they unpack is looked at first, no entity is followed, and formulas are not computed: the value that
the spreadsheet stored counts.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable
from datetime import date, datetime, time
from decimal import Decimal
from typing import IO, Any

from gradeapp.common.plain_number import plain

MOST_ROWS = 1000
MOST_LINES = 100_000  # with the empty ones
LAST_LINE = 2**20  # of a spreadsheet; some write its row though nothing stands there
MOST_COLUMNS = 300
MOST_ENTRIES = 200
MOST_UNPACKED = 32 * 2**20
MOST_RATIO = 100
# Of angle brackets in all parts: a sheet of 1000 rows and 60 columns has 250,000.
MOST_TAGS = 1_000_000
CHUNK = 1 << 16


def read_workbook(source: IO[bytes]) -> dict[str, Any]:
    """``rows`` with the cells as text, without empty cells at their ends; or ``fault``, a code.

    The codes are ``broken_workbook``, ``too_large`` and ``too_many_rows``, for a filled row behind
    ``MOST_LINES``. One filled row more than a sheet may have is read, and the header, so that too
    many are seen as such; empty rows between them do not count.
    """
    import openpyxl  # takes 14 MB: not in processes that read no workbook

    fault = _zip_fault(source)
    if fault:
        return {"fault": fault}
    source.seek(0)
    try:
        book = openpyxl.load_workbook(source, read_only=True, data_only=True, keep_links=False)
        page = book.worksheets[0]
        page.reset_dimensions()
        found = page.iter_rows(max_row=LAST_LINE, max_col=MOST_COLUMNS, values_only=True)
        return _filled_rows(found)
    except MemoryError:
        raise
    except Exception:  # a crafted file makes the library raise whatever its parts raise
        return {"fault": "broken_workbook"}


def _filled_rows(found: Iterable[tuple[object, ...]]) -> dict[str, Any]:
    rows: list[list[str]] = []
    filled, empty = 0, None
    for line, row in enumerate(found, start=1):
        if row is empty:  # the library gives one object for all rows that are not in the file
            continue
        if row.count(None) == len(row):
            empty = row
            continue
        if cells := _without_end(row):
            if line > MOST_LINES:
                return {"fault": "too_many_rows"}
            rows += [[] for _empty in range(line - 1 - len(rows))]
            rows.append(cells)
            filled += 1
        if filled > MOST_ROWS + 1:
            break
    return {"rows": rows}


def _without_end(row: tuple[object, ...]) -> list[str]:
    cells = [cell_text(_unescaped(cell) if isinstance(cell, str) else cell) for cell in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _unescaped(text: str) -> str:
    """*text* without the escapes of the file format, in UTF-16; line ends are line feeds."""
    from openpyxl.utils.escape import unescape

    units = str(unescape(text)).encode("utf-16", "surrogatepass")
    return units.decode("utf-16", "replace").replace("\r\n", "\n")


def cell_text(cell: object) -> str:
    """A cell as it reads: 2.0 as ``2``; a date, which a spreadsheet made of ``1/2``, as a date."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell)
    if isinstance(cell, int | float):
        return plain(Decimal(str(cell)))
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    return str(cell).replace("\x00", "\ufffd").strip()


def _zip_fault(source: IO[bytes]) -> str:
    """Why the zip is not read. Bytes and tags are counted as they come, not as headers say."""
    unpacked = tags = 0
    try:
        with zipfile.ZipFile(source) as opened:
            entries = opened.infolist()
            if len(entries) > MOST_ENTRIES:
                return "too_large"
            for entry in entries:
                size = 0
                with opened.open(entry) as part:
                    while chunk := part.read(CHUNK):
                        size += len(chunk)
                        tags += chunk.count(b"<")
                        dense = size > 2**20 and size > MOST_RATIO * max(entry.compress_size, 1)
                        if dense or unpacked + size > MOST_UNPACKED or tags > MOST_TAGS:
                            return "too_large"
                unpacked += size
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, RuntimeError, OSError):
        return "broken_workbook"
    return ""

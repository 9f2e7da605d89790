"""Rows of a CSV file as spreadsheets write it: any of their encodings and separators."""

from __future__ import annotations

import csv
import io
from threading import Lock

LONGEST_CSV_CELL = 2**20
CSV_LIMIT = Lock()


class CsvFault(ValueError):
    """A file that is not read: the code ``not_text``, ``too_wide`` or ``too_many_rows``."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def csv_rows(content: bytes, *, most_columns: int, most_rows: int) -> list[list[str]]:
    """Return the rows of a CSV file, the empty ones too.

    Cells may have up to ``LONGEST_CSV_CELL`` characters, more than Python's usual limit, which is
    one of the whole process: it is raised under a lock, only while the rows are read. Raises
    CsvFault.
    """
    text = decoded(content)
    rows: list[list[str]] = []
    with CSV_LIMIT:
        usual = csv.field_size_limit(LONGEST_CSV_CELL)
        try:
            for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text)):
                if len(row) > most_columns:
                    raise CsvFault("too_wide")
                if len(rows) == most_rows:
                    raise CsvFault("too_many_rows")
                rows.append(row)
        except csv.Error as error:
            raise CsvFault("not_text") from error
        finally:
            csv.field_size_limit(usual)
    return rows


def decoded(content: bytes) -> str:
    """UTF-8 or UTF-16 with their marks; else UTF-8, or what a Chinese Excel writes.

    Raises CsvFault for what is no text, or has a NUL in it.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    else:
        encodings = ["utf-8-sig", "gb18030"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\x00" not in text:
            return text
    raise CsvFault("not_text")


def delimiter_of(text: str) -> str:
    """What stands most often in the first line: a comma, a semicolon or a tab."""
    first = text.lstrip("\r\n").split("\n", 1)[0]
    return max(",;\t", key=first.count)

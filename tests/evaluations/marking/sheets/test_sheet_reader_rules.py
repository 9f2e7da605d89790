"""Filled sheets as spreadsheets and people write them, and files that are meant to do harm."""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from evaluations.marking.sheets.rules import sheet_reader as marking_sheet
from evaluations.marking.sheets.rules.sheet_reader import SheetFault, read_sheet
from tests.evaluations.sheet_world import as_csv, as_xlsx

HEAD = ["Response", "Point 1", "Point 2", "Total", "Comment", "Flags"]
HEAD += ["Version", "Id of the response", "Id of the sheet"]


def table(*rows: list[Any]) -> list[list[Any]]:
    return [HEAD, *rows]


ROW = ["R-0001", "3", "2.5", "", "好，清楚", "", "0", "id-1", "sheet-1"]
WRITERS: dict[str, Callable[[Any], bytes]] = {
    "csv": as_csv,
    "csv without a mark": lambda rows: as_csv(rows, "utf-8"),
    "csv of a Chinese Excel": lambda rows: as_csv(rows, "gb18030"),
    "csv with semicolons": lambda rows: as_csv(rows, delimiter=";"),
    "Unicode text of Excel": lambda rows: as_csv(rows, "utf-16", "\t"),
    "xlsx": as_xlsx,
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_row_is_read_from_every_kind_of_file(writer: str) -> None:
    (row,) = read_sheet(WRITERS[writer](table(ROW)))
    assert (row.line, row.points, row.comment) == (2, ("3", "2.5"), "好，清楚")
    assert (row.version, row.response, row.sheet) == ("0", "id-1", "sheet-1")


def test_numbers_of_a_workbook_are_read_as_they_look() -> None:
    cells = ["R-0001", 3, 2.5, 5.50, None, None, 0, "id-1", "sheet-1"]
    (row,) = read_sheet(as_xlsx(table(cells)))
    assert (row.points, row.total, row.version) == (("3", "2.5"), "5.5", "0")


def test_a_text_of_a_workbook_is_read_as_it_was_typed() -> None:
    """Excel escapes carriage returns, what reads as an escape, and halves of a character."""
    typed = "行一_x000D_\n行二 _x005F_x0041_ _xD83D__xDE00_ _xDE00_"
    (row,) = read_sheet(as_xlsx(table([*ROW[:4], typed, *ROW[5:]])))
    assert row.comment == "行一\n行二 _x0041_ 😀 \ufffd"


def test_what_a_spreadsheet_made_of_a_mark_is_not_guessed_back() -> None:
    cells = ["R-0001", date(2026, 1, 2), True, "=1+1", None, None, 0, "id-1", "sheet-1"]
    (row,) = read_sheet(as_xlsx(table(cells)))
    assert row.points == ("2026-01-02T00:00:00", "True")
    assert row.total == "", "a formula that no spreadsheet has computed has no value"


def test_columns_may_move_go_and_be_called_by_their_chinese_names() -> None:
    rows = [
        ["评卷单编号", "版本", "作答编号", "采分点2", "采分点1（满分3）", "x"],
        ["s", "1", "i", "2", "3", "y"],
    ]
    (row,) = read_sheet(as_csv(rows, "gb18030"))
    assert (row.sheet, row.version, row.response, row.points) == ("s", "1", "i", ("3", "2"))
    assert (row.total, row.comment, row.flags) == ("", "", "")


@pytest.mark.parametrize("writer", [as_csv, as_xlsx])
def test_empty_rows_are_passed_over_and_lines_are_those_of_the_file(writer: Any) -> None:
    """As many as they are: a person may have moved rows far down."""
    blank = [""] * len(HEAD)
    rows = read_sheet(writer([blank, HEAD, blank, ROW, *[blank] * 1100, ROW[:3]]))
    assert [(row.line, row.response) for row in rows] == [(4, "id-1"), (1105, "")]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "no_header"),
        (b"\n\n", "no_header"),
        (as_csv([["a", "b"], ["1", "2"]]), "no_header"),
        (as_csv([[*HEAD, "point 1"], [*ROW, "1"]]), "column_twice"),
        (lambda: as_csv(table(*[ROW] * 1001)), "too_many_rows"),
        (lambda: as_xlsx(table(*[ROW] * 1001)), "too_many_rows"),
        (lambda: with_row(b"100001"), "too_many_rows"),
        (as_csv([HEAD + ["x"] * 300]), "too_large"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not_text"),
        (b"\xff\xfe\x00", "not_text"),
        (b'"' + b"a" * 2_000_000, "not_text"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "old_excel"),
        (b"PK\x03\x04nothing", "broken_workbook"),
    ],
)
def test_what_is_no_sheet_is_named(content: bytes | Callable[[], bytes], code: str) -> None:
    with pytest.raises(SheetFault) as refused:
        read_sheet(content if isinstance(content, bytes) else content())
    assert refused.value.code == code


# ---- files that are meant to do harm ----


def zipped(entries: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries.items():
            made.writestr(name, content)
    return out.getvalue()


def with_part(name: str, change: Callable[[bytes], bytes]) -> bytes:
    """A good workbook of which one part is another."""
    with zipfile.ZipFile(io.BytesIO(as_xlsx(table(ROW)))) as good:
        parts = {entry: good.read(entry) for entry in good.namelist()}
    return zipped(parts | {name: change(parts[name])})


def with_row(number: bytes) -> bytes:
    """A good workbook with its second row once more, as the row *number*."""
    written = re.compile(rb'<row r="2".*?</row>', re.DOTALL)

    def twice(xml: bytes) -> bytes:
        row = written.search(xml)
        assert row
        again = re.sub(rb'r="([A-I]?)2"', rb'r="\g<1>' + number + b'"', row[0])
        return xml.replace(row[0], row[0] + again)

    return with_part(PAGE, twice)


ENTITIES = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;">]>'
FILE = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
PAGE, WORKBOOK = "xl/worksheets/sheet1.xml", "xl/workbook.xml"


@pytest.mark.parametrize("declared", [ENTITIES, FILE])
@pytest.mark.parametrize("part", [PAGE, WORKBOOK, "[Content_Types].xml"])
def test_no_entity_is_followed(part: str, declared: bytes) -> None:
    content = with_part(part, lambda xml: declared + xml[xml.index(b"<", 1) :].lstrip())
    with pytest.raises(SheetFault, match="broken_workbook"):
        read_sheet(content)


@pytest.mark.parametrize(
    "bomb",
    [
        lambda: with_part(PAGE, lambda xml: xml + b" " * 30_000_000),
        lambda: zipped({f"{number}.xml": b"" for number in range(201)}),
        lambda: zipped({f"{number}.bin": bytes(range(256)) * 250_000 for number in range(1)}),
        lambda: with_part(
            PAGE, lambda xml: xml + b"".join(b"<c><v>%d</v></c>" % n for n in range(300_000))
        ),
    ],
    ids=["ratio", "many", "large", "cells"],
)
def test_a_bomb_is_refused_before_it_is_unpacked(bomb: Callable[[], bytes]) -> None:
    content = bomb()
    started = time.process_time()
    with pytest.raises(SheetFault, match="too_large"):
        read_sheet(content)
    assert time.process_time() - started < 1


def test_a_workbook_that_is_none_is_refused() -> None:
    for content in (zipped({"a.txt": b"x"}), zipped({"[Content_Types].xml": b"<Types/>"})):
        with pytest.raises(SheetFault, match="broken_workbook"):
            read_sheet(content)


def test_a_page_that_says_to_be_endless_is_read_as_far_as_it_goes() -> None:
    content = with_part(PAGE, lambda xml: xml.replace(b'ref="A1:I2"', b'ref="A1:XFD1048576"'))
    assert len(read_sheet(content)) == 1
    assert marking_sheet.MOST_ROWS == 1000

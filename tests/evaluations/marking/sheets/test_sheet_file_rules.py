"""Marking sheets as files: safe to open, the same bytes each time, cut where a cell ends."""

from __future__ import annotations

import csv
import io
import zipfile
from dataclasses import replace
from decimal import Decimal

import openpyxl
import pytest

from evaluations.marking.rules.blinding import BlindItem
from evaluations.marking.sheets.rules.sheet_file import (
    SheetWords,
    sheet_csv,
    sheet_table,
    sheet_xlsx,
)
from evaluations.marking.sheets.rules.sheet_reader import SheetFault, read_sheet
from evaluations.marking.sheets.rules.sheet_rows import SheetLine
from questions.rules.rubric import PointGroup, ScoringPoint

D = Decimal
WORDS = SheetWords(
    "en", "[cut]", "max", "the best %(n)s count", ("Marks", "Instructions"), ("=1+1", "b")
)
POINTS = (ScoringPoint("names the law", D(3)), ScoringPoint("solves it", D("4.5"), group=1))
DANGEROUS = ['=HYPERLINK("http://x","y")', "+1", "-2+3", "@SUM(1)", "＝1+1", "\u200b=1", "\t=1"]
# What the library would copy into the file unescaped: a row more, and a file that nobody can open.
MARKUP = ["<r><t>a</t></r></si><si><t>b</t></si><si><r><t>.</t></r>", "<r></is></c> & <r></r>"]


def item(text: str = "an answer", points: tuple[ScoringPoint, ...] = POINTS) -> BlindItem:
    return BlindItem(
        public_id="11111111-1111-4111-8111-111111111111", alias="R-0001", subject="Physics",
        question_type="open", year=2020, paper="I", stem="What falls?", answer_key="A ball.",
        analysis="", full_marks=D("7.5"), step=D("0.5"), tolerance=D(1), scoring_points=points,
        point_groups=(PointGroup(D(4), "any", choose=1),) if points else (), response_text=text,
        marking_notes="",
    )  # fmt: skip


def lines(*texts: str) -> list[SheetLine]:
    return [SheetLine(item(text), 0) for text in texts]


def page_of(content: bytes) -> openpyxl.worksheet.worksheet.Worksheet:
    return openpyxl.load_workbook(io.BytesIO(content)).worksheets[0]


def test_the_columns_and_the_cells_of_a_sheet() -> None:
    made = sheet_table("S", [*lines("one"), SheetLine(item("two", ()), 3)], WORDS)
    assert made.columns == (
        *("Response", "Question", "Answer key", "Scoring points", "Text of the response"),
        *("Point 1", "Point 2", "Total", "Full marks", "Comment", "Flags"),
        *("Version", "Rubric code", "Id of the response", "Id of the sheet"),
    )
    assert read_sheet(sheet_csv("S", lines("one"), WORDS))[0].rubric == item().rubric != ""
    rubric = "1. names the law (max 3)\n2. solves it (max 4.5) [1]\n"
    rubric += "[1] any (max 4, the best 1 count)"
    identity = ("11111111-1111-4111-8111-111111111111", "S")
    empty, code = (None, D("7.5"), None, None), item("two", ()).rubric
    assert made.rows == (
        (
            "R-0001",
            "What falls?",
            "A ball.",
            rubric,
            "one",
            None,
            None,
            *empty,
            0,
            item().rubric,
            *identity,
        ),
        ("R-0001", "What falls?", "A ball.", "", "two", "–", "–", *empty, 3, code, *identity),
    )


@pytest.mark.parametrize("text", MARKUP)
def test_text_that_looks_like_the_file_itself_is_text(text: str) -> None:
    words = replace(WORDS, how_to=(text,))
    rows = list(page_of(sheet_xlsx("S", lines(text, "next"), words)).iter_rows(min_row=2))
    assert [row[4].value for row in rows] == [text, "next"]
    assert all(row[4].quotePrefix for row in rows)


@pytest.mark.parametrize("text", DANGEROUS)
def test_no_text_becomes_a_formula(text: str) -> None:
    (_, cells) = list(
        csv.reader(io.StringIO(sheet_csv("S", lines(text), WORDS).decode("utf-8-sig")))
    )
    assert cells[4] == "'" + text
    cell = page_of(sheet_xlsx("S", lines(text), WORDS)).cell(2, 5)
    assert (cell.data_type, cell.value, cell.hyperlink) == ("s", text, None)
    assert cell.quotePrefix


def test_a_workbook_is_the_same_bytes_each_time_and_names_nobody() -> None:
    content = sheet_xlsx("S", lines("one"), WORDS)
    assert content == sheet_xlsx("S", lines("one"), WORDS)
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        assert {entry.date_time[0] for entry in opened.infolist()} == {1980}
        core = opened.read("docProps/core.xml").decode()
    assert "2000-01-01" in core
    assert "<dc:creator></dc:creator>" in core


def test_a_workbook_says_what_its_cells_take() -> None:
    content = sheet_xlsx("S", [*lines("one"), SheetLine(item("two", ()), 0)], WORDS)
    ranges = {
        str(one.sqref): (one.formula1, one.formula2, one.prompt)
        for one in page_of(content).data_validations.dataValidation
    }
    assert ranges == {
        "F2": ("0", "3", "max 3: names the law"),
        "G2": ("0", "4.5", "max 4.5: solves it"),
        "H2": ("0", "7.5", "max 7.5"),
        "H3": ("0", "7.5", "max 7.5"),
    }
    formats = {cell.coordinate: cell.number_format for cell in page_of(content)[2]}
    assert [formats[cell] for cell in ("F2", "H2", "J2", "K2")] == ["General"] * 2 + ["@"] * 2
    how_to = openpyxl.load_workbook(io.BytesIO(content)).worksheets[1]
    assert (how_to.title, how_to["A1"].value, how_to["A1"].data_type) == (
        "Instructions",
        "=1+1",
        "s",
    )


@pytest.mark.parametrize("text", ["字" * 40_000, "𝑥" * 20_000, "a" * 32_768])
def test_a_text_longer_than_a_cell_is_cut_and_says_so(text: str) -> None:
    """A cell holds 32,767 UTF-16 units; a character beyond the first plane has two."""
    for content in (
        page_of(sheet_xlsx("S", lines(text), WORDS)).cell(2, 5).value,
        sheet_table("S", lines(text), WORDS).rows[0][4],
    ):
        assert isinstance(content, str)
        assert content.endswith("\n[cut]")
        assert 32_000 < len(content.encode("utf-16-le")) / 2 <= 32_767
        assert text.startswith(content.removesuffix("\n[cut]"))


def test_a_text_that_fits_is_whole_and_what_xml_forbids_is_marked() -> None:
    assert page_of(sheet_xlsx("S", lines("字" * 32_000), WORDS)).cell(2, 5).value == "字" * 32_000
    cell = page_of(sheet_xlsx("S", lines("a\x0bb\ud800c\x00d\ufffee𝑥"), WORDS)).cell(2, 5)
    assert cell.value == "a\ufffdb\ufffdc\ufffdd\ufffde𝑥"


def test_text_that_is_hidden_or_turned_is_shown_by_its_number() -> None:
    text = "A\u202egnorw\u202c B\U000e0041 \U0001f469\u200d\U0001f3eb"
    shown = "A[U+202E]gnorw[U+202C] B[U+E0041] \U0001f469\u200d\U0001f3eb"
    assert page_of(sheet_xlsx("S", lines(text), WORDS)).cell(2, 5).value == shown
    assert sheet_table("S", lines(text), WORDS).rows[0][4] == shown


def test_long_cells_of_a_sheet_leave_the_limit_of_other_files() -> None:
    before = csv.field_size_limit()
    with pytest.raises(SheetFault):
        read_sheet(b"a,b\r\n" + b"x" * 200_000)
    assert csv.field_size_limit() == before

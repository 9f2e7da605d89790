"""A marking sheet as a file: CSV, or a workbook whose cells say what they take.

The workbook is the same bytes each time it is made: no clock and no name is in
it. Text never becomes a formula or a link.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import xlsxwriter

from evaluations.marking.rules.blinding import BlindItem
from evaluations.marking.sheets.rules.sheet_rows import NONE, SheetColumn, SheetLine, point_title
from gradeapp.common.csv_cells import Cell
from gradeapp.common.csv_file import render
from gradeapp.common.hidden_text import with_order_shown
from gradeapp.common.plain_number import plain
from gradeapp.common.tables import Table, table
from gradeapp.common.workbook_text import write_text

# The most that a cell of a spreadsheet holds, in UTF-16 units; room is left for what says so.
KEPT = 32_400
LONGEST_HINT = 250
MADE_AT = datetime(2000, 1, 1)
C = SheetColumn
BEFORE = (C.ALIAS, C.QUESTION, C.KEY, C.RUBRIC, C.TEXT)
AFTER = (C.TOTAL, C.FULL, C.COMMENT, C.FLAGS, C.VERSION, C.RUBRIC_CODE, C.ID, C.SHEET)
WIDTHS = {C.ALIAS: 10, C.QUESTION: 44, C.KEY: 36, C.RUBRIC: 36, C.TEXT: 64, C.COMMENT: 32}
WIDTHS |= {C.FLAGS: 18, C.ID: 14, C.SHEET: 14}
ROW_HEIGHT = 150


@dataclass(frozen=True, slots=True)
class SheetWords:
    """The words of a sheet in its reader's language.

    ``cut`` is what a text that is longer than a cell ends with; ``most`` stands
    before the most points of a scoring point or group, ``best`` says with ``%(n)s``
    how many points of a group count; ``how_to`` are the lines of the second page
    of a workbook, whose names are ``pages``.
    """

    language: str
    cut: str
    most: str
    best: str
    pages: tuple[str, str]
    how_to: tuple[str, ...]


def sheet_csv(sheet: str, lines: Sequence[SheetLine], words: SheetWords) -> bytes:
    """The sheet called *sheet* as CSV, safe to open in a spreadsheet."""
    return render(sheet_table(sheet, lines, words))


def sheet_xlsx(sheet: str, lines: Sequence[SheetLine], words: SheetWords) -> bytes:
    """The same as a workbook, with a second page that says how to fill it in."""
    out = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    book = xlsxwriter.Workbook(out, options)
    book.set_properties({"created": MADE_AT})
    page = book.add_worksheet(words.pages[0])
    formats = {
        "head": book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"}),
        "text": book.add_format({"text_wrap": True, "valign": "top", "quote_prefix": True}),
        "number": book.add_format({"valign": "top"}),
        "fill": book.add_format({"bg_color": "#FFF7E0", "border": 1, "valign": "top"}),
        # As text, so that a spreadsheet makes no date of a comment 3/4 and no formula of -x.
        "fill_text": book.add_format(
            {
                **{"bg_color": "#FFF7E0", "border": 1, "valign": "top"},
                **{"text_wrap": True, "num_format": "@"},
            }
        ),
        "none": book.add_format({"font_color": "#999999", "align": "right", "valign": "top"}),
    }
    _write_rows(page, sheet_table(sheet, lines, words), lines, formats)
    _say_what_cells_take(page, lines, words)
    _write_how_to(book.add_worksheet(words.pages[1]), words, formats["text"])
    book.close()
    return out.getvalue()


def sheet_table(sheet: str, lines: Sequence[SheetLine], words: SheetWords) -> Table:
    """The cells of a sheet: what there is to read, what is to be filled in, and what it is."""
    most = most_points(lines)
    points = [point_title(number, words.language) for number in range(1, most + 1)]
    columns = [column.label(words.language) for column in BEFORE]
    columns += [*points, *(column.label(words.language) for column in AFTER)]
    return table(columns, (_cells(sheet, line, most, words) for line in lines))


def most_points(lines: Sequence[SheetLine]) -> int:
    """Scoring points of the response that has most of them."""
    return max((len(line.item.scoring_points) for line in lines), default=0)


def _cells(sheet: str, line: SheetLine, most: int, words: SheetWords) -> list[Cell]:
    item = line.item
    own = len(item.scoring_points)
    texts = (item.alias, item.stem, item.answer_key, _rubric(item, words), item.response_text)
    return [
        *(_fitting(text, words.cut) for text in texts),
        *([None] * own + [NONE] * (most - own)),
        *(None, item.full_marks, None, None),
        *(line.version, item.rubric, item.public_id, sheet),
    ]


def _rubric(item: BlindItem, words: SheetWords) -> str:
    """Scoring points one a line with the most that each gives, and the caps of their groups."""
    said = []
    for number, point in enumerate(item.scoring_points, start=1):
        group = f" [{point.group}]" if point.group else ""
        said.append(f"{number}. {point.text} ({words.most} {plain(point.points)}){group}")
    for place, one in enumerate(item.point_groups, start=1):
        best = f", {words.best % {'n': one.choose}}" if one.choose is not None else ""
        said.append(f"[{place}] {one.text} ({words.most} {plain(one.cap)}{best})")
    return "\n".join(said)


def _fitting(text: str, cut: str) -> str:
    """*text* as a cell can hold it: without what XML forbids, and cut with a word that says so.

    What hides text or turns its order is shown by its number, as at the desk.
    """
    shown = with_order_shown(text)
    clean = "".join(one if _is_allowed(one) else "\ufffd" for one in shown)
    if _units(clean) <= KEPT:
        return clean
    while _units(clean) > KEPT:
        clean = clean[: len(clean) - max(1, (_units(clean) - KEPT) // 2)]
    return f"{clean}\n{cut}"


def _units(text: str) -> int:
    return len(text) + sum(one > "\uffff" for one in text)


def _is_allowed(one: str) -> bool:
    """Whether XML may hold the character: no control but three, no surrogate, no non-character."""
    code = ord(one)
    return one in "\t\n\r" or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code > 0xFFFF


def _write_rows(
    page: xlsxwriter.worksheet.Worksheet,
    cells: Table,
    lines: Sequence[SheetLine],
    formats: dict[str, xlsxwriter.format.Format],
) -> None:
    points = range(len(BEFORE), len(BEFORE) + most_points(lines))
    after = points.stop
    filled = {after: "fill", after + 2: "fill_text", after + 3: "fill_text"}
    page.freeze_panes(1, 1)
    page.set_column(0, len(cells.columns) - 1, 10)
    for place, column in ((place, one) for place, one in enumerate(BEFORE) if one in WIDTHS):
        page.set_column(place, place, WIDTHS[column])
    for place, column in enumerate(AFTER, start=after):
        page.set_column(place, place, WIDTHS.get(column, 10))
    for place, title in enumerate(cells.columns):
        write_text(page, 0, place, title, formats["head"])
    for number, row in enumerate(cells.rows, start=1):
        page.set_row(number, ROW_HEIGHT)
        for place, value in enumerate(row):
            if value is None:
                page.write_blank(number, place, None, formats[filled.get(place, "fill")])
            elif place in points:
                write_text(page, number, place, str(value), formats["none"])
            elif isinstance(value, str):
                write_text(page, number, place, value, formats["text"])
            else:
                page.write_number(number, place, value, formats["number"])


def _say_what_cells_take(
    page: xlsxwriter.worksheet.Worksheet, lines: Sequence[SheetLine], words: SheetWords
) -> None:
    """A spreadsheet then refuses a mark out of range by itself; the reading refuses it anyway."""
    total = len(BEFORE) + most_points(lines)
    for row, line in enumerate(lines, start=1):
        for number, point in enumerate(line.item.scoring_points, start=1):
            hint = f"{words.most} {plain(point.points)}: {point.text}"[:LONGEST_HINT]
            column = len(BEFORE) + number - 1
            title = point_title(number, words.language)
            page.data_validation(row, column, row, column, _range(point.points, title, hint))
        full = line.item.full_marks
        title, hint = C.TOTAL.label(words.language), f"{words.most} {plain(full)}"
        page.data_validation(row, total, row, total, _range(full, title, hint))


def _range(most: object, title: str, hint: str) -> dict[str, object]:
    return {
        "validate": "decimal",
        "criteria": "between",
        "minimum": 0,
        "maximum": most,
        "input_title": title,
        "input_message": hint,
        "error_type": "warning",
    }


def _write_how_to(
    page: xlsxwriter.worksheet.Worksheet, words: SheetWords, shape: xlsxwriter.format.Format
) -> None:
    page.set_column(0, 0, 100)
    for number, sentence in enumerate(words.how_to):
        write_text(page, number, 0, _fitting(sentence, words.cut), shape)

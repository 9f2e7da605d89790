"""Text in the cells of a workbook, as it was typed."""

from __future__ import annotations

from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

# XlsxWriter takes text between these for a rich string that is ready, and escapes nothing in it.
MARKUP = ("<r>", "</r>")


def write_text(page: Worksheet, row: int, column: int, text: str, shape: Format) -> None:
    """Write *text* into a cell (*row* and *column* from 0), whatever it looks like.

    Text that the library would copy as markup is written in two pieces, which it escapes.
    """
    if text.startswith(MARKUP[0]) and text.endswith(MARKUP[1]):
        page.write_rich_string(row, column, shape, text[:1], shape, text[1:], shape)
    else:
        page.write_string(row, column, text, shape)

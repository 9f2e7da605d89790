"""Cells of a CSV file that spreadsheets open safely: text that looks like a formula is guarded.

A spreadsheet takes a cell that begins with ``=`` (or ``+ - @`` and some more) for
a formula, however it is quoted. Such text gets a leading apostrophe. That is the
one change made to text, and it cannot be told from an apostrophe that was there:
the JSON Lines export is the lossless one.
"""

from __future__ import annotations

import math
import unicodedata
from decimal import Decimal

Cell = str | int | float | Decimal | None

BOM = "\ufeff"
GUARD = "'"
FORMULA_STARTS = frozenset("=+-@\t\r\n\0＝＋－＠")


def guard(text: str) -> str:
    """The text, with a leading apostrophe where a spreadsheet could take it for a formula.

    Looked at is the first significant character: spaces of every width (category
    Zs), the BOM, zero-width and other invisible format characters (category Cf)
    before it are skipped.
    """
    for character in text:
        if character in FORMULA_STARTS:
            return GUARD + text
        if unicodedata.category(character) not in ("Zs", "Cf"):
            break
    return text


def cell(value: Cell) -> str:
    """One cell as it is written, before quoting.

    Numbers stay numbers by their type, also below zero: floats in the shortest
    form that reads back as the same float (``7000`` rather than ``7000.0``),
    decimals with their places. Raises ValueError for NaN or infinity: a figure
    without a value is None and has a reason.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return guard(value)
    if not math.isfinite(value):
        raise ValueError("a number in a table must be finite")
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return repr(value)

"""Read a table of judge's and people's marks for a prediction-powered estimate."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence

import numpy as np

from evaluations.statistics.prediction_powered import MarkedTable

NEEDED = ("item", "full", "judge", "human")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
LARGEST = 1e6


class TableFault(ValueError):
    """What is wrong with a table: *code*, and what its sentence names."""

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(code)
        self.code, self.values = code, values


def read_table(content: bytes) -> MarkedTable:
    """Return the table in *content*, a CSV file in UTF-8 (with or without a mark) or GB 18030.

    Columns by name, in any order, others are ignored: ``item`` (each once), ``full`` (above 0),
    ``judge`` (any number), ``human`` (0 to ``full``; empty where nobody marked), and if there,
    ``stratum`` and ``cluster`` (texts). Raises TableFault.
    """
    reader = csv.reader(io.StringIO(_decoded(content), newline=""), strict=True)
    try:
        rows = [row for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise TableFault("no_csv", line=reader.line_num) from error
    if not rows:
        raise TableFault("empty")
    names = [cell.strip().lower() for cell in rows[0]]
    missing = [name for name in NEEDED if names.count(name) != 1]
    if missing:
        raise TableFault("columns", missing=", ".join(missing))
    rows = rows[1:]
    if not rows:
        raise TableFault("empty")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise TableFault("cells", row=number, cells=len(row), columns=len(names))

    def column(name: str) -> list[str]:
        place = names.index(name)
        return [row[place].strip() for row in rows]

    _each_once(column("item"))
    full = np.array([_number("full", i, cell) for i, cell in enumerate(column("full"), 2)])
    judge = np.array([_number("judge", i, cell) for i, cell in enumerate(column("judge"), 2)])
    human = np.array(
        [
            _number("human", i, cell) if cell else math.nan
            for i, cell in enumerate(column("human"), 2)
        ]
    )
    for i in np.flatnonzero(full <= 0)[:1]:
        raise TableFault("full", row=int(i) + 2, value=rows[i][names.index("full")])
    for i in np.flatnonzero((human < 0) | (human > full))[:1]:
        values = {"value": f"{human[i]:g}", "full": f"{full[i]:g}"}
        raise TableFault("human", row=int(i) + 2, **values)
    if np.isnan(human).all():
        raise TableFault("unmarked")
    return MarkedTable.of(
        full,
        judge,
        human,
        stratum=_codes(column("stratum")) if "stratum" in names else None,
        cluster=_codes(column("cluster")) if "cluster" in names else None,
    )


def _decoded(content: bytes) -> str:
    """Return the text; raise TableFault if it is none."""
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise TableFault("no_csv", line=1)


def _each_once(items: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for number, item in enumerate(items, start=2):
        if not item:
            raise TableFault("no_item", row=number)
        if item in seen:
            raise TableFault("twice", row=number, item=item, first=seen[item])
        seen[item] = number


def _number(column: str, row: int, cell: str) -> float:
    """Return the number in *cell*; raise TableFault for anything else, infinite ones included."""
    value = float(cell) if NUMBER.fullmatch(cell) else math.nan
    if not abs(value) <= LARGEST:
        raise TableFault("number", row=row, column=column, value=cell[:40])
    return value


def _codes(values: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return a number for each text, the same for the same text."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)

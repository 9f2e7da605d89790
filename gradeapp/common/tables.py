"""Table: named columns and rows of cells, for CSV and XLSX writers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gradeapp.common.csv_cells import Cell


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns and rows of cells; every row is as long as there are columns.

    A cell's type decides how it is written: text is text, also where it looks
    like a number; None is an empty cell.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        if len(set(self.columns)) != len(self.columns):
            raise ValueError("two columns have one name")
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("a row is not as long as there are columns")


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Table:
    """A table of any rows: scores, marks, responses. Raises ValueError for a ragged row."""
    return Table(tuple(columns), tuple(tuple(row) for row in rows))

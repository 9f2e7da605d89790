"""Read the printed cells of the three papers, which the project carries as data.

`evaluations/reports/published/PAPER.json` has the tables of a paper as they are printed, misprints
included; `notes` says what is wrong with a cell. `columns` have a unit and the number of decimals
that are printed; a row is named by its key, with slashes between its parts, and has null where the
paper prints nothing. `see` names the tables that a figure draws, `stated` a table of facts that no
answers can rebuild, and `added` a table that is no numbered one of the paper. Titles and
notes are our own words, in English (en) and Chinese (zh).
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

# Of binary fractions such as 0.1.
SLACK = 1e-9
FOLDER = Path(__file__).resolve().parent.parent / "published"
# A difference is in percentage points, a length in characters (English files: words).
Unit = Literal[
    "percent",
    "count",
    "points",
    "coefficient",
    "difference",
    "tokens",
    "length",
    "billions",
    "temperature",
]


class Paper(StrEnum):
    """A paper whose tables can be rebuilt; the value is also the slug of its dataset."""

    GAOKAO_BENCH = "gaokao-bench"
    AGIEVAL = "agieval"
    AGIBENCH = "agibench"

    @property
    def benchmark(self) -> str:
        """The name of the benchmark, as the paper writes it."""
        return {"gaokao-bench": "GAOKAO-Bench", "agieval": "AGIEval"}.get(self.value, "AGIBench")


class CellName(NamedTuple):
    """Where a cell stands: ``table-1``, ``GPT-4-0314``, ``Physics``."""

    table: str
    row: str
    column: str


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Words(_Data):
    """A sentence in English and in Chinese."""

    en: str
    zh: str

    def label(self, language: str) -> str:
        """Return the sentence in *language* (``zh...`` is Chinese, all else English)."""
        return self.zh if language.startswith("zh") else self.en


class Column(_Data):
    """A column with the unit of its cells and the decimals that are printed."""

    name: str
    unit: Unit
    decimals: Annotated[int, Field(ge=0, le=4)]


class PublishedTable(_Data):
    """A table or figure as printed."""

    id: str
    title: Words
    columns: tuple[Column, ...]
    rows: dict[str, tuple[float | None, ...]]
    see: tuple[str, ...] | None = None
    stated: bool = False
    added: bool = False

    def cells(self) -> dict[CellName, float | None]:
        """Return every cell of the table, row by row; None where nothing is printed."""
        return {
            CellName(self.id, row, column.name): value
            for row, values in self.rows.items()
            for column, value in zip(self.columns, values, strict=True)
        }

    def column(self, name: str) -> Column | None:
        """Return the column *name*, or the first that is split like it (``few-shot:MODEL``)."""
        known = {column.name: column for column in self.columns}
        if name in known:
            return known[name]
        kind = name.partition(":")[0]
        return next((c for c in self.columns if c.name.partition(":")[0] == kind), None)


class Note(Words):
    """What is wrong with printed cells (``TABLE/ROW/COLUMN``, * for every row or column).

    What it accounts for is one of three: ``instead`` is the value that the paper's own numbers or
    the released files give, ``most`` the largest difference, in the unit of the cell, and
    ``unlike`` says that the printed value counts something else than ours. ``runs`` is the number
    of runs of which the printed figure is the mean; the note holds for ours of fewer.
    """

    id: str
    cells: tuple[str, ...]
    instead: float | None = None
    most: float | None = None
    unlike: bool = False
    runs: int | None = None

    def holds(self, cell: CellName) -> bool:
        """Whether the note is about *cell*."""
        return any(_matches(pattern, cell) for pattern in self.cells)

    def accounts_for(self, ours: float, difference: float, repeats: int | None) -> bool:
        """Whether *ours*, from so many *repeats*, differs from the printed figure for this reason.

        ``instead`` may be off by the rounding of its last decimal, at least one in the paper.
        """
        if self.runs is not None and (repeats is None or repeats >= self.runs):
            return False
        if self.instead is not None:
            return abs(ours - self.instead) <= 0.05 + SLACK
        if self.most is not None:
            return abs(difference) <= self.most + SLACK
        return self.unlike


def _matches(pattern: str, cell: CellName) -> bool:
    table, _slash, rest = pattern.partition("/")
    row, _slash, column = rest.rpartition("/")
    return table == cell.table and row in ("*", cell.row) and column in ("*", cell.column)


class PublishedPaper(_Data):
    """The tables of one paper. ``models`` has further names under which a model may be loaded."""

    paper: Paper
    title: str
    year: int
    dataset: str
    models: dict[str, tuple[str, ...]]
    tables: tuple[PublishedTable, ...]
    notes: tuple[Note, ...]

    def table(self, name: str) -> PublishedTable:
        """Return the table *name*. Raises KeyError for any other name."""
        return {table.id: table for table in self.tables}[name]

    def notes_of(self, cell: CellName) -> list[Note]:
        """Return the notes about *cell*."""
        return [note for note in self.notes if note.holds(cell)]


@cache
def published_paper(paper: Paper) -> PublishedPaper:
    """Return the printed cells of *paper*."""
    text = (FOLDER / f"{paper.value}.json").read_text(encoding="utf-8")
    return PublishedPaper.model_validate_json(text)

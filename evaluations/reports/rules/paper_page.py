"""Arrange the report ``paper-tables`` as tables of a page: rows and columns as printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import cast

from evaluations.reports.rules.paper_agibench import KINDS, LEAD
from evaluations.reports.rules.paper_behind import Behind, behind
from evaluations.reports.rules.paper_cells import NOTE, PARTLY
from evaluations.reports.rules.published_tables import (
    CellName,
    Column,
    Note,
    Paper,
    PublishedPaper,
    PublishedTable,
)
from evaluations.statistics.figure import Figure, Report, ReportRow
from evaluations.statistics.number_text import MINUS, POINTS

# What stands beside cells and before their reasons below the table, in the order of the reasons.
MARKS = ("*", "†", "‡", "§", "¶")
UNITS = {"percent": " %", "difference": POINTS}
Asked = tuple[str, str]
NOBODY: Asked = ("", "")
MISSING_PARTS = "missing_parts"
MISSING_QUESTIONS = "missing_questions"
# What a page has to say of the figures of a table, by paper and table.
POOLED_PROMPTS = "pooled_prompts"
SMALLER_SIDE = "smaller_side"
TWO_MAJORITIES = "two_majorities"
OF_REVIEW = "of_review"
BASES = {
    (Paper.AGIBENCH, "table-1"): POOLED_PROMPTS,
    (Paper.AGIBENCH, "table-6"): POOLED_PROMPTS,
    (Paper.AGIBENCH, "figure-4"): POOLED_PROMPTS,
    (Paper.AGIBENCH, "modals"): POOLED_PROMPTS,
    (Paper.AGIBENCH, "figure-6"): TWO_MAJORITIES,
    (Paper.AGIEVAL, "gains"): SMALLER_SIDE,
    (Paper.AGIEVAL, "figure-3"): OF_REVIEW,
    (Paper.GAOKAO_BENCH, "table-5"): SMALLER_SIDE,
}


@dataclass(frozen=True, slots=True)
class PageCell:
    """A cell: our figure and the printed one as text, and what is known of their difference.

    ``difference`` is "=" for equal cells, "" where one is missing. ``reason`` is a code: why there
    is no figure of ours, or why it differs; ``further`` is what else limits it. ``answered`` is of
    how many questions of the cell our figure has answers, of how many it should have, and under how
    many prompts each; None if it has all. ``notes`` are the ids of the notes about a printed figure
    without one of ours, or of the note that accounts for the difference. ``behind`` are the lists
    that our figure is made from, None if it is from no answers, and ``marker`` is who gave its
    subjective points. ``over`` is the model that a lead is over, "" elsewhere.
    """

    name: CellName
    ours: str
    printed: str
    difference: str
    reason: str
    further: str
    answered: tuple[int, int, int] | None
    notes: tuple[str, ...]
    asked: Asked
    behind: Behind | None
    marker: str = ""
    over: str = ""

    @property
    def codes(self) -> list[str]:
        """The reasons that no note gives, each once, without that of the part (``part_code``)."""
        found = dict.fromkeys((self.reason, self.further))
        return [
            code for code in found if code and not code.startswith(NOTE) and code != self.part_code
        ]

    @property
    def part_code(self) -> str:
        """The reason of a figure from answers to only some of its questions; "" for another."""
        return PARTLY if self.answered else ""


@dataclass(frozen=True, slots=True)
class PageLine:
    """The name of a row or column, and the model and condition of all its cells, if it is one."""

    name: str
    asked: Asked = NOBODY


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of the page; ``cells`` has one list for each row.

    ``reasons`` counts why cells that are printed are not rebuilt, ``starred`` has the codes of why
    others differ or are limited. ``hidden`` is the number of rows and columns that are left out,
    because none of their cells is rebuilt. ``basis`` is a code: what all figures of ours are of.
    """

    table: PublishedTable
    rows: tuple[PageLine, ...]
    columns: tuple[PageLine, ...]
    cells: tuple[tuple[PageCell | None, ...], ...]
    counts: Mapping[str, int]
    reasons: Sequence[tuple[str, int]]
    starred: Sequence[str]
    notes: Sequence[Note]
    hidden: int
    basis: str

    @property
    def marks(self) -> dict[str, str]:
        """The mark of each of the ``starred`` codes; then doubled."""
        return {
            code: MARKS[n % len(MARKS)] * (1 + n // len(MARKS))
            for n, code in enumerate(self.starred)
        }

    @property
    def lines(self) -> list[tuple[PageLine, tuple[PageCell | None, ...]]]:
        """The rows with their cells."""
        return list(zip(self.rows, self.cells, strict=True))


def page_tables(paper: PublishedPaper, report: Report, *, all_cells: bool) -> list[PageTable]:
    """Return the tables of *paper* with the rows of its *report*.

    Rows and columns without a rebuilt cell are left out unless *all_cells*.
    """
    counts = cast(Mapping[str, Mapping[str, int]], report.params["cells"])
    models = cast(Mapping[str, str], report.params["models"])
    by_table: dict[str, dict[CellName, ReportRow]] = {table.id: {} for table in paper.tables}
    for row in report.rows:
        cell = CellName(row.key["table"], row.key["row"], row.key["column"])
        by_table[cell.table][cell] = row
    return [
        _table(paper, table, by_table[table.id], counts.get(table.id, {}), models, all_cells)
        for table in paper.tables
    ]


def _table(
    paper: PublishedPaper,
    table: PublishedTable,
    found: Mapping[CellName, ReportRow],
    counts: Mapping[str, int],
    models: Collection[str],
    all_cells: bool,
) -> PageTable:
    rebuilt = {cell for cell, row in found.items() if row.figures["ours"].value is not None}
    shown = set(found) if all_cells else rebuilt
    every = [dict.fromkeys(getattr(cell, of) for cell in found) for of in ("row", "column")]
    rows, columns = (
        [name for name in names if any(getattr(cell, of) == name for cell in shown)]
        for names, of in zip(every, ("row", "column"), strict=True)
    )
    asked = {cell: (row.key["model"], row.key["condition"]) for cell, row in found.items()}
    row_lines = [_line(name, models, {asked[c] for c in rebuilt if c.row == name}) for name in rows]
    column_lines = [
        _line(name, models, {asked[c] for c in rebuilt if c.column == name}) for name in columns
    ]
    cells = tuple(
        tuple(
            _cell(paper, CellName(table.id, row, column), found, column_of(table, column))
            for column in columns
        )
        for row in rows
    )
    given = [cell for line in cells for cell in line if cell]
    reasons = Counter(
        _kind_of_reason(row.figures["ours"].reason or "")
        for row in found.values()
        if row.figures["ours"].value is None
    )
    return PageTable(
        table=table,
        rows=tuple(row_lines),
        columns=tuple(column_lines),
        cells=cells,
        counts=counts,
        reasons=reasons.most_common(),
        starred=_starred(given),
        notes=[note for note in paper.notes if any(note.id in cell.notes for cell in given)],
        hidden=sum(map(len, every)) - len(rows) - len(columns),
        basis=BASES.get((paper.paper, table.id), "") if rebuilt else "",
    )


def _starred(cells: Sequence[PageCell]) -> list[str]:
    """Return the codes that stand beside figures of *cells*, each once."""
    codes = ((cell.part_code, *(cell.codes if cell.printed else ())) for cell in cells if cell.ours)
    return [code for code in dict.fromkeys(chain.from_iterable(codes)) if code]


def column_of(table: PublishedTable, name: str) -> Column | None:
    """Return the column *name*; one that is not printed (another model) is like those that are."""
    shapes = {(one.unit, one.decimals) for one in table.columns}
    like = table.columns[0] if len(shapes) == 1 and table.columns[0].unit != "count" else None
    return table.column(name) or like


def _kind_of_reason(reason: str) -> str:
    """Return one code for all totals that lack a part in one way; each cell names its own."""
    kinds = {"missing": MISSING_PARTS, "no_questions_in": MISSING_QUESTIONS}
    return kinds.get(reason.partition(":")[0], reason)


def _line(name: str, models: Collection[str], asked: set[Asked]) -> PageLine:
    """Return a row or column, with whose it is if its name is that of a model."""
    named = asked - {NOBODY} if any(model in name for model in models) else set()
    return PageLine(name, named.pop() if len(named) == 1 else NOBODY)


def _cell(
    paper: PublishedPaper,
    name: CellName,
    found: Mapping[CellName, ReportRow],
    column: Column | None,
) -> PageCell | None:
    row = found.get(name)
    if row is None:
        return None
    ours, published, difference = (row.figures[one] for one in ("ours", "published", "difference"))
    text = "" if difference.value is None else figure_text(difference, column, signed=True)
    answered = row.figures.get("answered")
    return PageCell(
        name=name,
        ours=figure_text(ours, column),
        printed=figure_text(published, column),
        difference="=" if difference.value == 0 else text,
        reason=(difference.reason if difference.value is not None else ours.reason) or "",
        further=ours.reason or "",
        answered=_answered(answered, prompts_pooled(paper.paper, name.table)),
        notes=_notes(paper, name, difference) if published.value is not None else (),
        asked=(row.key["model"], row.key["condition"]),
        behind=behind(paper, name) if ours.value is not None else None,
        marker=row.key.get("marker", ""),
        over=row.key["model"] if name.column == LEAD else "",
    )


def _answered(answered: Figure | None, prompts: int) -> tuple[int, int, int] | None:
    """Return how many answers there are, of how many questions under how many *prompts*."""
    if answered is None or answered.value is None:
        return None
    return int(answered.value), answered.n // prompts, prompts


def prompts_pooled(paper: Paper, table: str) -> int:
    """Return under how many prompts *paper* asks each question whose answers a *table* pools."""
    return len(KINDS) if BASES.get((paper, table)) == POOLED_PROMPTS else 1


def _notes(paper: PublishedPaper, name: CellName, difference: Figure) -> tuple[str, ...]:
    """Return the notes about a printed figure, or only the one that accounts for *difference*."""
    if difference.value is None:
        return tuple(note.id for note in paper.notes_of(name))
    reason = difference.reason or ""
    return (reason.removeprefix(NOTE),) if reason.startswith(NOTE) else ()


def figure_text(figure: Figure, column: Column | None, *, signed: bool = False) -> str:
    """Return a figure with the decimals and the unit of its column; "" without a value.

    One that is *signed* is a difference: that of two per cents is in percentage points.
    """
    if figure.value is None:
        return ""
    decimals = column.decimals if column else 1
    value = round(figure.value, decimals) + 0.0
    unit = unit_of(column, signed=signed)
    plus = "+" if value > 0 and (signed or unit == POINTS) else ""
    sign = MINUS if value < 0 else plus
    return f"{sign}{abs(value):,.{decimals}f}{unit}"


def unit_of(column: Column | None, *, signed: bool = False) -> str:
    """Return the unit behind figures of *column*, or behind their differences if *signed*."""
    unit = column.unit if column else "percent"
    return UNITS.get("difference" if signed and unit == "percent" else unit, "")

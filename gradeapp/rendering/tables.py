r"""Tables: the LaTeX ones (``tabular``, ``array``) and the Markdown ones, as rows of cells.

A cell is known by its span in the text; what it holds is rendered by the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gradeapp.rendering.source import Source
from gradeapp.rendering.writer import Span

WIDEST = 60

_TOKEN = re.compile(
    r"(?P<escaped>\\[&%$#_{}])"
    r"|(?P<row>\\\\(?:\[-?[\d.]+\s?(?:pt|em|ex|mm|cm)\])?)"
    r"|(?P<rule>\\hline|\\cline\s?\{[^{}]{0,20}\}|\\(?:top|mid|bottom)rule)"
    r"|(?P<environment>\\begin\s?\{)|(?P<formula>\$|\\[(\[])|(?P<group>\{)|(?P<cell>&)"
)
_POSITION = re.compile(r"\s*(?:\[[a-z]{1,3}\]\s*)?")
_SPAN = re.compile(r"\s*\\multi(column|row)\s*(?:\[[^\]]{0,10}\]\s*)?(?=\{)")
_BARS = re.compile(r"\||\\\||`|\$|\\[(\[]")
_SEPARATOR_SIGNS = frozenset("|-: \t")
_SEPARATOR_CELL = re.compile(r":?-+:?")


@dataclass(slots=True)
class Cell:
    """A cell by the spans of its contents, and how many columns and rows it takes."""

    spans: list[Span]
    columns: int = 1
    rows: int = 1
    blank: bool = False


def latex_rows(source: Source, body: int, until: int) -> list[list[Cell]] | None:
    r"""The rows of the environment whose body begins at *body* and whose ``\end`` is at *until*."""
    position = _POSITION.match(source.text, body, until)
    spec = position.end() if position else body
    if source.text[spec : spec + 1] != "{" or source.braces.get(spec, until) >= until:
        return None
    begin = source.braces[spec] + 1
    # In passages of AGIEval a full stop stands where a line ended.
    stops = source.text.startswith((".\\hline", ".\\cline", ".\\multi"), begin)
    rows: list[list[Span]] = [[]]
    for kind, cell_begin, cell_end in _latex_cells(source, begin, until):
        if stops and source.text.startswith(".", cell_begin) and cell_begin < cell_end:
            cell_begin += 0 if rows[-1] else 1
        blank = not source.text[cell_begin:cell_end].strip()
        if kind == "cell" or not (blank and not rows[-1]):
            rows[-1].append((cell_begin, cell_end))
        if kind != "cell" and rows[-1]:
            rows.append([])
    return [[_cell(source, *span) for span in row] for row in rows if row]


def _latex_cells(source: Source, begin: int, until: int) -> Iterator[tuple[str, int, int]]:
    """Each cell with what ends it: "cell", "row" or "rule"; formulas and groups stay whole."""
    at = start = begin
    while match := _TOKEN.search(source.text, at, until):
        kind, at = match.lastgroup or "", match.end()
        if kind in ("cell", "row", "rule"):
            yield kind, start, match.start()
            start = at
        elif kind == "group":
            at = _inside(source.braces.get(match.start(), -1) + 1, at, until)
        elif kind == "environment" and match.start() in source.environments:
            at = _inside(source.environments[match.start()][3], at, until)
        elif kind == "formula":
            formula = source.formula(match.start(), until)
            at = formula.end if formula else at
    yield "row", start, until


def _inside(end: int, otherwise: int, until: int) -> int:
    return end if otherwise <= end <= until else otherwise


def _cell(source: Source, begin: int, end: int) -> Cell:
    r"""The cell at a span, out of its ``\multicolumn{2}{|c|}{...}`` and ``\multirow``."""
    cell = Cell([])
    before: list[Span] = []
    while match := _SPAN.match(source.text, begin, end):
        arguments = _arguments(source, match.end(), end)
        number = source.text[slice(*arguments[0])].strip() if len(arguments) == 3 else ""
        if not (number.isascii() and number.isdigit() and 0 < int(number[:4]) <= 9999):
            break
        if match[1] == "column":
            cell.columns = min(int(number[:4]), WIDEST)
        else:
            cell.rows = int(number[:4])
        before.append((arguments[2][1] + 1, end))
        begin, end = arguments[2]
    spans = [(begin, end), *reversed(before)]
    cell.spans = [span for span in spans if source.text[slice(*span)].strip()]
    cell.blank = not cell.spans
    return cell


def _arguments(source: Source, at: int, end: int) -> list[Span]:
    """The insides of the three groups in braces that begin at *at*."""
    found: list[Span] = []
    while len(found) < 3 and source.text[at : at + 1] == "{":
        close = source.braces.get(at, end)
        if close >= end:
            break
        found.append((at + 1, close))
        at = close + 1
        while at < end and source.text[at] == " ":
            at += 1
    return found


def is_separator(line: str) -> bool:
    """Whether *line* is the row of dashes below the head of a Markdown table."""
    if "-" not in line or "|" not in line or not _SEPARATOR_SIGNS.issuperset(line):
        return False
    cells = line.strip().removeprefix("|").removesuffix("|").split("|")
    return all(_SEPARATOR_CELL.fullmatch(cell.strip()) for cell in cells)


def markdown_row(source: Source, begin: int, end: int) -> list[Cell]:
    """The cells of a line; a bar within a formula or after a backslash divides nothing."""
    spans = []
    at = start = begin
    while match := _BARS.search(source.text, at, end):
        at = match.end()
        if match[0] == "|":
            spans.append((start, match.start()))
            start = at
        elif match[0] in ("$", "\\(", "\\["):
            formula = source.formula(match.start(), end)
            at = formula.end if formula else at
    spans.append((start, end))
    if not _text(source, spans[0]):
        del spans[0]
    if spans and not _text(source, spans[-1]):
        del spans[-1]
    return [Cell([span], blank=not _text(source, span)) for span in spans]


def _text(source: Source, span: Span) -> str:
    return source.text[slice(*span)].strip()


def table_html(rows: list[list[Cell]], content: Callable[[Cell], str], *, head: bool) -> str:
    """The table as HTML; *head* makes headings of the first row."""
    _merge(rows)
    lines = []
    for number, row in enumerate(rows):
        name = "th" if head and number == 0 else "td"
        cells = "".join(f"<{name}{_spans(cell)}>{content(cell)}</{name}>" for cell in row)
        line = f"<tr>{cells}</tr>\n"
        if head and number == 0:
            line = f"<thead>\n{line}</thead>\n<tbody>\n"
        lines.append(line)
    body = "".join(lines) if head else f"<tbody>\n{''.join(lines)}"
    return f'<div class="table-wrap"><table>\n{body}</tbody>\n</table></div>\n'


def _spans(cell: Cell) -> str:
    columns = f' colspan="{cell.columns}"' if cell.columns > 1 else ""
    return columns + (f' rowspan="{cell.rows}"' if cell.rows > 1 else "")


def _merge(rows: list[list[Cell]]) -> None:
    """Take out the empty cells that LaTeX wants below a cell of several rows.

    A cell of several rows ends where another one has something in its way, and with the table.
    """
    covered: dict[int, tuple[Cell, int]] = {}
    for number, row in enumerate(rows):
        kept = []
        column = 0
        for cell in row:
            width = range(column, column + cell.columns)
            above = {column: covered[column] for column in width if column in covered}
            above = {
                column: (one, first)
                for column, (one, first) in above.items()
                if first + one.rows > number
            }
            column += cell.columns
            if cell.blank and len(above) == cell.columns:
                continue
            for one, first in above.values():
                one.rows = number - first
            cell.rows = min(cell.rows, len(rows) - number)
            covered.update((column, (cell, number)) for column in width)
            kept.append(cell)
        rows[number] = kept

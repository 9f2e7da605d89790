"""Say which lists of answers, or of pairs of marks, a cell of a paper is made from.

Each cell that is made from answers is one list, whose sum it is, or the pairs of a coefficient, or
it combines the sums of several lists: the parts of a total, the tasks of a mean, the two sides of
a difference. The parameters of a list are those of the page of answers behind a figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evaluations.reports.rules.paper_agibench import (
    BRANCH_VALUES,
    HUMAN,
    KNOWLEDGE_SLUGS,
    LEAD,
)
from evaluations.reports.rules.paper_agieval import AVERAGE, GAINS, LANGUAGES
from evaluations.reports.rules.paper_gaokao import OVERALL
from evaluations.reports.rules.published_tables import CellName, Paper, PublishedPaper
from evaluations.statistics.gaokao_750 import STREAMS
from questions.rules.vocabulary import Part, Stream, Subject

Query = Mapping[str, str | Sequence[str]]
# Values of the parameter ``files``: the files of the paper, and the questions of later years.
PRINTED, LATER = "printed", "later"
YES = "yes"
# Columns of AGIBench that are from the questions alone.
OF_QUESTIONS = (HUMAN, "questions")


class Made(StrEnum):
    """How a cell is made from its lists."""

    LIST = "list"
    PAIRS = "pairs"
    TOTAL = "total"
    MEAN = "mean"
    DIFFERENCE = "difference"


@dataclass(frozen=True, slots=True)
class PartList:
    """One list: its *name* in words of the paper, the parameters *query*, and *side*.

    *side* is 0, and 1 for what is taken off in a difference. Where two conditions are compared it
    is also the place of the condition.
    """

    name: str
    query: Query
    side: int = 0

    @property
    def where(self) -> tuple[Subject, Part]:
        """The part of a total; its name has both."""
        subject, _slash, part = self.name.partition("/")
        return Subject(subject), Part(part)


@dataclass(frozen=True, slots=True)
class Behind:
    """What a cell is made from.

    *year* limits all lists, *stream* is that of a total, and *language* that of the tasks of a mean
    or difference, "" for all. Where *conditions_apart*, each side has a condition of its own.
    """

    made: Made
    parts: tuple[PartList, ...] = ()
    year: int | None = None
    stream: Stream | None = None
    language: str = ""
    conditions_apart: bool = False


def behind(paper: PublishedPaper, cell: CellName) -> Behind | None:
    """Return what *cell* of *paper* is made from; None if it is from no answers.

    Raises ValueError or KeyError for a row or column that the table cannot have.
    """
    if paper.paper is Paper.GAOKAO_BENCH:
        return _gaokao(cell)
    if paper.paper is Paper.AGIEVAL:
        return _agieval(paper, cell)
    query = {} if cell.column in OF_QUESTIONS else _agibench(cell)
    return _list(query) if query else None


def _list(query: Query) -> Behind:
    return Behind(Made.LIST, (PartList("", query),))


def _gaokao(cell: CellName) -> Behind | None:
    if cell.table in ("table-1", "table-2"):
        part = Part.OBJECTIVE if cell.table == "table-1" else Part.SUBJECTIVE
        subject = {} if cell.column == OVERALL else {"subject": cell.column}
        return _list({**subject, "part": part.value, "files": PRINTED})
    if cell.table == "table-6" or cell.column in ("spearman", "kendall-tau"):
        return Behind(Made.PAIRS)
    if cell.table in ("table-4", "released-totals"):
        return _total(Stream(cell.column.partition(":")[0]), {"files": PRINTED})
    if cell.table == "figure-3":
        year = int(cell.row.rpartition("/")[2])
        return _total(Stream(cell.column.partition(":")[0]), {}, year)
    if cell.table == "table-5":
        return _leakage(cell.column)
    return None


def _total(stream: Stream, query: Query, year: int | None = None) -> Behind:
    """Return both parts of the six subjects of a stream."""
    parts = tuple(
        PartList(
            f"{subject.value}/{part.value}",
            {"subject": subject.value, "part": part.value, **query},
        )
        for subject in STREAMS[stream]
        for part in Part
    )
    return Behind(Made.TOTAL, parts, year, stream)


def _leakage(column: str) -> Behind:
    """Return the objective questions of the paper and of later years, or both."""
    sides = {"GAOKAO-Bench-2023": LATER, "GAOKAO-Bench": PRINTED}
    lists = {name: {"part": Part.OBJECTIVE.value, "files": files} for name, files in sides.items()}
    if column in lists:
        return _list(lists[column])
    parts = (PartList(name, query, side) for side, (name, query) in enumerate(lists.items()))
    return Behind(Made.DIFFERENCE, tuple(parts))


def _agieval(paper: PublishedPaper, cell: CellName) -> Behind | None:
    tasks = [row for row in paper.table("table-2").rows if row != AVERAGE]
    if cell.column.startswith("human:"):
        return None
    if cell.table in ("table-2", "table-3", "exact-answers"):
        if cell.row != AVERAGE:
            return _list({"task": cell.row})
        return Behind(Made.MEAN, tuple(PartList(task, {"task": task}) for task in tasks))
    if cell.table == "gains" and cell.column.partition(":")[0] in GAINS:
        languages = {word: code for code, word in LANGUAGES.items()}
        own = tasks if cell.row == AVERAGE or cell.row in languages else [cell.row]
        return Behind(
            Made.DIFFERENCE,
            tuple(PartList(task, {"task": task}, side) for side in (0, 1) for task in own),
            language=languages.get(cell.row, ""),
            conditions_apart=True,
        )
    return None


def _agibench(cell: CellName) -> Query:
    """Return the parameters of the list of a cell of AGIBench; {} if it is from no answers."""
    if cell.table == "table-5":
        return {"pattern": cell.row}
    if cell.table in ("figure-5", "figure-6"):
        return {"complete": YES}
    if cell.table == "table-1":
        branch = "common_sense" if cell.column.startswith("common sense") else "reasoning"
        return {"cut": [f"ability_branch:{branch}"], "rated": YES}
    if cell.table in _CUT_BY:
        cut = {"cut": [f"{_CUT_BY[cell.table]}:{cell.row}"]}
        return cut | {"rated": YES} if cell.column == LEAD else cut
    if cell.table == "table-6":
        branch, _slash, knowledge = cell.row.partition("/")
        cuts = [f"ability_branch:{BRANCH_VALUES[branch]}"]
        if knowledge in KNOWLEDGE_SLUGS:
            cuts.append(f"knowledge:{KNOWLEDGE_SLUGS[knowledge]}")
        return {"cut": cuts}
    return {}


_CUT_BY = {"figure-4": "difficulty", "modals": "modal"}

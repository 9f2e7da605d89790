"""Compare rebuilt cells with printed ones, and choose what is loaded for each printed model.

Cells are in the unit of the paper: a rate is in per cent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evaluations.reports.rules.published_tables import CellName, Note, Paper, PublishedPaper
from evaluations.statistics.figure import Figure, ReportRow, missing
from evaluations.statistics.policies import Policy
from evaluations.statistics.rows import ModelCondition

NOT_LOADED = "not_loaded"
NOT_PRINTED = "not_printed"
NOT_IN_PAPER = "not_in_paper"
STATED = "stated"
PARTLY = "partly_answered"
OWN_RUN = "own_run"
OTHER_POLICY = "other_policy"
OTHER_QUESTIONS = "other_questions"
UNEXPLAINED = "unexplained"
# Prefix of the reason that names notes of the paper, with commas.
NOTE = "note:"
POOLED = " + "


@dataclass(frozen=True, slots=True)
class PartFigure(Figure):
    """A figure from answers to ``answered`` of the ``questions`` that its cell covers.

    A question counts once for each prompt that the paper pools. A difference has the questions of
    the side of which the smaller share is answered.
    """

    answered: int = 0
    questions: int = 0


def of_part(figure: Figure, answered: int, questions: int) -> Figure:
    """Return *figure* with its questions, and ``partly_answered`` if not all are *answered*.

    A figure without a value keeps its own reason.
    """
    if figure.value is None:
        return figure
    reason = PARTLY if answered < questions else figure.reason
    bounds = (figure.low, figure.high)
    return PartFigure(figure.value, figure.n, *bounds, reason, answered, questions)


def of_parts(figure: Figure, parts: Iterable[Figure]) -> Figure:
    """Return *figure*, made from all *parts*, with the questions of those that have a count."""
    known = [one for one in parts if isinstance(one, PartFigure)]
    answered = sum(one.answered for one in known)
    return of_part(figure, answered, sum(one.questions for one in known)) if known else figure


def of_sides(figure: Figure, sides: Iterable[Figure]) -> Figure:
    """Return the difference *figure* with the questions of the side that is answered least."""
    known = [one for one in sides if isinstance(one, PartFigure)]
    least = min(known, key=lambda one: one.answered / max(one.questions, 1), default=None)
    return of_part(figure, least.answered, least.questions) if least else figure


@dataclass(frozen=True, slots=True)
class Ours:
    """A rebuilt cell, and whose answers it is from; () if it is from the questions alone.

    ``marker`` is who gave the subjective points; "" if it has none.
    """

    figure: Figure
    asked: tuple[ModelCondition, ...] = ()
    marker: str = ""

    @property
    def model(self) -> str:
        """The name of the model; "" if the cell is from the questions alone."""
        return self.asked[0].model if self.asked else ""

    @property
    def condition(self) -> str:
        """The name of the condition, or of all that are pooled as in the paper."""
        return POOLED.join(one.condition for one in self.asked)


Cells = dict[CellName, Ours]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A condition under which a model has answered the dataset.

    ``prompts`` is the slug of the prompt set, empty for imported answers; ``questions`` is the
    number of questions with an answer, ``repeats`` how often they were asked, and ``age`` grows
    with each newer condition.
    """

    asked: ModelCondition
    setting: str = ""
    prompts: str = ""
    imported: bool = False
    questions: int = 0
    repeats: int = 1
    age: int = 0


@dataclass(frozen=True, slots=True)
class StandIns:
    """Which loaded model stands for which printed name; a model that is not printed has its own.

    ``models`` maps the names in the tables to the names of loaded models.
    """

    models: Mapping[str, str]
    loaded: Sequence[Loaded] = field(default=())

    def conditions(self, name: str) -> list[Loaded]:
        """Return the conditions of the model that has the *name* in the tables."""
        return [one for one in self.loaded if one.asked.model == self.models.get(name)]


def best(conditions: Iterable[Loaded]) -> Loaded | None:
    """Return the condition that stands for the printed one, of those that could.

    The most questions answered come first, then imported answers, the benchmark's own prompts, and
    the newest.
    """
    return max(conditions, key=_merit, default=None)


def _merit(one: Loaded) -> tuple[int, bool, bool, int]:
    return one.questions, one.imported, one.prompts not in ("", "gradeapp"), one.age


def stand_ins(
    paper: PublishedPaper,
    printed: Iterable[str],
    loaded: Sequence[Loaded],
    chosen: Mapping[str, str],
) -> StandIns:
    """Return who stands for the *printed* models, and the other loaded models as themselves.

    *chosen* maps printed names to loaded ones and goes first. By default it is the model whose name
    has the same letters and digits as the printed one or as one of its further names.
    """
    names = dict.fromkeys(one.asked.model for one in loaded)
    by_letters = {_letters(name): name for name in names}
    models: dict[str, str] = {}
    for name in dict.fromkeys(printed):
        known = (by_letters.get(_letters(one)) for one in (name, *paper.models.get(name, ())))
        found = chosen.get(name) or next(filter(None, known), None)
        if found in names:
            models[name] = found
    models |= {name: name for name in names if name not in models.values()}
    return StandIns(models, loaded)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def compared(
    paper: PublishedPaper,
    rebuilt: Cells,
    missing_reason: str,
    loaded: Iterable[Loaded] = (),
    policy: Policy = Policy.PUBLISHED,
) -> list[ReportRow]:
    """Return one row for each printed or rebuilt cell of *paper*, table by table.

    A printed cell that is not rebuilt has *missing_reason*, or ``stated`` in a table of facts; the
    notes about it are its reason. ``difference`` is ours minus published in printed decimals, and
    0 if ours is within half a unit of the last one; any other has a reason, found in the *loaded*
    conditions that ours is from, the *policy* of its scores, and the notes of the paper. Where ours
    is from answers to only some questions of the cell, ``answered`` is how many, of n.
    """
    conditions = {one.asked: one for one in loaded}
    rows = []
    for table in paper.tables:
        printed = table.cells()
        others = [cell for cell in rebuilt if cell.table == table.id and cell not in printed]
        fallback = STATED if table.stated else missing_reason
        for cell in (*printed, *others):
            ours = rebuilt.get(cell) or Ours(missing(fallback))
            key = cell._asdict() | {"model": ours.model, "condition": ours.condition}
            if paper.paper is Paper.GAOKAO_BENCH:
                key["marker"] = ours.marker
            column = table.column(cell.column)
            is_row = not table.rows or (cell.row in table.rows and column is not None)
            value = printed.get(cell)
            reason = NOT_PRINTED if is_row or not ours.asked else NOT_IN_PAPER
            notes = paper.notes_of(cell)
            from_ = [conditions.get(one, Loaded(one)) for one in ours.asked]
            difference = _difference(ours.figure, value, column.decimals if column else 1)
            if difference.value:
                why = _reason(ours.figure, difference.value, notes, from_, policy)
                difference = replace(difference, reason=why)
            figures = {
                "ours": ours.figure,
                **_answered(ours.figure),
                "published": missing(reason)
                if value is None
                else Figure(value, 0, reason=_names(notes)),
                "difference": difference,
            }
            rows.append(ReportRow(key, figures))
    return rows


def _answered(figure: Figure) -> dict[str, Figure]:
    """Return how many of the questions of a cell are answered, if not all of them are."""
    if not isinstance(figure, PartFigure) or figure.reason != PARTLY:
        return {}
    return {"answered": Figure(figure.answered, figure.questions)}


def _names(notes: Sequence[Note]) -> str | None:
    return NOTE + ",".join(note.id for note in notes) if notes else None


def _difference(ours: Figure, published: float | None, decimals: int) -> Figure:
    if ours.value is None:
        return missing(ours.reason or NOT_LOADED)
    if published is None:
        return missing(NOT_PRINTED)
    return Figure(distance(ours.value, published, decimals), ours.n, reason=ours.reason)


def _reason(
    ours: Figure,
    difference: float,
    notes: Sequence[Note],
    loaded: Sequence[Loaded],
    policy: Policy,
) -> str:
    """Return why *ours* is not the printed figure: the first of the reasons that holds.

    Answers of a run made here are other answers than the paper's. For imported answers and for
    figures of the questions alone a note holds if it accounts for the *difference*.
    """
    if not all(one.imported for one in loaded):
        return OWN_RUN
    repeats = min((one.repeats for one in loaded), default=None)
    holding = [note for note in notes if note.accounts_for(ours.value or 0, difference, repeats)]
    if holding:
        return NOTE + holding[0].id
    if not loaded:
        return OTHER_QUESTIONS
    if policy != Policy.PUBLISHED:
        return OTHER_POLICY
    return ours.reason or UNEXPLAINED


def distance(ours: float, published: float, decimals: int) -> float:
    """Return ours minus published in units of the last decimal; 0 within half of one.

    Both ways of rounding a tie are accepted, because papers use both.
    """
    if abs(ours - published) <= 0.5 * 10**-decimals + 1e-9:
        return 0.0
    return round(round(ours, decimals) - published, decimals)


def counts(rows: Iterable[ReportRow]) -> dict[str, dict[str, int]]:
    """Return by table how many cells are ``printed``, ``rebuilt``, and ``equal`` to the printed."""
    tables: dict[str, dict[str, int]] = {}
    for row in rows:
        table = tables.setdefault(row.key["table"], {"printed": 0, "rebuilt": 0, "equal": 0})
        table["printed"] += row.figures["published"].value is not None
        table["rebuilt"] += row.figures["difference"].value is not None
        table["equal"] += row.figures["difference"].value == 0
    return tables

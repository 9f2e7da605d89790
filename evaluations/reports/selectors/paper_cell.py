"""The sums of the lists that a total, a mean or a difference in a table of a paper is made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluations.facts.params import ReportParams
from evaluations.reports.rules.paper_behind import Behind, Made, PartList
from evaluations.reports.selectors.frames import questions_frame
from evaluations.reports.selectors.rows_behind import Cell, RowsBehind, groups_of
from evaluations.statistics.figure import Figure
from evaluations.statistics.gaokao_750 import WEIGHTS, Precision, converted, part_points
from evaluations.statistics.policies import Policy
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import frame_tally


@dataclass(frozen=True, slots=True)
class PartSum:
    """The sum of one list, and what it gives to the cell.

    *params* and ``part.query`` select the list. In a total *worth* are the points of the part in
    the examination, and *given* what its rate gives of them.
    """

    part: PartList
    params: ReportParams
    figures: Mapping[str, Figure]
    worth: int | None = None
    given: float | None = None

    @property
    def rate(self) -> float | None:
        """The points over the full marks; None without a scored answer."""
        return self.figures["rate"].value

    @property
    def asked(self) -> ModelCondition:
        """The model and the condition, if the list has one."""
        return ModelCondition(self.params.models[0], " + ".join(self.params.conditions))


@dataclass(frozen=True, slots=True)
class CellSums:
    """The lists of a cell by side, what each side is, and what the cell is, in its unit.

    A side, and the cell, is None if a part has no scored answer.
    """

    sides: Sequence[tuple[Sequence[PartSum], float | None]]
    value: float | None


def cell_sums(params: ReportParams, made: Behind) -> CellSums:
    """Return the sums of the lists of *made* among the answers of *params*.

    *params* name one model and its condition; two conditions in the order of the sides where they
    are apart.
    """
    sums = list(_sums(params, made))
    if made.made is Made.TOTAL:
        total = _total(params, made, sums)
        return CellSums([(sums, total)], total)
    sides = [[one for one in sums if one.part.side == side] for side in (0, 1)]
    means = [(own, _mean(own)) for own in sides if own]
    if made.made is Made.MEAN:
        return CellSums(means, means[0][1])
    first, second = (value for _own, value in means)
    return CellSums(means, None if first is None or second is None else first - second)


def _sums(params: ReportParams, made: Behind) -> Iterator[PartSum]:
    precision = _precision(params)
    tasks = _tasks_in(params, made.language)
    for side in dict.fromkeys(part.side for part in made.parts):
        own = replace(params, year=made.year or params.year)
        if made.conditions_apart:
            own = replace(own, conditions=(params.conditions[side],))
        groups = groups_of(own, Cell())
        for part in made.parts:
            if part.side != side or (tasks is not None and part.query["task"] not in tasks):
                continue
            rows = RowsBehind(own, Cell(**part.query), groups)  # type: ignore[arg-type]
            figures = frame_tally(rows.frame).figures()
            if made.made is not Made.TOTAL:
                yield PartSum(part, own, figures)
                continue
            subject, which = part.where
            rate = figures["rate"].value
            given = None if rate is None else part_points(subject, which, rate, precision)
            yield PartSum(part, own, figures, WEIGHTS[subject].of(which), given)


def _precision(params: ReportParams) -> Precision:
    return Precision.PUBLISHED if params.policy == Policy.PUBLISHED else Precision.FULL


def _tasks_in(params: ReportParams, language: str) -> set[str] | None:
    """Return the tasks with questions in *language*; None for all tasks."""
    if not language:
        return None
    questions = questions_frame(params.dataset)
    return set(questions[questions["language"] == language]["task"])


def _total(params: ReportParams, made: Behind, sums: Sequence[PartSum]) -> float | None:
    rates = {one.part.where: one.rate for one in sums if one.rate is not None}
    assert made.stream is not None
    return converted(made.stream, rates, _precision(params)).total


def _mean(sums: Sequence[PartSum]) -> float | None:
    """Return the mean of the rates in per cent; None unless each has one."""
    rates = [one.rate for one in sums if one.rate is not None]
    return 100 * sum(rates) / len(rates) if rates and len(rates) == len(sums) else None

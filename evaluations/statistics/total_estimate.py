"""Estimate points out of 750 from a judge's marks of all responses and people's of a sample.

Each response of a subject carries its share of the subject's subjective points, so that the points
of the stream are one ratio, which ``prediction_powered`` estimates: stratified by subject and task,
in whole questions, with one lambda for all strata. The objective points are known, and the marks of
a task that is marked whole. The interval is for teachers marking all of these responses: it says
nothing of other questions.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluations.statistics.confidence_sequence import at_any_time
from evaluations.statistics.figure import Figure, missing
from evaluations.statistics.gaokao_750 import STREAMS, WEIGHTS, missing_reason
from evaluations.statistics.prediction_powered import Estimated, MarkedTable, estimate
from evaluations.statistics.sample_plan import (
    FEWEST_IN_A_STRATUM,
    Stratum,
    deviations,
    even_deviations,
)
from questions.rules.vocabulary import Part, Stream, Subject

# Rate (0 to 1) that stands in for a judge who has read nothing of a subject.
UNKNOWN = 0.5


@dataclass(frozen=True, slots=True)
class SampledRow:
    """One subjective response: the judge's points and the teachers' final mark, or None."""

    subject: Subject
    task: str
    question: int
    full: float
    judge: float | None
    human: float | None


@dataclass(frozen=True, slots=True)
class TotalEstimate:
    """Estimates of one stream in points out of 750; n counts questions marked by teachers.

    ``human_only`` uses teachers' marks alone, ``aided`` the judge too (missing with its reason
    where the judge may not be used). ``..._always`` have bounds that hold however often one looks.
    ``tuning`` is lambda (0 to 1).
    """

    stream: Stream
    marked: int
    questions: int
    human_only: Figure
    aided: Figure
    human_only_always: Figure
    aided_always: Figure
    tuning: float


def of_stream(rows: Iterable[SampledRow], stream: Stream) -> list[SampledRow]:
    """Return the rows whose subjects belong to *stream*."""
    return [row for row in rows if row.subject in STREAMS[stream]]


def points_table(rows: Sequence[SampledRow]) -> tuple[MarkedTable, list[tuple[Subject, str]]]:
    """Return *rows* in points of the examination, in questions, and the key of each stratum.

    A response without points of the judge counts with the judge's rate in its subject.
    """
    full: dict[Subject, float] = defaultdict(float)
    judged: dict[Subject, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        full[row.subject] += row.full
        if row.judge is not None:
            judged[row.subject][0] += row.judge
            judged[row.subject][1] += row.full
    rates = {s: points / of if of else UNKNOWN for s, (points, of) in judged.items()}
    weight = {s: WEIGHTS[s].subjective / marks for s, marks in full.items()}
    strata = sorted({(row.subject, row.task) for row in rows})

    def column(values: Iterable[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array(list(values), dtype=np.float64)

    table = MarkedTable.of(
        column(weight[row.subject] * row.full for row in rows),
        column(
            weight[row.subject]
            * (rates.get(row.subject, UNKNOWN) * row.full if row.judge is None else row.judge)
            for row in rows
        ),
        column(math.nan if row.human is None else weight[row.subject] * row.human for row in rows),
        stratum=np.array([strata.index((row.subject, row.task)) for row in rows], dtype=np.int64),
        cluster=np.array([row.question for row in rows], dtype=np.int64),
    )
    return table, strata


def strata_of(rows: Sequence[SampledRow]) -> list[Stratum]:
    """Return the strata of *rows* with their questions, those marked, and deviations.

    Where no judge marked any of *rows*, points are taken as spread evenly from 0 to full marks.
    """
    table, keys = points_table(rows)
    if not len(table.strata):
        return []
    full = table.per_unit(table.full)
    if any(row.judge is not None for row in rows):
        spread = deviations(full, table.per_unit(table.judge), table.strata)
    else:
        spread = even_deviations(full, table.strata)
    units = Counter(table.strata.tolist())
    known = table.per_unit((~np.isnan(table.human)).astype(float)) > 0
    marked = Counter(table.strata[known].tolist())
    return [
        Stratum(subject.value, task, units[i], float(spread[i]), marked[i])
        for i, (subject, task) in enumerate(keys)
    ]


def estimated_total(
    rows: Sequence[SampledRow],
    objective: Mapping[Subject, float],
    stream: Stream,
    *,
    planned: int,
    refused: str = "",
) -> TotalEstimate:
    """Estimate the total of *stream* from *rows*, sampled by strata, and *objective* rates (0-1).

    *planned* is the number of questions that teachers were to mark at first, which was fixed before
    anybody looked: bounds that hold at every look depend on it. *refused* is the reason why
    the judge may not be used. Reasons: ``missing:SUBJECT/PART``, ``no_data`` where nothing is
    marked, ``strata_not_marked`` while a stratum of more questions has fewer than 2 marked ones.
    """
    own = of_stream(rows, stream)
    subjects = {row.subject for row in own}
    lacking = [
        (subject, part)
        for subject in STREAMS[stream]
        for part, known in ((Part.OBJECTIVE, objective), (Part.SUBJECTIVE, subjects))
        if subject not in known
    ]
    if lacking:
        return _without(stream, missing_reason(lacking), 0, 0)
    lines = strata_of(own)
    marked, units = sum(line.marked for line in lines), sum(line.units for line in lines)
    if not marked:
        return _without(stream, "no_data", 0, units)
    if any(line.marked < min(FEWEST_IN_A_STRATUM, line.units) for line in lines):
        return _without(stream, "strata_not_marked", marked, units)
    table, _keys = points_table(own)
    known = sum(WEIGHTS[s].objective * objective[s] for s in STREAMS[stream])
    subjective = float(table.full.sum())
    made = estimate(table)
    narrowest = min(max(planned, 1), units - 1) if units > 1 else 1
    always = (
        at_any_time(made, units=units, sampled=marked, narrowest=narrowest) if units > 1 else made
    )

    def points(one: Estimated) -> Figure:
        low, high = (
            None if bound is None else known + subjective * bound for bound in (one.low, one.high)
        )
        return Figure(known + subjective * one.value, marked, low, high)

    no_judge = missing(refused, marked) if refused else None
    return TotalEstimate(
        stream=stream,
        marked=marked,
        questions=units,
        human_only=points(made.human_only),
        aided=no_judge or points(made.ppi),
        human_only_always=points(always.human_only),
        aided_always=no_judge or points(always.ppi),
        tuning=0.0 if refused else made.tuning,
    )


@dataclass(frozen=True, slots=True)
class SubjectEstimate:
    """Estimates of one subject: points of its subjective part; ``objective`` points are known.

    Figures as in ``TotalEstimate``; n counts questions marked by teachers.
    """

    subject: Subject
    objective: Figure
    human_only: Figure
    aided: Figure


def estimated_subjects(
    rows: Sequence[SampledRow],
    objective: Mapping[Subject, float],
    stream: Stream,
    *,
    refused: str = "",
) -> list[SubjectEstimate]:
    """Estimate the subjective points of each subject of *stream* from its own questions.

    Each has a lambda of its own, and is a ratio of its own, so that the points of the subjects need
    not add up to the total of ``estimated_total``. Reasons as there.
    """
    found = []
    for subject in STREAMS[stream]:
        own = [row for row in rows if row.subject == subject]
        marked = len({row.question for row in own if row.human is not None})
        part = (subject, Part.OBJECTIVE)
        known = (
            Figure(WEIGHTS[subject].objective * objective[subject], marked)
            if subject in objective
            else missing(missing_reason([part]), marked)
        )
        reason = ""
        if not own:
            reason = missing_reason([(subject, Part.SUBJECTIVE)])
        elif not marked:
            reason = "no_data"
        elif any(line.marked < min(FEWEST_IN_A_STRATUM, line.units) for line in strata_of(own)):
            reason = "strata_not_marked"
        if reason:
            none = missing(reason, marked)
            found.append(SubjectEstimate(subject, known, none, none))
            continue
        table, _keys = points_table(own)
        made, full = estimate(table), float(table.full.sum())
        human, aided = (
            Figure(full * one.value, marked, _times(full, one.low), _times(full, one.high))
            for one in (made.human_only, made.ppi)
        )
        aided = missing(refused, marked) if refused else aided
        found.append(SubjectEstimate(subject, known, human, aided))
    return found


def _times(full: float, bound: float | None) -> float | None:
    return None if bound is None else full * bound


def _without(stream: Stream, reason: str, marked: int, units: int) -> TotalEstimate:
    none = missing(reason, marked)
    return TotalEstimate(stream, marked, units, none, none, none, none, 0.0)

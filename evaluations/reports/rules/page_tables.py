"""Tables of the report page, made from the figures of reports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType

from evaluations.statistics.coverage import NO_SHORTFALLS, Coverage, Shortfalls, coverage
from evaluations.statistics.figure import Figure, Report, ReportRow
from evaluations.statistics.gaokao_750 import STREAMS
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL, subject_order
from questions.rules.vocabulary import Part, Stream

Figures = Mapping[str, Figure]

NO_PARTS: Mapping[ModelCondition, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Gap:
    """A part of a subject or stream in which only *scored* of *all* answers have points."""

    part: str
    scored: int
    all: int


# By model and condition, then by subject or stream; only those with answers without points.
Gaps = Mapping[ModelCondition, Mapping[str, Sequence[Gap]]]


@dataclass(frozen=True, slots=True)
class ModelLine:
    """One model and condition: the totals of its streams, its two rates, and its points by subject.

    ``totals`` has by stream the figures ``total`` and, under policy ``published``,
    ``total_full_precision``. A rate is None if the model has no answers of that part. ``gaps`` has
    what is not scored yet, ``short`` the coverages that are too low to show a figure, both by
    subject or stream. ``answered`` is the number of questions with an answer where others have
    none, else None. ``best`` marks the most points among several models without gaps that answered
    as many questions as any.
    """

    asked: ModelCondition
    totals: dict[str, Figures]
    objective: Figure | None
    subjective: Figure | None
    subjects: dict[str, Figure]
    gaps: Mapping[str, Sequence[Gap]]
    short: Mapping[str, Coverage]
    answered: int | None = None
    best: bool = False

    @property
    def is_unscored(self) -> bool:
        """Whether no answer of the model has points."""
        return not any(one and one.value is not None for one in (self.objective, self.subjective))

    @property
    def is_withheld(self) -> bool:
        """Whether there is a total that is not shown, because too few answers are marked."""
        return any(
            figures["total"].value is not None and stream in self.short
            for stream, figures in self.totals.items()
        )

    @property
    def has_starred(self) -> bool:
        """Whether the points of a subject are shown although some of its answers have none."""
        return any(
            figure.value is not None and subject in self.gaps and subject not in self.short
            for subject, figure in self.subjects.items()
        )


@dataclass(frozen=True, slots=True)
class RateLine:
    """Rates of both parts of one subject of one model and condition; None without answers."""

    asked: ModelCondition
    subject: str
    objective: Figures | None
    subjective: Figures | None


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of a report of one model and condition."""

    asked: ModelCondition
    rows: tuple[ReportRow, ...]


def ranked(
    converted: Report, asked: Iterable[ModelCondition], short: Shortfalls = NO_SHORTFALLS
) -> list[ModelCondition]:
    """Return *asked* by their points over both streams, most first; then those without, by name.

    Totals that are not shown (*short*) do not count.
    """
    sums: dict[ModelCondition, float] = defaultdict(float)
    for row in converted.rows:
        if _is_total(row) and row.key["stream"] not in short.get(row.asked, {}):
            sums[row.asked] += row.figures["total"].value or 0
    return sorted(asked, key=lambda one: (-sums[one], one))


def model_lines(
    converted: Report,
    rates: Report,
    asked: Sequence[ModelCondition],
    short: Shortfalls = NO_SHORTFALLS,
    partly: Mapping[ModelCondition, int] = NO_PARTS,
) -> list[ModelLine]:
    """Return a line for each of *asked*, in their order; *short* is from ``shortfalls``.

    *partly* has the number of answered questions of those that did not answer all.
    """
    overall = {
        (row.asked, row.key["part"]): row.figures["rate"]
        for row in rates.rows
        if row.key["subject"] == ALL
    }
    points = {group.asked: group.rows for group in by_condition(converted, asked)}
    gaps = gaps_of(rates)
    lines = [
        ModelLine(
            asked=one,
            totals={row.key["stream"]: row.figures for row in points[one] if _is_total(row)},
            objective=overall.get((one, Part.OBJECTIVE.value)),
            subjective=overall.get((one, Part.SUBJECTIVE.value)),
            # Chinese and English are in both streams, with the same figures.
            subjects={
                row.key["subject"]: row.figures["total"]
                for row in sorted(points[one], key=lambda row: subject_order(row.key["subject"]))
                if not _is_total(row)
            },
            gaps=gaps.get(one, {}),
            short=short.get(one, {}),
            answered=partly.get(one),
        )
        for one in asked
        if one in points
    ]
    sums = {}
    for line in lines:
        totals = [figures["total"].value for figures in line.totals.values()]
        known = [value for value in totals if value is not None]
        if len(known) == len(Stream) and not line.gaps:
            sums[line.asked] = sum(known)
    if len(sums) < 2:
        return lines
    numbers = [line.answered for line in lines]
    most_answered = None if None in numbers else max(n for n in numbers if n is not None)
    fair = {line.asked for line in lines if line.answered == most_answered}
    most = max((total for one, total in sums.items() if one in fair), default=None)
    return [
        replace(line, best=line.asked in fair and sums.get(line.asked) == most is not None)
        for line in lines
    ]


def gaps_of(rates: Report) -> Gaps:
    """Return the subjects and streams in which some answers have no points.

    They are shown beside totals, because a total of few answers looks like one of all.
    """
    counts = {
        (row.asked, row.key["subject"], row.key["part"]): coverage(row.figures)
        for row in rates.rows
    }
    gaps: dict[ModelCondition, dict[str, list[Gap]]] = defaultdict(dict)
    places = {subject: (subject,) for _asked, subject, _part in counts}
    streams = {stream.value: tuple(map(str, subjects)) for stream, subjects in STREAMS.items()}
    for (place, subjects), part in product((places | streams).items(), Part):
        for asked in {asked for asked, _subject, _part in counts}:
            parts = [c for one in subjects if (c := counts.get((asked, one, part.value)))]
            scored, everything = sum(one.marked for one in parts), sum(one.all for one in parts)
            if scored < everything:
                gaps[asked].setdefault(place, []).append(Gap(part.value, scored, everything))
    return gaps


def _is_total(row: ReportRow) -> bool:
    return row.key["subject"] == ALL


def rate_lines(rates: Report, asked: Sequence[ModelCondition]) -> list[RateLine]:
    """Return the rows of report ``rates`` with both parts side by side, by model and condition."""
    lines = []
    for group in by_condition(rates, asked):
        cells = {(row.key["subject"], row.key["part"]): row.figures for row in group.rows}
        lines += [
            RateLine(
                group.asked,
                subject,
                cells.get((subject, Part.OBJECTIVE.value)),
                cells.get((subject, Part.SUBJECTIVE.value)),
            )
            for subject in dict.fromkeys(subject for subject, _ in cells)
        ]
    return lines


def by_condition(report: Report, asked: Sequence[ModelCondition]) -> list[Group]:
    """Return the rows of *report* of each of *asked*, in their order, without empty groups."""
    groups = (Group(one, tuple(row for row in report.rows if row.asked == one)) for one in asked)
    return [group for group in groups if group.rows]

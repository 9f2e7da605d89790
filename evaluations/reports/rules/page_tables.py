"""Tables as the report page lays them out: the figures of reports, in the reader's order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from evaluations.statistics.coverage import NO_SHORTFALLS, Coverage, Shortfalls
from evaluations.statistics.figure import Figure, Report, ReportRow
from evaluations.statistics.gaokao_750 import STREAMS
from evaluations.statistics.tally import ALL, subject_order
from questions.rules.vocabulary import Part, Stream

Figures = Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class Gap:
    """One part of a subject or stream of which not every answer has points: so many of all have."""

    part: str
    scored: int
    all: int


# By model, then by subject or stream; none where every answer has points.
Gaps = Mapping[str, Mapping[str, Sequence[Gap]]]


@dataclass(frozen=True, slots=True)
class ModelLine:
    """One model: the totals of its streams, its two rates, and points subject by subject.

    ``totals`` holds per stream the figures ``total`` and, under policy
    ``published``, ``total_full_precision``. A rate is None where the model has no
    answers of that part at all. ``gaps`` names per subject or stream what is not
    scored yet, ``short`` where too few answers are marked for a figure to be drawn.
    ``best`` has the most points of several models without gaps.
    """

    model: str
    totals: dict[str, Figures]
    objective: Figure | None
    subjective: Figure | None
    subjects: dict[str, Figure]
    gaps: Mapping[str, Sequence[Gap]]
    short: Mapping[str, Coverage]
    best: bool = False

    @property
    def has_starred(self) -> bool:
        """Whether points of some subject are drawn that rest on only some of its answers."""
        return any(
            figure.value is not None and subject in self.gaps and subject not in self.short
            for subject, figure in self.subjects.items()
        )


@dataclass(frozen=True, slots=True)
class RateLine:
    """Rates of one subject of one model, its two parts side by side; None without answers."""

    model: str
    subject: str
    objective: Figures | None
    subjective: Figures | None


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of a report that share a model."""

    model: str
    rows: tuple[ReportRow, ...]


def ranked(
    converted: Report, models: Iterable[str], short: Shortfalls = NO_SHORTFALLS
) -> list[str]:
    """*models* by their points over both streams, most first; then those without, by name.

    A total that is not drawn (*short*) ranks nobody.
    """
    sums: dict[str, float] = defaultdict(float)
    for row in converted.rows:
        model = row.key["model"]
        if _is_total(row) and row.key["stream"] not in short.get(model, {}):
            sums[model] += row.figures["total"].value or 0
    return sorted(models, key=lambda model: (-sums[model], model))


def model_lines(
    converted: Report,
    rates: Report,
    models: Sequence[str],
    short: Shortfalls = NO_SHORTFALLS,
) -> list[ModelLine]:
    """One line a model, in the order of *models*; *short* as ``shortfalls`` gives it."""
    overall = {
        (row.key["model"], row.key["part"]): row.figures["rate"]
        for row in rates.rows
        if row.key["subject"] == ALL
    }
    points = {group.model: group.rows for group in by_model(converted, models)}
    gaps = gaps_of(rates)
    lines = [
        ModelLine(
            model=model,
            totals={row.key["stream"]: row.figures for row in points[model] if _is_total(row)},
            objective=overall.get((model, Part.OBJECTIVE.value)),
            subjective=overall.get((model, Part.SUBJECTIVE.value)),
            subjects=_subject_totals(points[model]),
            gaps=gaps.get(model, {}),
            short=short.get(model, {}),
        )
        for model in models
        if model in points
    ]
    return _with_best(lines)


def gaps_of(rates: Report) -> Gaps:
    """What the points of each subject and stream rest on, where some answers have none.

    A total made of few marked answers looks like one of all: this stands beside it.
    """
    counts: dict[tuple[str, str, str], tuple[int, int]] = {}
    for row in rates.rows:
        unscored = row.figures["unscored"]
        key = (row.key["model"], row.key["subject"], row.key["part"])
        counts[key] = (unscored.n - int(unscored.value or 0), unscored.n)
    found: dict[str, dict[str, list[Gap]]] = defaultdict(dict)
    places = {subject: (subject,) for _model, subject, _part in counts}
    streams = {stream.value: tuple(map(str, subjects)) for stream, subjects in STREAMS.items()}
    for (place, subjects), part in product((places | streams).items(), Part):
        for model in {model for model, _subject, _part in counts}:
            pairs = [counts.get((model, one, part.value), (0, 0)) for one in subjects]
            scored, everything = (sum(numbers) for numbers in zip(*pairs, strict=True))
            if scored < everything:
                found[model].setdefault(place, []).append(Gap(part.value, scored, everything))
    return found


def _is_total(row: ReportRow) -> bool:
    return row.key["subject"] == ALL


def _subject_totals(rows: Sequence[ReportRow]) -> dict[str, Figure]:
    """Chinese and English stand in both streams, with the same figures."""
    totals = {row.key["subject"]: row.figures["total"] for row in rows if not _is_total(row)}
    return dict(sorted(totals.items(), key=lambda item: subject_order(item[0])))


def _with_best(lines: list[ModelLine]) -> list[ModelLine]:
    """Marks who has the most points over both streams, among at least two who have both."""
    sums = {
        line.model: sum(values)
        for line in lines
        if len(values := _known_totals(line)) == len(Stream) and not line.gaps
    }
    if len(sums) < 2:
        return lines
    most = max(sums.values())
    return [replace(line, best=sums.get(line.model) == most) for line in lines]


def _known_totals(line: ModelLine) -> list[float]:
    values = (figures["total"].value for figures in line.totals.values())
    return [value for value in values if value is not None]


def rate_lines(rates: Report, models: Sequence[str]) -> list[RateLine]:
    """Report ``rates`` with both parts side by side, in the order of *models*."""
    lines = []
    for group in by_model(rates, models):
        cells = {(row.key["subject"], row.key["part"]): row.figures for row in group.rows}
        lines += [
            RateLine(
                group.model,
                subject,
                cells.get((subject, Part.OBJECTIVE.value)),
                cells.get((subject, Part.SUBJECTIVE.value)),
            )
            for subject in dict.fromkeys(subject for subject, _ in cells)
        ]
    return lines


def exact_lines(lines: Sequence[RateLine]) -> list[RateLine]:
    """Those of *lines* that have exact answers, and so an exact match and an F1."""
    return [line for line in lines if line.objective and "exact_match" in line.objective]


def by_model(report: Report, models: Sequence[str]) -> list[Group]:
    """The rows of *report* model by model, in the order of *models*; none without rows."""
    groups = (
        Group(model, tuple(row for row in report.rows if row.key["model"] == model))
        for model in models
    )
    return [group for group in groups if group.rows]

"""Reports ``rates`` and ``converted``: scoring rates, and points out of 750."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from itertools import product

from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from evaluations.statistics.gaokao_750 import (
    STREAMS,
    WEIGHTS,
    Precision,
    Where,
    converted,
    missing_reason,
)
from evaluations.statistics.intervals import sum_half_width
from evaluations.statistics.rows import ScoredAnswer
from evaluations.statistics.tally import ALL, Params, Tally, subject_order, tally
from questions.rules.vocabulary import Part, Stream, Subject

PARTS = (Part.OBJECTIVE, Part.SUBJECTIVE)
NO_MARKER = "none"
PUBLISHED = "published"

Tallies = dict[Where, Tally]


def rates(rows: Iterable[ScoredAnswer], *, params: Params | None = None) -> Report:
    """Scoring rate per model, subject (and ``ALL``) and part.

    Figures: ``points`` and ``full`` of the scored rows, ``rate`` = points / full
    (0 to 1; above 1 only where a released impossible total is kept) with a 95 %
    interval, and ``unscored``. n counts sub-answers of objective and items of
    subjective rows; repeats are pooled and n counts them all. Rows without
    points are left out of the rate and counted in ``unscored``; exact answers add
    ``exact_match`` and ``f1`` (see ``exact_figures``); a group in which
    nothing is scored has the reason ``no_data``. Raises ValueError when a
    response comes twice in a group (two markers or two policies).
    """
    groups: dict[tuple[str, str, str], list[ScoredAnswer]] = defaultdict(list)
    for row in rows:
        groups[row.model, row.subject, row.part].append(row)
        groups[row.model, ALL, row.part].append(row)

    def order(key: tuple[str, str, str]) -> tuple[str, tuple[int, str], str]:
        return key[0], subject_order(key[1]), key[2]

    report_rows = [
        ReportRow(
            {"model": model, "subject": subject, "part": part},
            tally(group).figures() | exact_figures(group),
        )
        for (model, subject, part), group in sorted(groups.items(), key=lambda kv: order(kv[0]))
    ]
    return Report("rates", dict(params or {}), report_rows)


def exact_figures(rows: Iterable[ScoredAnswer]) -> dict[str, Figure]:
    """``exact_match`` and ``f1`` of the exact answers among *rows*: means, 0 to 1.

    n counts the exact answers that have points. Without any, there are no such figures.
    """
    exact = [row for row in rows if row.exact_match is not None and row.points is not None]
    if not exact:
        return {}
    n = len(exact)
    return {
        "exact_match": Figure(math.fsum(row.exact_match or 0.0 for row in exact) / n, n),
        "f1": Figure(math.fsum(row.f1 or 0.0 for row in exact) / n, n),
    }


def converted_report(
    rows: Iterable[ScoredAnswer], *, marker: str | None = None, params: Params | None = None
) -> Report:
    """Points out of 750 per model, stream, marker and policy.

    One row per subject of the stream (``objective``, ``subjective``, ``total``)
    and one row with subject ``ALL`` whose ``total`` is of 750. Objective rows go
    with every marker of the subjective rows of the same model and policy;
    ``marker`` picks one, also when it has marked nothing yet. Under policy
    ``published`` figures are rounded as released and ``total_full_precision``
    stands beside ``total``; under any other policy nothing is rounded. A total
    of which a part is missing has no value and names what is missing
    (``missing:Physics/subjective``). n counts sub-answers and items as in
    ``rates``; intervals combine the variances of the parts (see ``intervals``).
    """
    objective: dict[tuple[str, str], list[ScoredAnswer]] = defaultdict(list)
    subjective: dict[tuple[str, str], dict[str, list[ScoredAnswer]]] = defaultdict(dict)
    for row in rows:
        if row.part == Part.OBJECTIVE:
            objective[row.model, row.policy].append(row)
        elif marker is None or row.marker == marker:
            subjective[row.model, row.policy].setdefault(row.marker, []).append(row)

    report_rows: list[ReportRow] = []
    for model, policy in sorted(objective.keys() | subjective.keys()):
        by_marker = subjective.get((model, policy), {}) or {marker or NO_MARKER: []}
        for name, marked in sorted(by_marker.items()):
            tallies = _tallies(objective.get((model, policy), []) + marked)
            key = {"model": model, "marker": name, "policy": policy}
            for stream in Stream:
                report_rows += _stream_rows(stream, tallies, key)
    return Report("converted", dict(params or {}), report_rows)


def _tallies(rows: list[ScoredAnswer]) -> Tallies:
    wheres = {(where[0].value, where[1].value): where for where in product(Subject, PARTS)}
    groups: dict[Where, list[ScoredAnswer]] = defaultdict(list)
    for row in rows:
        # A subject outside the examination (another dataset's) has no points in it.
        if (row.subject, row.part) in wheres:
            groups[wheres[row.subject, row.part]].append(row)
    return {where: tally(group) for where, group in groups.items()}


def _stream_rows(stream: Stream, tallies: Tallies, key: dict[str, str]) -> list[ReportRow]:
    known = {where: rate for where, sums in tallies.items() if (rate := sums.rate()) is not None}
    exact = converted(stream, known, Precision.FULL)
    is_published = key["policy"] == PUBLISHED
    shown = converted(stream, known, Precision.PUBLISHED) if is_published else exact

    def row(subject: str, figures: dict[str, Figure]) -> ReportRow:
        where = {"model": key["model"], "stream": stream.value, "subject": subject}
        return ReportRow(where | key, figures)

    def totals(wheres: list[Where], value: float | None, full: float | None) -> dict[str, Figure]:
        figures = {"total": _figure(value, full, wheres, tallies)}
        if is_published:
            figures["total_full_precision"] = _figure(full, full, wheres, tallies)
        return figures | {"unscored": _unscored(wheres, tallies)}

    rows = []
    for points, full in zip(shown.subjects, exact.subjects, strict=True):
        objective, subjective = wheres = [(points.subject, part) for part in PARTS]
        parts = {
            "objective": _figure(points.objective, full.objective, [objective], tallies),
            "subjective": _figure(points.subjective, full.subjective, [subjective], tallies),
        }
        rows.append(row(points.subject.value, parts | totals(wheres, points.total, full.total)))
    wheres = [(subject, part) for subject in STREAMS[stream] for part in PARTS]
    return [*rows, row(ALL, totals(wheres, shown.total, exact.total))]


def _figure(
    value: float | None, exact: float | None, wheres: list[Where], tallies: Tallies
) -> Figure:
    """Converted points of *wheres*, with an interval around the unrounded value."""
    n = sum(tallies[where].n for where in wheres if where in tallies)
    if value is None or exact is None:
        lacking = [w for w in wheres if w not in tallies or tallies[w].rate() is None]
        return missing(missing_reason(lacking), n)
    half = _half_width(wheres, tallies)
    if half is None:
        return Figure(value, n)
    full = sum(WEIGHTS[subject].of(part) for subject, part in wheres)
    # A released impossible total may lie above full points: never cut below the value.
    return Figure(value, n, max(0.0, exact - half), max(value, min(full, exact + half)))


def _half_width(wheres: list[Where], tallies: Tallies) -> float | None:
    """None when any part has too few questions for a variance: no interval, not a narrow one."""
    variances: list[float] = []
    degrees: list[int] = []
    for subject, part in wheres:
        sums = tallies[subject, part]
        variance = sums.variance()
        if variance is None:
            return None
        variances.append(variance * WEIGHTS[subject].of(part) ** 2)
        degrees.append(len(sums.cluster_points) - 1)
    return sum_half_width(variances, degrees)


def _unscored(wheres: list[Where], tallies: Tallies) -> Figure:
    sums = [tallies[where] for where in wheres if where in tallies]
    unscored = sum(one.unscored for one in sums)
    return Figure(unscored, unscored + sum(one.n for one in sums))

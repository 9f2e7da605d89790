"""Compute the reports ``rates`` and ``converted``: scoring rates, and points out of 750."""

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
from evaluations.statistics.rows import ModelCondition, ScoredAnswer
from evaluations.statistics.tally import ALL, Params, Tally, subject_order, tally
from questions.rules.vocabulary import Part, Stream, Subject

PARTS = (Part.OBJECTIVE, Part.SUBJECTIVE)
NO_MARKER = "none"
PUBLISHED = "published"

Tallies = dict[Where, Tally]
WHERES = {(where[0].value, where[1].value): where for where in product(Subject, PARTS)}


def rates(rows: Iterable[ScoredAnswer], *, params: Params | None = None) -> Report:
    """Return the scoring rate per model, condition, subject (and ``ALL``) and part.

    Rows without a subject are in ``ALL`` alone.

    Figures: ``points`` and ``full`` of the scored rows, ``rate`` = points / full (0 to 1; above 1
    only if a released impossible total is kept) with a 95 % interval, and ``unscored``. n counts
    sub-answers of objective and items of subjective rows, of all repeats. Rows without points are
    not in the rate and are counted in ``unscored``; exact answers add ``exact_match`` and ``f1``
    (see ``exact_figures``). Reason: ``no_data`` if nothing in a group is scored. Raises ValueError
    if a response occurs twice in a group (two markers or two policies).
    """
    groups: dict[tuple[ModelCondition, str, str], list[ScoredAnswer]] = defaultdict(list)
    for row in rows:
        if row.subject:
            groups[row.asked, row.subject, row.part].append(row)
        groups[row.asked, ALL, row.part].append(row)

    def order(
        key: tuple[ModelCondition, str, str],
    ) -> tuple[ModelCondition, tuple[int, str], str]:
        return key[0], subject_order(key[1]), key[2]

    report_rows = [
        ReportRow(
            asked._asdict() | {"subject": subject, "part": part},
            tally(group).figures() | exact_figures(group),
        )
        for (asked, subject, part), group in sorted(groups.items(), key=lambda kv: order(kv[0]))
    ]
    return Report("rates", dict(params or {}), report_rows)


def exact_figures(rows: Iterable[ScoredAnswer]) -> dict[str, Figure]:
    """Return the means ``exact_match`` and ``f1`` (0 to 1) of the exact answers among *rows*.

    n counts the exact answers with points; without any, the result is empty.
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
    """Return the points out of 750 per model, condition, stream, marker and policy.

    One row per subject of the stream (``objective``, ``subjective``, ``total``) and one row with
    subject ``ALL`` whose ``total`` is out of 750. Objective rows are combined with each marker of
    the subjective rows of the same model, condition and policy; ``marker`` selects one, also if it
    has marked nothing. Under policy ``published`` figures are rounded as released, with
    ``total_full_precision`` beside ``total``; under any other policy nothing is rounded. A total
    with a missing part has no value and a reason such as ``missing:Physics/subjective``. n counts
    as in ``rates``; intervals combine the variances of the parts (see ``intervals``).
    """
    objective: dict[tuple[ModelCondition, str], list[ScoredAnswer]] = defaultdict(list)
    subjective: dict[tuple[ModelCondition, str], dict[str, list[ScoredAnswer]]] = defaultdict(dict)
    for row in rows:
        if row.part == Part.OBJECTIVE:
            objective[row.asked, row.policy].append(row)
        elif marker is None or row.marker == marker:
            subjective[row.asked, row.policy].setdefault(row.marker, []).append(row)

    report_rows: list[ReportRow] = []
    for asked, policy in sorted(objective.keys() | subjective.keys()):
        by_marker = subjective.get((asked, policy), {}) or {marker or NO_MARKER: []}
        for name, marked in sorted(by_marker.items()):
            groups: dict[Where, list[ScoredAnswer]] = defaultdict(list)
            for row in objective.get((asked, policy), []) + marked:
                # A subject of another dataset, which is not in the examination, is left out.
                if (where := WHERES.get((row.subject, row.part))) is not None:
                    groups[where].append(row)
            tallies = {where: tally(group) for where, group in groups.items()}
            about = {"marker": name, "policy": policy}
            for stream in Stream:
                report_rows += stream_rows(asked, stream, tallies, about)
    return Report("converted", dict(params or {}), report_rows)


def stream_rows(
    asked: ModelCondition, stream: Stream, tallies: Tallies, about: dict[str, str]
) -> list[ReportRow]:
    """Return the rows of one stream in report ``converted``: its subjects, then ``ALL``.

    *about* has the marker and the policy.
    """
    known = {where: rate for where, sums in tallies.items() if (rate := sums.rate()) is not None}
    exact = converted(stream, known, Precision.FULL)
    is_published = about["policy"] == PUBLISHED
    shown = converted(stream, known, Precision.PUBLISHED) if is_published else exact

    def row(subject: str, figures: dict[str, Figure]) -> ReportRow:
        where = {"stream": stream.value, "subject": subject}
        return ReportRow(asked._asdict() | where | about, figures)

    def totals(wheres: list[Where], value: float | None, full: float | None) -> dict[str, Figure]:
        figures = {"total": _figure(value, full, wheres, tallies)}
        if is_published:
            figures["total_full_precision"] = _figure(full, full, wheres, tallies)
        sums = [tallies[where] for where in wheres if where in tallies]
        unscored = sum(one.unscored for one in sums)
        return figures | {"unscored": Figure(unscored, unscored + sum(one.n for one in sums))}

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
    """Return the converted points of *wheres*, with an interval around the unrounded value."""
    n = sum(tallies[where].n for where in wheres if where in tallies)
    if value is None or exact is None:
        lacking = [w for w in wheres if w not in tallies or tallies[w].rate() is None]
        return missing(missing_reason(lacking), n)
    variances: list[float] = []
    for subject, part in wheres:
        variance = tallies[subject, part].variance()
        if variance is None:  # too few questions of one part: no interval, not a narrow one
            return Figure(value, n)
        variances.append(variance * WEIGHTS[subject].of(part) ** 2)
    degrees = [len(tallies[where].cluster_points) - 1 for where in wheres]
    half = sum_half_width(variances, degrees)
    if half is None:
        return Figure(value, n)
    full = sum(WEIGHTS[subject].of(part) for subject, part in wheres)
    # A released impossible total may be above the full points; the bound is never below the value.
    return Figure(value, n, max(0.0, exact - half), max(value, min(full, exact + half)))

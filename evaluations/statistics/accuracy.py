"""Compute the reports ``rates`` and ``converted``: scoring rates, and points out of 750."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from evaluations.statistics.gaokao_750 import (
    STREAMS,
    WEIGHTS,
    Precision,
    StreamPoints,
    Where,
    converted,
    missing_reason,
)
from evaluations.statistics.grouped import rate_figures
from evaluations.statistics.intervals import Interval, sum_half_width
from evaluations.statistics.rows import ModelCondition, ScoredAnswer
from evaluations.statistics.tally import ALL, Params, Tally, subject_order, tallies_by, tally
from questions.rules.vocabulary import Part, Stream, Subject

if TYPE_CHECKING:
    import pandas as pd

KEYS = ("model", "condition", "policy", "marker", "subject", "part")
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


def rates_of(frame: pd.DataFrame, *, params: Params | None = None) -> Report:
    """Return the report of ``rates`` from a row per model, condition and question.

    *frame* is a ``question_frame`` of one marker and policy.
    """
    rows: list[ReportRow] = []
    for whole in (False, True):
        own = frame if whole else frame[frame["subject"] != ""]
        named = own.assign(subject=ALL) if whole else own
        grouped = named.groupby(["model", "condition", "subject", "part"], sort=True)
        keys = list(grouped.groups)
        codes = grouped.ngroup().to_numpy(np.intp)
        rows += _rate_rows(own, codes, keys)
    rows.sort(key=lambda row: (row.asked, subject_order(row.key["subject"]), row.key["part"]))
    return Report("rates", dict(params or {}), rows)


def _rate_rows(
    frame: pd.DataFrame, codes: NDArray[np.intp], keys: list[tuple[str, ...]]
) -> list[ReportRow]:
    """Return a row for each of *keys*; *codes* tells which of them each row of *frame* is of."""
    figures, _estimates = rate_figures(frame, codes, len(keys))
    names = ("points", "full", "unscored_units", "exact_n", "exact_sum", "f1_sum")
    sums = {
        name: np.bincount(codes, weights=frame[name].to_numpy(np.float64), minlength=len(keys))
        for name in names
    }
    rows = []
    for place, key in enumerate(keys):
        rate = figures[place]
        points, full, without, exact, matched, f1 = (float(sums[name][place]) for name in names)
        known = rate.value is not None
        own = {
            "points": Figure(points, rate.n) if known else missing("no_data", rate.n),
            "full": Figure(full, rate.n) if known else missing("no_data", rate.n),
            "rate": rate,
            "unscored": Figure(int(without), rate.n + int(without)),
        }
        if exact:
            n = int(exact)
            own |= {"exact_match": Figure(matched / n, n), "f1": Figure(f1 / n, n)}
        names_of = ("model", "condition", "subject", "part")
        rows.append(ReportRow(dict(zip(names_of, key, strict=True)), own))
    return rows


def converted_of(
    frames: Sequence[pd.DataFrame], *, marker: str | None, params: Params | None = None
) -> Report:
    """Return the report of ``converted_report`` from a ``question_frame`` for each marker.

    The objective rows are those of the first frame. *marker* is the marker of a single frame.
    """
    import pandas as pd

    subjective = [frame[frame["part"] == Part.SUBJECTIVE] for frame in frames]
    first = frames[0]
    frame = pd.concat([first[first["part"] == Part.OBJECTIVE], *subjective], ignore_index=True)
    shared: dict[tuple[str, ...], Tallies] = defaultdict(dict)
    marked: dict[tuple[str, ...], dict[str, Tallies]] = defaultdict(dict)
    for (*whose, name, subject, part), sums in tallies_by(frame, KEYS):
        asked = tuple(whose)
        # A subject of another dataset, which is not in the examination, is left out.
        where = WHERES.get((subject, part))
        own = shared[asked]
        if part != Part.OBJECTIVE:
            own = marked[asked].setdefault(name, {})
        if where is not None:
            own[where] = sums
    rows: list[ReportRow] = []
    for asked in sorted(shared):
        model, condition, policy = asked
        for name, own in sorted((marked[asked] or {marker or NO_MARKER: {}}).items()):
            tallies, about = shared[asked] | own, {"marker": name, "policy": policy}
            for stream in Stream:
                rows += stream_rows(ModelCondition(model, condition), stream, tallies, about)
    return Report("converted", dict(params or {}), rows)


def converted_of_parts(parts: Sequence[pd.DataFrame]) -> Report:
    """Return the report of ``converted_of`` from the rows of each part of one marker."""
    import pandas as pd

    return converted_of([pd.concat(parts, ignore_index=True)], marker=None)


def frame_exact(frame: pd.DataFrame) -> dict[str, Figure]:
    """Return ``exact_figures`` from the rows of a ``question_frame``."""
    n = int(frame["exact_n"].sum())
    if not n:
        return {}
    matched, f1 = float(frame["exact_sum"].sum()), float(frame["f1_sum"].sum())
    return {"exact_match": Figure(matched / n, n), "f1": Figure(f1 / n, n)}


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
    is_published = about["policy"] == PUBLISHED
    shown, exact = _points(stream, tallies, is_published=is_published)

    def row(subject: str, figures: dict[str, Figure]) -> ReportRow:
        where = {"stream": stream.value, "subject": subject}
        return ReportRow(asked._asdict() | where | about, figures)

    rows = []
    for points, full in zip(shown.subjects, exact.subjects, strict=True):
        objective, subjective = wheres = [(points.subject, part) for part in PARTS]
        figures = {
            "objective": _figure(points.objective, full.objective, [objective], tallies),
            "subjective": _figure(points.subjective, full.subjective, [subjective], tallies),
        }
        figures |= _totals(wheres, points.total, full.total, tallies, is_published=is_published)
        rows.append(row(points.subject.value, figures))
    return [*rows, row(ALL, stream_totals(stream, tallies, about["policy"]))]


def stream_totals(stream: Stream, tallies: Tallies, policy: str) -> dict[str, Figure]:
    """Return the figures of the row ``ALL`` of one stream in report ``converted``."""
    is_published = policy == PUBLISHED
    shown, exact = _points(stream, tallies, is_published=is_published)
    wheres = [(subject, part) for subject in STREAMS[stream] for part in PARTS]
    return _totals(wheres, shown.total, exact.total, tallies, is_published=is_published)


def _points(
    stream: Stream, tallies: Tallies, *, is_published: bool
) -> tuple[StreamPoints, StreamPoints]:
    """Return the points of one stream as they are shown, and unrounded."""
    known = {where: rate for where, sums in tallies.items() if (rate := sums.rate()) is not None}
    exact = converted(stream, known, Precision.FULL)
    return (converted(stream, known, Precision.PUBLISHED) if is_published else exact), exact


def _totals(
    wheres: list[Where],
    value: float | None,
    full: float | None,
    tallies: Tallies,
    *,
    is_published: bool,
) -> dict[str, Figure]:
    """Return the figures of both parts of one subject, or of all subjects of a stream."""
    figures = {"total": _figure(value, full, wheres, tallies)}
    if is_published:
        figures["total_full_precision"] = _figure(full, full, wheres, tallies)
    sums = [tallies[where] for where in wheres if where in tallies]
    unscored = sum(one.unscored for one in sums)
    return figures | {"unscored": Figure(unscored, unscored + sum(one.n for one in sums))}


def _figure(
    value: float | None, exact: float | None, wheres: list[Where], tallies: Tallies
) -> Figure:
    """Return the converted points of *wheres*, with an interval around the unrounded value."""
    n = sum(tallies[where].n for where in wheres if where in tallies)
    if value is None or exact is None:
        lacking = [w for w in wheres if w not in tallies or tallies[w].rate() is None]
        return missing(missing_reason(lacking), n)
    bounds = (
        _part_bounds(wheres[0], tallies) if len(wheres) == 1 else _bounds(exact, wheres, tallies)
    )
    if bounds is None:
        return Figure(value, n)
    # The value may be rounded, or be a released impossible total above the full points.
    return Figure(value, n, min(value, bounds[0]), max(value, bounds[1]))


def _part_bounds(where: Where, tallies: Tallies) -> Interval | None:
    """Return the interval of the points of one part: that of its rate, times its points."""
    if (interval := tallies[where].interval()) is None:
        return None
    subject, part = where
    weight = WEIGHTS[subject].of(part)
    return weight * interval[0], weight * interval[1]


def _bounds(exact: float, wheres: list[Where], tallies: Tallies) -> Interval | None:
    """Return the interval around *exact*, the sum of the points of several parts.

    None if a part has too few questions to show how it varies: no interval, not a narrow one.
    """
    variances: list[float] = []
    for subject, part in wheres:
        variance = tallies[subject, part].variance_in_sum(len(wheres))
        if variance is None:
            return None
        variances.append(variance * WEIGHTS[subject].of(part) ** 2)
    half = sum_half_width(variances, [len(tallies[where].cluster_points) - 1 for where in wheres])
    full = sum(WEIGHTS[subject].of(part) for subject, part in wheres)
    return None if half is None else (max(0.0, exact - half), min(full, exact + half))

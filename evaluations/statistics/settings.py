"""Compare the prompt settings of a model: side by side, and what examples and reasoning gain.

Source: AGIEval (Zhong et al. 2023, arXiv:2304.06364), tables 2 and 3 and section 4: few-shot
against zero-shot, and with chain of thought against without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evaluations.statistics.cuts import MACRO, cuts, in_order, key_text
from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from evaluations.statistics.grouped import (
    Codes,
    Ratios,
    mean_figure,
    mean_rate,
    rate_figures,
    ratios,
)
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL, Params

if TYPE_CHECKING:
    import pandas as pd

# What is compared, and with what: examples at the same reasoning, reasoning at the same examples.
COMPARED = (
    ("few-shot", "zero-shot"),
    ("few-shot-cot", "zero-shot-cot"),
    ("zero-shot-cot", "zero-shot"),
    ("few-shot-cot", "few-shot"),
)
# The least gain.
LEAST = -1.0
Settings = Mapping[ModelCondition, str]


def side_by_side(
    frame: pd.DataFrame, settings: Settings, by: str = "task", *, params: Params | None = None
) -> Report:
    """Return the rates of each model by *by* (a key of ``cuts``), with a figure for each setting.

    *settings* has the setting (``zero-shot``, ``few-shot-cot`` ...) of each model and condition to
    compare. The rows are those of ``cuts``: ``ALL`` over all questions and ``MACRO`` over the rows.
    A setting without answers in a row has no figure there. Raises ValueError if two conditions of a
    model have the same setting: they are never pooled.
    """
    check_one_condition(settings)
    rows: dict[tuple[str, str], dict[str, Figure]] = {}
    for row in cuts(frame, (by,)).rows:
        if (setting := settings.get(row.asked)) is not None:
            rows.setdefault((row.key["model"], row.key[by]), {})[setting] = row.figures["rate"]
    places = {value: n for n, value in enumerate(in_order(by, {value for _, value in rows}))}
    ordered = sorted(rows, key=lambda key: (key[0], places[key[1]]))
    made = [ReportRow({"model": model, by: value}, rows[model, value]) for model, value in ordered]
    return Report("settings", dict(params or {}), made)


def gains(
    frame: pd.DataFrame, settings: Settings, by: str = "task", *, params: Params | None = None
) -> Report:
    """Return what examples and chain of thought gain, per model and value of *by*.

    A row compares the setting ``after`` with ``before`` (``COMPARED``) over the questions that have
    points in both. Figures: ``rate_before``, ``rate_after`` (mean share of full marks, weighted by
    full marks, 0 to 1; intervals as in ``cuts``) and ``gain``, the difference, -1 to 1, with the
    interval of a ratio estimator over paired questions; n counts questions. ``ALL`` is over all
    questions and ``MACRO`` the mean over the rows. Raises ValueError if two conditions of a model
    have the same setting.
    """
    check_one_condition(settings)
    conditions = {(asked.model, setting): asked.condition for asked, setting in settings.items()}
    keyed = frame.assign(key=key_text(frame, by), share=frame["points"] / frame["full"])
    scored = keyed[keyed["full"] > 0].set_index(["model", "condition"]).sort_index()
    rows: list[ReportRow] = []
    for model in sorted({asked.model for asked in settings}):
        for after, before in COMPARED:
            asked = [(model, conditions.get((model, setting))) for setting in (before, after)]
            if all(one in scored.index for one in asked):
                first, second = (scored.loc[[one]].set_index("question") for one in asked)
                both = first.index.intersection(second.index)
                about = {"model": model, "before": before, "after": after}
                rows += _paired_rows(first.loc[both], second.loc[both], by, about)
    return Report("gains", dict(params or {}), rows)


def check_one_condition(settings: Settings) -> None:
    """Raise ValueError if two conditions of a model have the same setting."""
    seen: set[tuple[str, str]] = set()
    for asked, setting in settings.items():
        if (asked.model, setting) in seen:
            raise ValueError(f"{asked.model} was asked under two conditions with {setting}")
        seen.add((asked.model, setting))


@dataclass(frozen=True, slots=True)
class _Paired:
    """The figures of groups of questions under both settings, by name, and the estimates."""

    figures: dict[str, list[Figure]]
    estimates: dict[str, Ratios]


def _paired_rows(
    first: pd.DataFrame, second: pd.DataFrame, by: str, about: dict[str, str]
) -> Iterator[ReportRow]:
    """Yield the rows of one comparison; *first* and *second* have the same questions in order."""
    values = in_order(by, set(first["key"]))
    places = {value: place for place, value in enumerate(values)}
    codes = first["key"].map(places).to_numpy(np.intp)
    cells = _paired(first, second, codes, len(values))
    whole = _paired(first, second, codes * 0, 1)
    for place, value in enumerate(values):
        yield ReportRow(
            about | {by: value}, {name: one[place] for name, one in cells.figures.items()}
        )
    yield ReportRow(about | {by: ALL}, {name: one[0] for name, one in whole.figures.items()})
    means = {
        name: mean_rate(cells.estimates[name], cells.figures[name])
        for name in ("rate_before", "rate_after")
    }
    gain = cells.estimates["gain"]
    means["gain"] = mean_figure(gain.value, gain.variance, gain.clusters, least=LEAST)
    yield ReportRow(about | {by: MACRO}, means)


def _paired(first: pd.DataFrame, second: pd.DataFrame, codes: Codes, groups: int) -> _Paired:
    full = first["full_each"].to_numpy(np.float64)
    figures: dict[str, list[Figure]] = {}
    estimates: dict[str, Ratios] = {}
    for name, own in (("rate_before", first), ("rate_after", second)):
        # A question weighs by its full marks, however often it was asked.
        weighed = own.assign(points=full * own["share"].to_numpy(np.float64), full=full)
        rates, estimates[name] = rate_figures(weighed, codes, groups)
        counts = estimates[name].clusters.astype(int).tolist()
        figures[name] = [replace(rate, n=n) for rate, n in zip(rates, counts, strict=True)]
    change = (second["share"] - first["share"]).to_numpy(np.float64)
    gain = estimates["gain"] = ratios(codes, groups, full * change, full)
    figures["gain"] = []
    for group in range(groups):
        value, n = gain.value[group], int(gain.clusters[group])
        bounds = gain.interval(group, least=LEAST) or (None, None)
        figures["gain"].append(
            missing("no_data") if np.isnan(value) else Figure(float(value), n, *bounds)
        )
    return _Paired(figures, estimates)

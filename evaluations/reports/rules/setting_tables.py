"""Tables and charts of the prompt settings of a model, and the charts of AGIBench by prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluations.reports.rules.cut_tables import LEAST_HEIGHT, MOST_BARS, percent
from evaluations.statistics.cuts import MACRO
from evaluations.statistics.figure import Figure, Report, ReportRow
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.settings import COMPARED
from evaluations.statistics.tally import ALL
from gradeapp.common.charts import Chart

Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SettingGroup:
    """The settings of one model: a value of the key, and a figure for each column or None.

    ``conditions`` are those that stand for the columns, "" for none.
    """

    model: str
    conditions: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Figure | None, ...]], ...]


def setting_groups(
    report: Report, key: str, settings: Sequence[str], stands: Mapping[str, Mapping[str, str]]
) -> list[SettingGroup]:
    """Return report ``settings`` by model; *stands* has the condition of each setting."""
    rows: dict[str, list[ReportRow]] = {}
    for row in report.rows:
        rows.setdefault(row.key["model"], []).append(row)
    return [
        SettingGroup(
            model,
            tuple(stands[model].get(setting, "") for setting in settings),
            tuple(
                (row.key[key], tuple(row.figures.get(setting) for setting in settings))
                for row in own
            ),
        )
        for model, own in rows.items()
    ]


def gain_groups(report: Report, key: str) -> list[SettingGroup]:
    """Return report ``gains`` by model: a column for each pair of ``COMPARED``."""
    found: dict[str, dict[str, dict[tuple[str, str], Figure]]] = {}
    for row in report.rows:
        pair = row.key["after"], row.key["before"]
        values = found.setdefault(row.key["model"], {})
        values.setdefault(row.key[key], {})[pair] = row.figures["gain"]
    return [
        SettingGroup(
            model,
            (),
            tuple(
                (value, tuple(own.get(pair) for pair in COMPARED))
                for value, own in sorted(values.items(), key=lambda one: one[0] in (ALL, MACRO))
            ),
        )
        for model, values in found.items()
    ]


def settings_bar(
    group: SettingGroup,
    settings: Sequence[str],
    names: Names,
    of: Names,
    colours: Mapping[ModelCondition, int],
) -> Chart:
    """Return the rates of one model as bars in per cent, one for each setting.

    *names* are those of the values of the key, *of* those of the *settings*. Empty if there are
    more than ``MOST_BARS``. A setting has the colour of its condition.
    """
    lines = [(value, figures) for value, figures in group.lines if value not in (ALL, MACRO)]
    series = [
        {
            "name": of[setting],
            "values": [percent(figures[place]) for _value, figures in lines],
            "colour": colours.get(ModelCondition(group.model, group.conditions[place]), 0),
        }
        for place, setting in enumerate(settings)
        if group.conditions[place]
    ]
    bars = len(lines) * len(series)
    data = {
        "categories": [names[value] for value, _figures in lines],
        "series": series,
        "max": 100,
        "digits": 1,
        "unit": " %",
        "height": max(LEAST_HEIGHT, 60 + 18 * bars + 12 * len(lines)),
    }
    return Chart("bar", data, not bars or bars > MOST_BARS)


def prompts_chart(
    report: Report,
    table: str,
    columns: Mapping[str, str],
    kinds: Names,
    colours: Mapping[ModelCondition, int],
) -> Chart:
    """Return figure 5 or 6 of AGIBench as bars: one for each model and prompt.

    *columns* has the columns of *table* to draw with their names, *kinds* the names of prompts. A
    row of the report is called ``model/prompt``, and has the colour of its condition; one of
    answers to only some of the questions has their numbers behind its name.
    """
    values: dict[str, dict[str, float | None]] = {}
    asked: dict[str, ModelCondition] = {}
    parts: dict[str, str] = {}
    for row in report.rows:
        if row.key["table"] == table and row.key["column"] in columns:
            name = row.key["row"]
            values.setdefault(name, {})[row.key["column"]] = row.figures["ours"].value
            asked[name] = row.asked
            if answered := row.figures.get("answered"):
                parts[name] = f" (n = {answered.value:,.0f}/{answered.n:,})"
    drawn = {name: own for name, own in values.items() if any(v is not None for v in own.values())}
    series = []
    for name, own in drawn.items():
        model, _slash, kind = name.rpartition("/")
        label = f"{model} · {kinds.get(kind, kind)}{parts.get(name, '')}"
        colour = colours.get(asked[name], 0)
        series.append(
            {"name": label, "values": [own.get(one) for one in columns], "colour": colour}
        )
    bars = len(columns) * len(series)
    data = {
        "categories": list(columns.values()),
        "series": series,
        "max": 100,
        "digits": 1,
        "unit": " %",
        "height": max(LEAST_HEIGHT, 60 + 20 * bars + 14 * len(columns)),
    }
    return Chart("bar", data, not bars or bars > MOST_BARS)

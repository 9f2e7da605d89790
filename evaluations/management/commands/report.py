"""Print a report as a table, or as JSON."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils.translation import gettext as _

from evaluations.facts.words import reason_words
from evaluations.management.report_arguments import add_report_arguments, report_params
from evaluations.reports.rules.paper_cells import NOTE
from evaluations.reports.selectors import paper_tables
from evaluations.reports.selectors.reports import EVERY_REPORT, build_report
from gradeapp.cli import GradeappCommand, aligned


class Command(GradeappCommand):
    help = "Print a report: every figure with its n, or with the reason why there is none."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help=f"one of: {', '.join(EVERY_REPORT)}")
        add_report_arguments(parser)

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        return build_report(options["name"], report_params(options)).as_dict()

    def show(self, result: dict[str, Any]) -> None:
        params = result["params"]
        given = (f"{name}={param_text(value)}" for name, value in params.items())
        self.stdout.write(f"{result['report']}: {' '.join(given)}")
        rows = result["rows"]
        if not rows:
            self.stdout.write(_("No rows: %(why)s.") % {"why": reason_words(params["reason"])})
            return
        is_paper = result["report"] == paper_tables.NAME
        if is_paper:
            rows = [row | {"figures": paper_figures(row["figures"])} for row in rows]
        keys = list(dict.fromkeys(name for row in rows for name in row["key"]))
        figures = list(dict.fromkeys(name for row in rows for name in row["figures"]))
        table = [[*keys, *figures]] + [
            [
                *(row["key"].get(name, "") for name in keys),
                *(figure_text(row["figures"].get(name)) for name in figures),
            ]
            for row in rows
        ]
        if is_paper:
            notes = params["notes"]
            table[0].append("why")
            for line, row in zip(table[1:], rows, strict=True):
                line.append(why(row["figures"], notes))
        for line in aligned(table):
            self.stdout.write(line)


def param_text(value: object) -> str:
    """Return a parameter as text: ``a,b`` for several, ``unmarked:3`` for counts."""
    if isinstance(value, dict):
        return ",".join(f"{name}:{count}" for name, count in value.items()) or "0"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def paper_figures(figures: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the figures of a cell of a paper as they are printed.

    What the paper prints has no n of ours, nor has a difference of two figures of which one is
    missing; how many questions of the cell are answered stands with our n.
    """
    printed = {name: one for name, one in figures.items() if name != "answered"}
    for name in ("published", "difference"):
        if name == "published" or printed[name]["value"] is None:
            printed[name] = printed[name] | {"n": None}
    if answered := figures.get("answered"):
        n = f"{printed['ours']['n']}, {number(answered['value'])} of {answered['n']} questions"
        printed["ours"] = printed["ours"] | {"n": n}
    return printed


def why(figures: dict[str, dict[str, Any]], notes: dict[str, str]) -> str:
    """Return in words why a cell of a paper is not rebuilt, limited, or differs.

    *notes* are the sentences of the notes by id. Those about a printed figure are given where there
    is none of ours; else only the one that accounts for the difference.
    """
    difference = figures["difference"]["value"]
    found = []
    for name in ("difference", "ours", "published"):
        code = figures[name]["reason"] or ""
        if name == "published" and difference is not None:
            continue
        if code.startswith(NOTE):
            found += [
                f"{one}: {notes[one].rstrip('.')}" for one in code.removeprefix(NOTE).split(",")
            ]
        elif code and (name != "published" or figures[name]["value"] is None):
            found.append(reason_words(code))
    return "; ".join(dict.fromkeys(found))


def figure_text(figure: dict[str, Any] | None) -> str:
    """Return a figure such as ``0.7215 [0.7013, 0.7417] n=2944``, its reason, or both.

    An n of None is left out.
    """
    if figure is None:
        return ""
    n = "" if figure["n"] is None else f" n={figure['n']}"
    if figure["value"] is None:
        return f"{figure['reason']}{n}"
    interval = ""
    if figure["low"] is not None and figure["high"] is not None:
        interval = f" [{number(figure['low'])}, {number(figure['high'])}]"
    reason = f" ({figure['reason']})" if figure["reason"] else ""
    return f"{number(figure['value'])}{interval}{n}{reason}"


def number(value: float) -> str:
    """Return *value* with at most four decimals."""
    return f"{round(value, 4) + 0.0:.4f}".rstrip("0").rstrip(".")

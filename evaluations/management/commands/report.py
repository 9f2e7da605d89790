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
        keys = list(dict.fromkeys(name for row in rows for name in row["key"]))
        figures = list(dict.fromkeys(name for row in rows for name in row["figures"]))
        table = [[*keys, *figures]] + [
            [
                *(row["key"].get(name, "") for name in keys),
                *(figure_text(row["figures"].get(name)) for name in figures),
            ]
            for row in rows
        ]
        if result["report"] == paper_tables.NAME:
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


def why(figures: dict[str, dict[str, Any]], notes: dict[str, str]) -> str:
    """Return in words why a cell of a paper is not rebuilt or differs, and its notes; "" if equal.

    *notes* are the sentences of the notes by id.
    """
    if figures["difference"]["value"] == 0:
        return ""
    found = []
    for name in ("difference", "ours", "published"):
        code = figures[name]["reason"] or ""
        if code.startswith(NOTE):
            found += [
                f"{one}: {notes[one].rstrip('.')}" for one in code.removeprefix(NOTE).split(",")
            ]
        elif code and (name != "published" or figures[name]["value"] is None):
            found.append(reason_words(code))
    return "; ".join(dict.fromkeys(found))


def figure_text(figure: dict[str, Any] | None) -> str:
    """Return a figure such as ``0.7215 [0.7013, 0.7417] n=2944``, its reason, or both."""
    if figure is None:
        return ""
    if figure["value"] is None:
        return f"{figure['reason']} n={figure['n']}"
    interval = ""
    if figure["low"] is not None and figure["high"] is not None:
        interval = f" [{number(figure['low'])}, {number(figure['high'])}]"
    reason = f" ({figure['reason']})" if figure["reason"] else ""
    return f"{number(figure['value'])}{interval} n={figure['n']}{reason}"


def number(value: float) -> str:
    """Return *value* with at most four decimals."""
    return f"{round(value, 4) + 0.0:.4f}".rstrip("0").rstrip(".")

"""Print a report as a table, or as JSON."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils.translation import gettext as _

from evaluations.facts.words import reason_words
from evaluations.management.report_arguments import add_report_arguments, report_params
from evaluations.reports.forms import BY, keys_of
from evaluations.reports.rules.paper_cells import NOTE
from evaluations.reports.rules.paper_page import column_of, prompts_pooled, unit_of
from evaluations.reports.rules.published_tables import Paper, PublishedPaper, published_paper
from evaluations.reports.selectors import paper_tables
from evaluations.reports.selectors.answered import ANSWERED
from evaluations.reports.selectors.reports import EVERY_REPORT, build_report
from evaluations.statistics.tally import ALL
from gradeapp.cli import GradeappCommand, aligned
from gradeapp.common.refusals import BadInput

# Parameters that have a value for each table or note of a paper.
OF_CELLS = ("cells", "notes")


class Command(GradeappCommand):
    help = "Print a report: every figure with its n, or with the reason why there is none."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help=f"one of: {', '.join(EVERY_REPORT)}")
        add_report_arguments(parser)

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        name = options["name"]
        if options["by"] and name in EVERY_REPORT and not keys_of(name) & BY:
            raise BadInput(_("The report %(name)s takes no --by.") % {"name": name})
        return build_report(name, report_params(options)).as_dict()

    def show(self, result: dict[str, Any]) -> None:
        params = result["params"]
        is_paper = result["report"] == paper_tables.NAME
        # What notes say stands behind the cells that they are about.
        shown = {name: one for name, one in params.items() if not is_paper or name not in OF_CELLS}
        given = (f"{name}={param_text(one)}" for name, one in shown.items() if one is not None)
        self.stdout.write(f"{result['report']}: {' '.join(given)}")
        if is_paper:
            self.stdout.write(cells_text(params["cells"]))
        rows = result["rows"]
        if not rows:
            self.stdout.write(_("No rows: %(why)s.") % {"why": reason_words(params["reason"])})
            return
        if is_paper:
            paper = published_paper(Paper(params["paper"]))
            rows = [row | {"figures": paper_figures(paper, row)} for row in rows]
        keys = list(dict.fromkeys(name for row in rows for name in row["key"]))
        figures = list(dict.fromkeys(name for row in rows for name in row["figures"]))
        table = [[*keys, *figures]] + [
            [
                *(row["key"].get(name, "") for name in keys),
                *(figure_text(row["figures"].get(name), name) for name in figures),
            ]
            for row in rows
        ]
        if is_paper:
            notes = params["notes"]
            table[0].append("why")
            for line, row in zip(table[1:], rows, strict=True):
                line.append(why(row["figures"], notes))
        for line in [*aligned(table), *partly_answered(rows)]:
            self.stdout.write(line)


def param_text(value: object) -> str:
    """Return a parameter as text: ``a,b`` for several, ``unmarked:3`` for counts."""
    if isinstance(value, dict):
        return ",".join(f"{name}:{count}" for name, count in value.items()) or "0"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def cells_text(cells: dict[str, dict[str, int]]) -> str:
    """Return how many cells of each table are equal to the printed ones, rebuilt and printed."""
    numbers = (f"{table} {n['equal']}/{n['rebuilt']}/{n['printed']}" for table, n in cells.items())
    return f"cells equal/rebuilt/printed: {', '.join(numbers)}"


def paper_figures(paper: PublishedPaper, row: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the figures of a cell of *paper* as they are printed, with their units.

    What the paper prints has no n of ours, nor has a difference of two figures of which one is
    missing, nor a fact that is from no answers; how many questions of the cell are answered stands
    with our n.
    """
    figures = row["figures"]
    printed = {name: one for name, one in figures.items() if name != "answered"}
    column = column_of(paper.table(row["key"]["table"]), row["key"]["column"])
    for name, one in printed.items():
        printed[name] = one | {"unit": unit_of(column, signed=name == "difference")}
        if one["value"] is not None and one["n"] == 0:
            printed[name] |= {"n": None}
    for name in ("published", "difference"):
        if name == "published" or printed[name]["value"] is None:
            printed[name] = printed[name] | {"n": None}
    if answered := figures.get("answered"):
        prompts = prompts_pooled(paper.paper, row["key"]["table"])
        asked = f"{answered['n'] // prompts} questions" + (f" × {prompts}" if prompts > 1 else "")
        n = f"{printed['ours']['n']}, {number(answered['value'])} of {asked}"
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


def partly_answered(rows: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for each total that is over fewer questions than there are."""
    sentences = []
    for row in rows:
        key, answered, total = row["key"], row["figures"].get(ANSWERED), row["figures"].get("total")
        is_partly = answered and total and answered["value"] < answered["n"]
        if key.get("subject") == ALL and is_partly and total["value"] is not None:
            words = _("answers to %(n)s of %(all)s questions") % {
                "n": number(answered["value"]),
                "all": answered["n"],
            }
            sentences.append(f"{key['model']} · {key['condition']}, {key['stream']}: {words}")
    return list(dict.fromkeys(sentences))


def figure_text(figure: dict[str, Any] | None, name: str = "") -> str:
    """Return a figure such as ``0.7215 [0.7013, 0.7417] n=2944``, its reason, or both.

    An n of None is left out. Figure *name* ``answered`` is such as ``60/61``.
    """
    if figure is None:
        return ""
    if name == ANSWERED:
        return f"{number(figure['value'])}/{figure['n']}"
    n = "" if figure["n"] is None else f" n={figure['n']}"
    if figure["value"] is None:
        return f"{figure['reason']}{n}"
    interval = ""
    if figure["low"] is not None and figure["high"] is not None:
        interval = f" [{number(figure['low'])}, {number(figure['high'])}]"
    reason = f" ({figure['reason']})" if figure["reason"] else ""
    return f"{number(figure['value'])}{figure.get('unit', '')}{interval}{n}{reason}"


def number(value: float) -> str:
    """Return *value* with at most four decimals."""
    return f"{round(value, 4) + 0.0:.4f}".rstrip("0").rstrip(".")

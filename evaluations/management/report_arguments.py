"""The report parameters of the commands report and export."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils.translation import gettext as _

from evaluations.facts.params import ReportParams
from evaluations.reports.forms import default_policy
from evaluations.reports.rules.published_tables import Paper
from evaluations.statistics.cuts import CUT_KEYS
from gradeapp.cli import whole_number
from gradeapp.common.refusals import BadInput


def add_report_arguments(parser: ArgumentParser) -> None:
    """Add the parameters of reports, which are validated later."""
    parser.add_argument("--dataset", default="", help="slug, such as gaokao-bench")
    parser.add_argument(
        "--paper",
        default="",
        help=f"the paper of paper-tables, one of: {', '.join(Paper)}; its dataset is the default",
    )
    parser.add_argument(
        "--model",
        nargs="+",
        action="extend",
        default=[],
        help="one or several; with paper-tables also PRINTED=NAME: NAME stands for PRINTED",
    )
    parser.add_argument(
        "--condition",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="only answers under conditions of these names",
    )
    parser.add_argument(
        "--run",
        nargs="+",
        action="extend",
        type=whole_number,
        default=[],
        metavar="ID",
        help="only answers of these runs",
    )
    parser.add_argument(
        "--marker",
        default="",
        help="teachers or judge:NAME; of converted also estimate:teachers or estimate:judge:NAME",
    )
    parser.add_argument(
        "--policy", default="", help="published (default of paper-tables) or strict (of the others)"
    )
    parser.add_argument(
        "--by",
        default="",
        metavar="KEY[,KEY]",
        help=f"what the report cuts is cut by, one or two of: {', '.join(CUT_KEYS)}",
    )
    parser.add_argument("--year", type=whole_number, help="only questions of this year")
    parser.add_argument(
        "--without-blind",
        action="store_true",
        help="leave out answers to questions whose images the model did not get",
    )
    parser.add_argument(
        "--round",
        nargs="+",
        action="extend",
        default=[],
        metavar="ID",
        help="only the teachers' marks of these rounds; all but practice rounds if left out",
    )


def report_params(options: dict[str, Any]) -> ReportParams:
    """Return the report parameters in *options*. Raises BadInput without a dataset or a paper."""
    paper = options["paper"]
    if not options["dataset"] and not paper:
        raise BadInput(_("Specify the dataset, for example --dataset gaokao-bench."))
    return ReportParams(
        dataset=options["dataset"] or paper,
        models=tuple(dict.fromkeys(options["model"])),
        conditions=tuple(dict.fromkeys(options["condition"])),
        runs=tuple(dict.fromkeys(options["run"])),
        marker=options["marker"],
        policy=options["policy"] or default_policy(paper),
        paper=paper,
        by=options["by"],
        year=options["year"],
        rounds=tuple(dict.fromkeys(options["round"])),
        without_blind=options["without_blind"],
    )

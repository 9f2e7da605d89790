"""The page of a paper: its tables rebuilt beside the printed cells."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from evaluations.facts.params import ReportParams, models_with_answers
from evaluations.reports.forms import PAPER, read_params
from evaluations.reports.rules.paper_page import PageLine, PageTable, page_tables
from evaluations.reports.rules.published_tables import Paper
from evaluations.reports.rules.setting_tables import prompts_chart
from evaluations.reports.selectors.paper_tables import (
    NAME,
    known_paper,
    loaded_papers,
    paper_tables,
    params_of_answers,
    printed_models,
)
from evaluations.reports.selectors.report_choices import choices
from evaluations.reports.services.exports import note_look
from evaluations.statistics.figure import Report
from evaluations.statistics.policies import Policy
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.charts import Chart
from questions.forms.filters import named_choices

# The figures of AGIBench that print bars: their columns, in the order of the bars, with names. What
# the paper does not print comes last.
PROMPT_FIGURES = {
    "figure-5": {
        "all_same": _("All the same"),
        "one_differs": _("One differs"),
        "all_different": _("All different"),
    },
    "figure-6": {
        "average": _("Average"),
        "worst": _("Worst"),
        "best": _("Best"),
        "majority_paper": _("Majority right (paper)"),
        "majority": _("Majority answer (ours)"),
    },
}


def prompt_charts(paper: Paper, dataset: str, report: Report) -> dict[str, Chart]:
    """Return the charts of figures 5 and 6 of AGIBench that have a bar, by table."""
    if paper is not Paper.AGIBENCH:
        return {}
    kinds = {
        "none": str(_("question alone")),
        "answer": str(_("asked for the answer")),
        "reason": str(_("asked for answer and reason")),
    }
    colours = choices(dataset).colours
    made = {
        table: prompts_chart(
            report, table, {one: str(name) for one, name in columns.items()}, kinds, colours
        )
        for table, columns in PROMPT_FIGURES.items()
    }
    return {table: chart for table, chart in made.items() if not chart.empty}


def column_heads(table: PageTable) -> list[tuple[PageLine, Promise | str]]:
    """Return the columns of *table*, each with its name in words; "" for one named as printed."""
    words = PROMPT_FIGURES.get(table.table.id, {})
    return [(column, words.get(column.name, "")) for column in table.columns]


@require_safe
@requires(Capability.SEE_REPORTS)
def paper_page(request: MemberRequest) -> HttpResponse:
    """Show the tables of one paper; by default that of ``dataset``, or the first one loaded."""
    query = request.GET.copy()
    loaded = loaded_papers()
    dataset = query.pop("dataset", [""])[-1]
    if not query.get("paper"):
        first = next(iter(loaded), Paper.GAOKAO_BENCH).value
        query["paper"] = dataset if dataset in list(Paper) else first
    params = read_params(query, others=PAPER | {"all"})
    paper, report = known_paper(params.paper), paper_tables(params)
    everything = query.get("all") == "yes"
    if paper.paper in loaded:
        note_look(params, acting_user=request.user, report=NAME)
    charts = prompt_charts(paper.paper, params.dataset, report)
    counts, who = report.params["cells"], report.params["models"]
    context = {
        "params": params,
        "behind_params": params_of_answers(params),
        "tab_params": ReportParams(params.dataset if paper.paper in loaded else ""),
        "paper": paper,
        "papers": [(one, one in loaded) for one in Paper],
        "policies": named_choices(Policy),
        "everything": everything,
        "tables": [
            (one, charts.get(one.table.id), column_heads(one))
            for one in page_tables(paper, report, all_cells=everything)
        ],
        "stand_ins": [(name, who.get(name, "")) for name in printed_models(paper)],
        "loaded_models": models_with_answers(params.dataset),
        "equal": sum(table["equal"] for table in counts.values()),
        "rebuilt": sum(table["rebuilt"] for table in counts.values()),
        "printed": sum(table["printed"] for table in counts.values()),
        "may_export": request.user.may(Capability.EXPORT) and paper.paper in loaded,
    }
    return render(request, "evaluations/reports/papers.html", context)

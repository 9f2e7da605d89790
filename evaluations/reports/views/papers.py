"""The page of a paper: its tables rebuilt beside the printed cells."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluations.facts.params import ReportParams, models_with_answers
from evaluations.reports.forms import PAPER, read_params
from evaluations.reports.rules.paper_page import page_tables
from evaluations.reports.rules.published_tables import Paper
from evaluations.reports.selectors.paper_tables import (
    known_paper,
    loaded_papers,
    paper_tables,
    printed_models,
)
from evaluations.statistics.policies import Policy
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from questions.forms.filters import named_choices


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
    counts, who = report.params["cells"], report.params["models"]
    context = {
        "params": params,
        "tab_params": ReportParams(params.dataset if paper.paper in loaded else ""),
        "paper": paper,
        "papers": [(one, one in loaded) for one in Paper],
        "policies": named_choices(Policy),
        "everything": everything,
        "tables": page_tables(paper, report, all_cells=everything),
        "stand_ins": [(name, who.get(name, "")) for name in printed_models(paper)],
        "loaded_models": models_with_answers(params.dataset),
        "equal": sum(table["equal"] for table in counts.values()),
        "rebuilt": sum(table["rebuilt"] for table in counts.values()),
        "printed": sum(table["printed"] for table in counts.values()),
        "may_export": request.user.may(Capability.EXPORT) and paper.paper in loaded,
    }
    return render(request, "evaluations/reports/papers.html", context)

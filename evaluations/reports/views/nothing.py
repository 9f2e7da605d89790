"""The page in place of a report without responses: what is loaded, and what to do next."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from evaluations.facts.params import ReportParams
from evaluations.reports.rules.published_tables import Paper
from evaluations.reports.selectors.report_choices import Choices
from gradeapp.accounts.permissions import MemberRequest
from gradeapp.accounts.roles import Capability
from questions.models import Dataset, Question


def nothing_answered(request: MemberRequest, offered: Choices, active: str) -> HttpResponse | None:
    """Return the page that says that nothing was answered; None if there is something to report.

    *active* is the tab that was asked for. The page is about the dataset in the address if there is
    one; a name that no dataset has is left to the filters, unless nothing at all was answered.
    """
    slug = request.GET.get("dataset", "")
    chosen = Dataset.objects.filter(slug=slug).first()
    if offered.dataset and (chosen is None or slug == offered.dataset):
        return None
    context = {
        "dataset": chosen,
        "questions": Question.objects.filter(task__dataset=chosen).count() if chosen else 0,
        "others": offered.datasets,
        "active": active,
        "params": ReportParams(slug if chosen else ""),
        "has_paper": slug in list(Paper),
        "may_see_runs": request.user.may(Capability.SEE_RUNS),
        "may_start": request.user.may(Capability.START_RUNS),
    }
    return render(request, "evaluations/reports/empty.html", context)

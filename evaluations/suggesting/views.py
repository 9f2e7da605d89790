"""Letting a model suggest labels or rubric drafts: the form, what it will cost, the start."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from evaluations.runs.views.run_starts import start_page
from evaluations.suggesting.forms import SuggestForm, filters_in
from evaluations.suggesting.services.suggesting import estimate_suggesting, start_suggesting
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from questions.forms.filter_chips import chips

# Filters that stand in sight; the others are behind "More filters".
FIRST = ("task", "subject", "type", "year", "labels")
ELSEWHERE = ("q", "dataset", "sort")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.START_RUNS)
def suggest(request: MemberRequest) -> HttpResponse:
    """The form, with the questions that the filters of its address choose."""
    sent = request.POST if request.method == "POST" else request.GET
    form, filters = SuggestForm.of(request), filters_in(sent)
    context = {
        "filters": filters,
        "first": FIRST,
        "elsewhere": ELSEWHERE,
        "chosen_by": chips(filters) if filters.is_valid() else [],
    }
    return start_page(
        request,
        form,
        "evaluations/suggesting/new.html",
        context,
        estimate=lambda: estimate_suggesting(form.wanted(filters)),
        start=lambda **paid: start_suggesting(form.wanted(filters), **paid),
    )

"""Letting a model suggest labels or rubric drafts: the form, what it will cost, the start."""

from __future__ import annotations

from functools import partial

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluations.runs.views.run_starts import estimate_context, started
from evaluations.suggesting.forms import SuggestForm, filters_in
from evaluations.suggesting.services.suggesting import estimate_suggesting, start_suggesting
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import Refusal
from questions.forms.filter_chips import chips

# Filters that stand in sight; the others are behind "More filters".
FIRST = ("task", "subject", "type", "year", "labels")
ELSEWHERE = ("q", "dataset", "sort")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.START_RUNS)
def suggest(request: MemberRequest) -> HttpResponse:
    """The form, with the questions that the filters of its address choose."""
    sent = request.POST if request.method == "POST" else request.GET
    # A link from the bank says which questions, and leaves the rest to the form.
    form = SuggestForm(sent) if "endpoint" in sent else SuggestForm(initial=sent.dict())
    filters, refused = filters_in(sent), ""
    if request.method == "POST" and form.is_valid():
        try:
            begin = partial(start_suggesting, form.wanted(filters))
            return redirect("runs:run", started(form, request.user, begin).pk)
        except Refusal as refusal:
            refused = str(refusal)
    context = {
        "form": form,
        "filters": filters,
        "first": FIRST,
        "elsewhere": ELSEWHERE,
        "chosen_by": chips(filters) if filters.is_valid() else [],
        **estimate_context(form, lambda: estimate_suggesting(form.wanted(filters))),
    }
    if refused:  # the estimate is of a form without errors
        form.add_error(None, refused)
    status = 400 if request.method == "POST" else 200
    return render(request, "evaluations/suggesting/new.html", context, status=status)

"""Letting a model read the unread answers of a run: the form, what it will cost, the start."""

from __future__ import annotations

from functools import partial

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluations.reading.forms.model_reading import ReadForm
from evaluations.reading.selectors.model_reading import unread_responses
from evaluations.reading.services.model_reading import estimate_reading, start_reading
from evaluations.runs.selectors.runs import get_run
from evaluations.runs.views.run_starts import estimate_context, started
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import Refusal


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.START_RUNS)
def read(request: MemberRequest, pk: int) -> HttpResponse:
    """The form; it says what the run will ask and cost before it starts."""
    answered, refused = get_run(pk), ""
    sent = request.POST if request.method == "POST" else request.GET
    form = ReadForm(sent) if "endpoint" in sent else ReadForm()
    if request.method == "POST" and form.is_valid():
        try:
            begin = partial(start_reading, form.wanted(answered))
            return redirect("runs:run", started(form, request.user, begin).pk)
        except Refusal as refusal:
            refused = str(refusal)
    context = {
        "form": form,
        "run": answered,
        "unread": unread_responses(answered).count(),
        **estimate_context(form, lambda: estimate_reading(form.wanted(answered))),
    }
    if refused:  # the estimate is of a form without errors
        form.add_error(None, refused)
    status = 400 if request.method == "POST" else 200
    return render(request, "evaluations/reading/model_reading/new.html", context, status=status)

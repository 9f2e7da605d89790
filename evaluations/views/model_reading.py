"""Letting a model read the unread answers of a run: the form, what it will cost, the start."""

from __future__ import annotations

from functools import partial

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluations.forms.model_reading import ReadForm
from evaluations.models import Run
from evaluations.selectors.model_reading import unread_responses
from evaluations.services.model_reading import start_reading
from evaluations.services.run_estimates import Estimate, estimate_reading
from evaluations.tasks import ask_for_work
from evaluations.views.runs import found
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.refusals import Refusal


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.START_RUNS)
def read(request: MemberRequest, pk: int) -> HttpResponse:
    """The form; it says what the run will ask and cost before it starts."""
    answered, refused = found(pk), ""
    sent = request.POST if request.method == "POST" else request.GET
    form = ReadForm(sent) if "endpoint" in sent else ReadForm()
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("runs:run", start(form, answered, request).pk)
        except Refusal as refusal:
            refused = str(refusal)
    context = {
        "form": form,
        "run": answered,
        "unread": unread_responses(answered).count(),
        **estimate_context(form, answered),
    }
    if refused:  # the estimate is of a form without errors
        form.add_error(None, refused)
    status = 400 if request.method == "POST" else 200
    return render(request, "evaluations/model_reading/new.html", context, status=status)


def start(form: ReadForm, answered: Run, request: MemberRequest) -> Run:
    """Start what the form says, and tell the workers after the commit."""
    key = form.cleaned_data["key"]
    with transaction.atomic():
        run = start_reading(
            form.wanted(answered),
            acting_user=request.user,
            budget=form.cleaned_data["budget"],
            idempotency_key=str(key) if key else None,
        )
        transaction.on_commit(partial(ask_for_work, run.pk))
    return run


def estimate_context(form: ReadForm, answered: Run) -> dict[str, Estimate | str]:
    """The estimate of a form that can be read, or the sentence why there is none."""
    if not form.is_bound or not form.is_valid():
        return {}
    try:
        return {"estimate": estimate_reading(form.wanted(answered))}
    except Refusal as refusal:
        return {"estimate_refused": str(refusal)}

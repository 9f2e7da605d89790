"""Start a run from a form, and estimate its cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render

from evaluations.models import Run
from evaluations.runs.forms.runs import StartForm
from evaluations.runs.services.run_estimates import Estimate, most_cost
from evaluations.runs.tasks import ask_for_work
from gradeapp.accounts.confirmation import check_cost
from gradeapp.accounts.permissions import MemberRequest
from gradeapp.common.refusals import Refusal


def start_page(
    request: MemberRequest,
    form: StartForm,
    template: str,
    context: dict[str, Any],
    *,
    estimate: Callable[[], Estimate],
    start: Callable[..., Run],
) -> HttpResponse:
    """Show *form* with its estimate; a valid POST starts the run and leads to its page.

    *estimate* and *start* are called only if the form is valid; *start* is given the person, the
    budget and the key of the form. The message to the workers is sent after the commit.
    """
    refused = ""
    if request.method == "POST" and form.is_valid():
        key, budget = form.cleaned_data["key"], form.cleaned_data["budget"]
        try:
            check_cost(request, lambda: most_cost(estimate(), budget))
            with transaction.atomic():
                run = start(
                    acting_user=request.user,
                    budget=budget,
                    idempotency_key=str(key) if key else None,
                )
                transaction.on_commit(partial(ask_for_work, run.pk))
            return redirect("runs:run", run.pk)
        except Refusal as refusal:
            refused = str(refusal)
            context = {**context, "same_run": refusal.details.get("run")}
    context = {"form": form, "address": request.path, **context}
    if form.is_bound and form.is_valid():
        try:
            context["estimate"] = estimate()
        except Refusal as refusal:
            context["estimate_refused"] = str(refusal)
    if refused:  # the estimate is of a form without errors
        form.add_error(None, refused)
    return render(request, template, context, status=400 if request.method == "POST" else 200)

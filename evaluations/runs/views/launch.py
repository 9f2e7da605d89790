"""The page of a new run: a short form, all settings behind "More", estimate, and dry run."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from evaluations.runs.forms.launch import NewRunForm, initial_of
from evaluations.runs.selectors.chosen_questions import chosen_questions, counted
from evaluations.runs.selectors.runs import get_run
from evaluations.runs.services import runs as services
from evaluations.runs.services.dry_runs import few_of_each_task
from evaluations.runs.services.run_estimates import estimate
from evaluations.runs.views.run_starts import start_page
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import Refusal
from questions.selectors.bank import views_of


def form_of(request: HttpRequest) -> NewRunForm:
    """Return the form, filled in from the run that ``again`` names, if there is one."""
    again = request.GET.get("again", "")
    if request.method != "POST" and "endpoint" not in request.GET and again.isdecimal():
        return NewRunForm(initial={"key": uuid.uuid4(), **initial_of(get_run(int(again[:9])))})
    return NewRunForm.of(request)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.START_RUNS)
def new_run(request: MemberRequest) -> HttpResponse:
    """Show the form of a new run with its estimated calls and cost, or start the run."""
    form = form_of(request)
    context: dict[str, Any] = {"saved_views": views_of(request.user)}
    if form.is_bound and form.is_valid():
        wanted = form.wanted()
        context["preview_query"] = _address(request)
        with suppress(Refusal):  # the estimate says it
            context["counts"] = counted(chosen_questions(wanted["dataset"], wanted["choice"]))
    trial = request.POST.get("trial") == "1"
    return start_page(
        request,
        form,
        "evaluations/runs/launch.html",
        context,
        estimate=lambda: estimate(**form.wanted()),
        start=lambda **paid: services.start_run(**form.wanted(), **paid, trial=trial),
    )


@require_safe
@requires(Capability.START_RUNS)
def preview(request: MemberRequest) -> HttpResponse:
    """Show the messages of three questions of each task, word for word; nothing is planned."""
    form = NewRunForm(request.GET)
    context: dict[str, Any] = {"form": form, "query": request.GET.urlencode()}
    if form.is_valid():
        wanted = form.wanted()
        try:
            context["tasks"] = few_of_each_task(
                wanted["dataset"], wanted["asking"], wanted["choice"], wanted["endpoint"]
            )
        except Refusal as refusal:
            context["refused"] = str(refusal)
    return render(request, "evaluations/runs/preview.html", context)


def _address(request: HttpRequest) -> str:
    """Return what was sent as an address, without the token and empty fields."""
    sent = (request.POST if request.method == "POST" else request.GET).copy()
    for name in [*sent]:
        if name in ("csrfmiddlewaretoken", "key", "shown", "trial") or not any(sent.getlist(name)):
            del sent[name]
    return sent.urlencode()

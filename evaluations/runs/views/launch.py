"""The page of a new run: a short form, all settings behind "More", estimate, and dry run."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from evaluations.models import Run
from evaluations.runs.forms.launch import NewRunForm, initial_of, is_trial
from evaluations.runs.selectors.chosen_questions import chosen_questions, counted
from evaluations.runs.selectors.runs import get_run
from evaluations.runs.services import runs as services
from evaluations.runs.services.dry_runs import few_of_each_task
from evaluations.runs.services.run_estimates import estimate
from evaluations.runs.views.run_starts import start_page
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import Refusal


def repeated(request: HttpRequest) -> Run | None:
    """Return the run that ``again`` names in an address that is just opened, None without one."""
    again = request.GET.get("again", "")
    opened = request.method != "POST" and "endpoint" not in request.GET
    return get_run(int(again[:9])) if opened and again.isdecimal() else None


def form_of(request: MemberRequest, again: Run | None) -> NewRunForm:
    """Return the form, filled in from the run *again* if there is one."""
    if again is None:
        return NewRunForm.of(request, user=request.user)
    given = initial_of(again, all_questions=request.GET.get("all") == "1")
    return NewRunForm(initial={"key": uuid.uuid4(), **given}, user=request.user)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.START_RUNS)
def new_run(request: MemberRequest) -> HttpResponse:
    """Show the form of a new run with its estimated calls and cost, or start the run."""
    again = repeated(request)
    form = form_of(request, again)
    context: dict[str, Any] = {"again": again, "again_trial": again and is_trial(again)}
    if form.is_bound and form.is_valid():
        wanted = form.wanted()
        context |= {"preview_query": _address(request), "trial_size": wanted["choice"].trial}
        with suppress(Refusal):  # the estimate says it
            context["counts"] = counted(chosen_questions(wanted["dataset"], wanted["choice"]))
    trial, anyway = (request.POST.get(name) == "1" for name in ("trial", "anyway"))
    return start_page(
        request,
        form,
        "evaluations/runs/launch.html",
        context,
        estimate=lambda: estimate(**form.wanted()),
        start=lambda **paid: services.start_run(
            **form.wanted(), **paid, trial=trial, unless_running=not anyway
        ),
    )


@require_safe
@requires(Capability.START_RUNS)
def preview(request: MemberRequest) -> HttpResponse:
    """Show the messages of three questions of each task, word for word; nothing is planned."""
    form = NewRunForm(request.GET, user=request.user)
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
        if name in ("csrfmiddlewaretoken", "key", "shown", "trial", "anyway") or not any(
            sent.getlist(name)
        ):
            del sent[name]
    return sent.urlencode()

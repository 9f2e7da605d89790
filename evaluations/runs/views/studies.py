"""Pages of studies: the list, a new one, one with its runs, and its actions."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from evaluations.facts.looks import record_figures
from evaluations.runs.forms.runs import BudgetForm
from evaluations.runs.forms.studies import ConditionRow, StudyForm
from evaluations.runs.selectors.choice_words import chosen_of
from evaluations.runs.selectors.chosen_questions import chosen_questions, counted
from evaluations.runs.selectors.studies import get_study, studies, study_progress
from evaluations.runs.services import studies as services
from evaluations.runs.services.run_estimates import (
    most_cost_of_study,
    most_cost_of_study_resume,
    study_cost,
)
from evaluations.runs.tasks import ask_for_work
from evaluations.runs.views.runs import or_anyway
from gradeapp.accounts.confirmation import check_cost
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput, Refusal

CONDITIONS = 6


@require_safe
@requires(Capability.SEE_RUNS)
def study_list(request: MemberRequest) -> HttpResponse:
    """List all studies."""
    context = {"studies": studies(), "may_start": request.user.may(Capability.START_RUNS)}
    return render(request, "evaluations/runs/studies.html", context)


@require_safe
@requires(Capability.SEE_RUNS)
def study_page(request: MemberRequest, pk: int) -> HttpResponse:
    """Show one study: a row for each run, with progress, cost and time left."""
    return render(request, "evaluations/runs/study.html", _context(request, pk))


@require_safe
@requires(Capability.SEE_RUNS)
def study_rows(request: MemberRequest, pk: int) -> HttpResponse:
    """Return the progress fragment, or reload the page if the state of a run has changed."""
    context = _context(request, pk)
    if request.GET.get("state") != context["far"].state:
        return HttpResponseClientRefresh()
    return render(request, "evaluations/runs/_study_rows.html", context)


def _context(request: MemberRequest, pk: int) -> dict[str, Any]:
    study = get_study(pk)
    far = study_progress(study, timezone.now())
    for run, _progress in far.rows:
        record_figures(run, acting_user=request.user, page="study")
    return {
        "study": study,
        "far": far,
        "chosen": chosen_of(study),
        "may_start": request.user.may(Capability.START_RUNS),
        "budget_form": BudgetForm(),
    }


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.START_RUNS)
def new_study(request: MemberRequest) -> HttpResponse:
    """Show the form of a new study with what it will ask and cost, or start it."""
    sent = request.POST if request.method == "POST" else request.GET
    bound = request.method == "POST" or "name" in sent
    given: dict[str, Any] = {"data": sent} if bound else {"initial": {"key": uuid.uuid4()}}
    form = StudyForm(**given, user=request.user)
    rows = [
        ConditionRow(sent if bound else None, prefix=f"c{n}", initial=_first_row(n))
        for n in range(1, CONDITIONS + 1)
    ]
    context: dict[str, Any] = {
        "form": form,
        "conditions": rows,
        "more_is_open": any(row["setting"].value() for row in rows[2:]),
        "choice_is_open": bound,
        "address": request.path,
    }
    if bound and all([form.is_valid(), *(row.is_valid() for row in rows)]):
        chosen = [row for row in rows if row.cleaned_data["setting"]]
        try:
            wanted = form.wanted(chosen)
            if request.method == "POST":
                check_cost(request, lambda: most_cost_of_study(wanted))
                with transaction.atomic():
                    study = services.start_study(**wanted, acting_user=request.user)
                    for run in study.runs.order_by("pk"):
                        transaction.on_commit(partial(ask_for_work, run.pk))
                return redirect("runs:study", study.pk)
            context |= _estimated(wanted)
        except Refusal as refusal:
            context["refused"] = str(refusal)
            if request.method == "POST":
                form.add_error(None, str(refusal))
    status = 400 if request.method == "POST" else 200
    return render(request, "evaluations/runs/study_new.html", context, status=status)


def _first_row(number: int) -> dict[str, str]:
    return {"setting": "zero-shot"} if number == 1 else {}


def _estimated(wanted: dict[str, Any]) -> dict[str, Any]:
    """Return what the study would ask and cost. Raises Refusal."""
    given = {name: wanted[name] for name in ("dataset", "choice", "repeats")}
    return {
        "counts": counted(chosen_questions(wanted["dataset"], wanted["choice"])),
        "n_runs": len(wanted["pairs"]),
        "cost": study_cost(wanted["pairs"], **given),
    }


@require_POST
@requires(Capability.START_RUNS)
def study_stop(request: MemberRequest, pk: int) -> HttpResponse:
    """Stop all runs of a study."""
    n = services.stop_study(get_study(pk), acting_user=request.user)
    stopped = ngettext("%(n)d run is stopped.", "%(n)d runs are stopped.", n)
    messages.success(request, stopped % {"n": n})
    return redirect("runs:study", pk)


@require_POST
@requires(Capability.START_RUNS)
@or_anyway
def study_resume(request: MemberRequest, pk: int) -> HttpResponse:
    """Resume the runs of a study, with a higher budget if one was entered."""
    form = BudgetForm(request.POST)
    if not form.is_valid():
        raise BadInput(_("The budget must be an amount such as 12.50."))
    study, budget = get_study(pk), form.cleaned_data["budget"]
    check_cost(request, lambda: most_cost_of_study_resume(study, budget))
    once = "anyway" not in request.POST
    runs = services.resume_study(
        study, acting_user=request.user, budget=budget, unless_running=once
    )
    for run in runs:
        transaction.on_commit(partial(ask_for_work, run.pk))
    return redirect("runs:study", pk)

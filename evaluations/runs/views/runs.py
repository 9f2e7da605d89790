"""Pages of runs: the list, one run, and its actions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from evaluations.facts.looks import record_calls, record_figures
from evaluations.models import Job, Run
from evaluations.models.vocabulary import PauseReason, RunPurpose, RunStatus
from evaluations.runs.forms.runs import BudgetForm, RunPageFilter
from evaluations.runs.kinds import kind_of, panels_of
from evaluations.runs.selectors import runs as reading
from evaluations.runs.selectors.asked import examples_used, images_asked
from evaluations.runs.selectors.batches import awaited, batches_of
from evaluations.runs.selectors.choice_words import chosen_of
from evaluations.runs.selectors.kept_figures import kept
from evaluations.runs.selectors.reply_states import few_of_a_state, reply_states
from evaluations.runs.selectors.run_notices import page_notice
from evaluations.runs.selectors.runs import get_run, may_extend
from evaluations.runs.selectors.workers import START_A_WORKER, replies_waiting, workers_at
from evaluations.runs.services import runs as services
from evaluations.runs.services.run_estimates import (
    costs_anything,
    most_cost_of_resume,
    most_cost_of_retry,
)
from evaluations.runs.tasks import ask_for_work
from gradeapp.accounts.confirmation import check_confirmed, check_cost
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.database_clock import database_now
from gradeapp.common.refusals import BadInput, Conflict
from gradeapp.http import page_above

PAGE = 25


@require_safe
@requires(Capability.SEE_RUNS)
def run_list(request: MemberRequest) -> HttpResponse:
    """List runs by filter, newest first."""
    filters = RunPageFilter(request.GET, reading.runs())
    page = Paginator(filters.qs, PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "filters": filters,
        "may_start": request.user.may(Capability.START_RUNS),
        "workers": workers_at(database_now()),
        "start_a_worker": START_A_WORKER,
    }
    return render(request, "evaluations/runs/list.html", context)


@require_safe
@requires(Capability.SEE_RUNS)
def run_page(request: MemberRequest, pk: int) -> HttpResponse:
    """Show one run with its progress, tasks, errors and settings."""
    run = get_run(pk)
    note_figures(run, request.user)
    panels = panels_of(run, request.user)
    context = {
        **progress_context(run, may_start=request.user.may(Capability.START_RUNS)),
        "budget_form": BudgetForm() if run.pause_reason == PauseReason.BUDGET else None,
        "panels": panels,
        "may_extend": may_extend(run),
    }
    for panel in panels:
        context.update(panel.context)
    return render(request, "evaluations/runs/run.html", context)


@require_safe
@requires(Capability.SEE_RUNS)
def run_progress(request: MemberRequest, pk: int) -> HttpResponse:
    """Return the progress fragment, or reload the page if the state has changed.

    The notice is included only if it has changed, so that a screen reader reads it once, and so
    is the table of batches, so that nothing moves below a pointer.
    """
    run = get_run(pk, counted=False)
    note_figures(run, request.user)
    context = progress_context(run, may_start=request.user.may(Capability.START_RUNS))
    if request.GET.get("state") != context["state"]:
        return HttpResponseClientRefresh()
    has = request.GET.get("notice", context["notice_key"])
    context["new_notice"] = has != context["notice_key"]
    if batches := context["batches"]:
        context["new_batches"] = request.GET.get("batches", batches.key) != batches.key
    return render(request, "evaluations/runs/_progress.html", context)


def note_figures(run: Run, user: User) -> None:
    """Keep what the figures on the page of *run* tell of single responses as looks."""
    if not record_figures(run, acting_user=user, page="run") and run.purpose == RunPurpose.ANSWER:
        few = Job.objects.filter(pk__in=few_of_a_state(run))
        record_calls(few, acting_user=user, page="run")


def progress_context(run: Run, *, may_start: bool) -> dict[str, Any]:
    """Return the context of the page and the fragment."""
    now = database_now()
    progress = reading.progress(run, now)
    jobs = progress.planned
    notice = page_notice(run, progress, now)
    return {
        "run": run,
        "kind": kind_of(run),
        "progress": progress,
        # Waiting for the endpoint, and the single call in between, are one state.
        "state": "waiting" if progress.waits else run.status,
        "notice": notice,
        "notice_key": notice.key if notice else "none",
        "may_start": may_start,
        "tasks": reading.by_task(run, kept(run, jobs, "measured", reading.measured_by_task)),
        "images": kept(run, jobs, "images", images_asked),
        "examples": examples_used(run),
        "chosen": chosen_of(run) if run.condition else [],
        "reply_states": kept(run, jobs, "replies", reply_states),
        "errors": kept(run, jobs, "errors", reading.errors),
        "batches": batches_of(run) if run.by_batch else None,
        "awaited": kept(run, jobs, "awaited", awaited) if run.by_batch else None,
        "replies_waiting": replies_waiting(run),
        "currency": run.run_settings.get("currency", ""),
    }


@require_POST
@requires(Capability.START_RUNS)
def stop(request: MemberRequest, pk: int) -> HttpResponse:
    """Stop a run."""
    services.stop_run(get_run(pk), acting_user=request.user)
    messages.success(
        request, _("No new calls are sent. Replies to calls in progress are still stored.")
    )
    return redirect("runs:run", pk)


@require_POST
@requires(Capability.START_RUNS)
def pause(request: MemberRequest, pk: int) -> HttpResponse:
    """Pause a run."""
    services.pause_run(get_run(pk), acting_user=request.user)
    messages.success(
        request, _("No new calls are sent. Replies to calls in progress are still stored.")
    )
    return redirect("runs:run", pk)


def or_anyway(
    view: Callable[[MemberRequest, int], HttpResponse],
) -> Callable[[MemberRequest, int], HttpResponse]:
    """Where *view* is refused because of a run with the same plan, offer to do it anyway."""

    @wraps(view)
    def offering(request: MemberRequest, pk: int) -> HttpResponse:
        try:
            return view(request, pk)
        except Conflict as refusal:
            if refusal.code != "same_run":
                raise
            context = {
                "refusal": refusal,
                "same_run": refusal.details["run"],
                "back": page_above(request.path),
                "address": request.path,
                "budget": request.POST.get("budget"),
            }
            return render(request, "evaluations/runs/same_run.html", context, status=409)

    return offering


@require_POST
@requires(Capability.START_RUNS)
@or_anyway
def resume(request: MemberRequest, pk: int) -> HttpResponse:
    """Resume a run, with a higher budget if one was entered."""
    form = BudgetForm(request.POST)
    if not form.is_valid():
        raise BadInput(_("The budget must be an amount such as 12.50."))
    run, budget = get_run(pk), form.cleaned_data["budget"]
    check_cost(request, lambda: most_cost_of_resume(run, budget))
    once = "anyway" not in request.POST
    services.resume_run(run, acting_user=request.user, budget=budget, unless_running=once)
    transaction.on_commit(partial(ask_for_work, pk))
    return redirect("runs:run", pk)


@require_POST
@requires(Capability.START_RUNS)
@or_anyway
def retry(request: MemberRequest, pk: int) -> HttpResponse:
    """Retry the failed calls of a run."""
    run = get_run(pk)
    check_cost(request, lambda: most_cost_of_retry(run))
    once = "anyway" not in request.POST
    n = services.retry_failed(run, acting_user=request.user, unless_running=once)
    transaction.on_commit(partial(ask_for_work, pk))
    if get_run(pk).status in (RunStatus.PAUSED, RunStatus.STOPPING, RunStatus.STOPPED):
        tried = ngettext(
            "%(n)d call is tried again when the run goes on.",
            "%(n)d calls are tried again when the run goes on.",
            n,
        )
    else:
        tried = ngettext("Retrying %(n)d call.", "Retrying %(n)d calls.", n)
    messages.success(request, tried % {"n": n})
    return redirect("runs:run", pk)


@require_POST
@requires(Capability.START_RUNS)
@or_anyway
def extend(request: MemberRequest, pk: int) -> HttpResponse:
    """Go on with all questions after a trial."""
    run = get_run(pk)
    if costs_anything(run):
        check_confirmed(request)
    once = "anyway" not in request.POST
    n = services.extend_run(run, acting_user=request.user, unless_running=once)
    transaction.on_commit(partial(ask_for_work, pk))
    planned = ngettext("%(n)d more call is planned.", "%(n)d more calls are planned.", n)
    messages.success(request, planned % {"n": n})
    return redirect("runs:run", pk)

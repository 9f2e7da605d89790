"""Scoring again in the background: what is under way, and what people do to it."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluations.models import Rescoring, Run
from evaluations.reading.forms.rescoring import RescoringForm
from evaluations.reading.selectors import rescorings as reading
from evaluations.reading.services import rescoring_jobs as services
from evaluations.reading.services.readers import ERROR_TEXT_VERSION
from evaluations.reading.services.scoring import PRESENT_READERS
from evaluations.reading.tasks import ask_for_rescoring
from gradeapp.accounts.permissions import MemberRequest, check, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.background_work.services import note_if_lost
from gradeapp.common.background_work.views import moving_part
from gradeapp.common.refusals import NotFound, Refusal

PAGE = 25
# Leads answer for how answers are scored, as they answer for how they are marked.
DECIDES = Capability.LEAD_ROUNDS


def found(pk: int) -> Rescoring:
    """The rescoring *pk*; refuses where there is none."""
    job = reading.rescorings().filter(pk=pk).first()
    if job is None:
        raise NotFound(_("There is no such rescoring."))
    return job


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.SEE_RUNS)
def rescoring_list(request: MemberRequest) -> HttpResponse:
    """Past rescorings, and the form of a new one."""
    form = RescoringForm()
    if request.method == "POST":
        check(request.user, DECIDES)
        form = RescoringForm(request.POST)
        if form.is_valid():
            try:
                job = start(form, request)
            except Refusal as refusal:
                form.add_error(None, str(refusal))
            else:
                return redirect("scoring:rescoring", job.pk)
    context = {
        "form": form,
        "page": Paginator(reading.rescorings(), PAGE).get_page(request.GET.get("page")),
        "may_decide": request.user.may(DECIDES),
        "outdated": scored_before(None),
    }
    status = 400 if form.errors else 200
    return render(request, "evaluations/reading/scoring/list.html", context, status=status)


def scored_before(run: Run | None) -> int:
    """How many responses (of *run*) have scores of an earlier version of the readers alone."""
    found = reading.scored_by_earlier_readers(PRESENT_READERS, ERROR_TEXT_VERSION)
    return (found if run is None else found.filter(run=run)).count()


def start(form: RescoringForm, request: MemberRequest) -> Rescoring:
    """Start what the form says, and tell the workers after the commit."""
    with transaction.atomic():
        job = services.start_rescoring(*form.wanted(), acting_user=request.user)
        transaction.on_commit(partial(ask_for_rescoring, job.pk))
    return job


@require_safe
@requires(Capability.SEE_RUNS)
def rescoring_page(request: MemberRequest, pk: int) -> HttpResponse:
    """One rescoring: how far it is, and what can be done with it."""
    context = progress_context(request, found(pk))
    return render(request, "evaluations/reading/scoring/rescoring.html", context)


@require_safe
@requires(Capability.SEE_RUNS)
def rescoring_progress(request: MemberRequest, pk: int) -> HttpResponse:
    """The moving part of the page; the whole page anew once the state is another one."""
    context = progress_context(request, found(pk))
    return moving_part(request, "evaluations/reading/scoring/_progress.html", context)


def progress_context(request: MemberRequest, job: Rescoring) -> dict[str, Any]:
    """What page and fragment show alike."""
    now = timezone.now()
    note_if_lost(job, now)
    return {
        "job": job,
        "state": job.status,
        "progress": reading.progress(job, now),
        "goes_on": job.goes_on,
        "may_decide": request.user.may(DECIDES),
    }


@require_POST
@requires(DECIDES)
def stop(request: MemberRequest, pk: int) -> HttpResponse:
    """Stop after the batch that is being scored."""
    services.stop_rescoring(found(pk), acting_user=request.user)
    messages.success(request, _("It stops after the responses at hand; their scores stay."))
    return redirect("scoring:rescoring", pk)


@require_POST
@requires(DECIDES)
def resume(request: MemberRequest, pk: int) -> HttpResponse:
    """Go on where it was."""
    services.resume_rescoring(found(pk), acting_user=request.user)
    transaction.on_commit(partial(ask_for_rescoring, pk))
    return redirect("scoring:rescoring", pk)

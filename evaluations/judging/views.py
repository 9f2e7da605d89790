"""Pages of judges and judgements, and the start of a judge."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from evaluations.facts.looks import record_scope, record_views
from evaluations.judging.forms import JudgeForm, JudgementFilter, JudgeRunForm
from evaluations.judging.selectors import (
    is_proven,
    judge_lines,
    judged_response,
    judgement_list,
    judges_of_run,
)
from evaluations.judging.services import judge_for, most_cost_of_judging, start_judge_run
from evaluations.judging.services.repeated_texts import review_repeated_texts
from evaluations.models import Judge
from evaluations.runs.selectors.runs import get_run
from evaluations.runs.tasks import ask_for_work
from gradeapp.accounts.confirmation import check_cost
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items
from gradeapp.common.refusals import BadInput
from questions.selectors.bank import image_addresses

PAGE = 50


@require_safe
@requires(Capability.SEE_JUDGEMENTS)
def judge_list(request: MemberRequest) -> HttpResponse:
    """List the judges of each dataset, with the form that starts one."""
    return render(request, "evaluations/judging/list.html", list_context(request))


def list_context(request: MemberRequest, form: JudgeRunForm | None = None) -> dict[str, Any]:
    """Return the context of the list, with the form for users who may start runs.

    Who looks has seen the marks of responses where a line is about few of them.
    """
    may_start = request.user.may(Capability.START_RUNS)
    lines = judge_lines()
    few = {one for line in lines for one in line.few}
    record_views(few, acting_user=request.user, page="judgements")
    return {"lines": lines, "form": form or (JudgeRunForm() if may_start else None)}


@require_POST
@requires(Capability.START_RUNS)
def judge_start(request: MemberRequest) -> HttpResponse:
    """Start a judge for a run."""
    form = JudgeRunForm(request.POST)
    if not form.is_valid():
        context = list_context(request, form)
        return render(request, "evaluations/judging/list.html", context, status=400)
    said = form.cleaned_data
    check_cost(
        request,
        lambda: most_cost_of_judging(
            said["run"], said["endpoint"], max_tokens=form.choice().max_tokens
        ),
    )
    with transaction.atomic():
        judge = judge_for(said["endpoint"], form.choice())
        run = start_judge_run(said["run"], judge, acting_user=request.user, **form.start())
        transaction.on_commit(partial(ask_for_work, run.pk))
    messages.success(request, _("%(judge)s has started marking.") % {"judge": judge.name})
    warn_if_unproven(request, judge)
    return redirect("runs:run", run.pk)


def warn_if_unproven(request: MemberRequest, judge: Judge) -> None:
    """Tell the user if no canaries have shown yet that the marks of *judge* may be used."""
    if not is_proven(judge):
        messages.warning(
            request,
            _(
                "%(judge)s is not proven yet: too few canaries of this model under these prompts "
                "have been marked. Wait for its check before you use its marks."
            )
            % {"judge": judge.name},
        )


@require_safe
@requires(Capability.SEE_JUDGEMENTS)
def judge_page(request: MemberRequest, judge_id: int) -> HttpResponse:
    """List the judgements of one judge by filter."""
    judge = get_object_or_404(Judge, pk=judge_id)
    filters = JudgementFilter(request.GET, judgement_list().filter(judge=judge).defer("reply"))
    page = Paginator(filters.qs, PAGE).get_page(request.GET.get("page"))
    count_items(request.user, "mark", [judgement.response_id for judgement in page])
    record_scope(filters.scope(), acting_user=request.user, page="judgements")
    context = {"judge": judge, "filters": filters, "page": page}
    return render(request, "evaluations/judging/judge.html", context)


@require_safe
@requires(Capability.SEE_JUDGEMENTS)
def judgement_page(request: MemberRequest, judge_id: int, response_id: UUID) -> HttpResponse:
    """Show one response with the judge's replies and the teachers' final mark."""
    judge = get_object_or_404(Judge, pk=judge_id)
    judged = judged_response(judge, response_id)
    if judged is None:
        raise Http404
    record_views([judged.response.pk], acting_user=request.user, page="judgements")
    revision = judged.response.revision
    images = image_addresses(judged.response.question.task.dataset, revision.images)
    context = {"judge": judge, "judged": judged, "revision": revision, "images": images}
    return render(request, "evaluations/judging/judgement.html", context)


@require_safe
@requires(Capability.SEE_RUNS)
def run_judges(request: MemberRequest, pk: int) -> HttpResponse:
    """Show the progress of the judges of a run, which continue after the run itself."""
    return render(request, "evaluations/judging/_judge_runs.html", judges_of_run(get_run(pk)))


@require_POST
@requires(Capability.START_RUNS)
def judge_run(request: MemberRequest, pk: int) -> HttpResponse:
    """Start a judge for the run of the page."""
    form = JudgeForm(request.POST)
    if not form.is_valid():
        name, errors = next(iter(form.errors.items()))
        label = form.fields[name].label if name in form.fields else None
        raise BadInput(f"{label}: {errors[0]}" if label else str(errors[0]))
    said, run = form.cleaned_data, get_run(pk)
    check_cost(
        request,
        lambda: most_cost_of_judging(
            run, said["judge"], said["budget"], max_tokens=form.choice().max_tokens
        ),
    )
    with transaction.atomic():
        judge = judge_for(said["judge"], form.choice())
        judging = start_judge_run(
            run, judge, budget=said["budget"], acting_user=request.user, **form.start()
        )
        transaction.on_commit(partial(ask_for_work, judging.pk))
    warn_if_unproven(request, judge)
    return redirect("runs:run", judging.pk)


@require_POST
@requires(Capability.LEAD_ROUNDS)
def repeated_reviewed(request: MemberRequest, pk: int) -> HttpResponse:
    """Note that the repeated texts of a run were looked at; calibration has its marks again."""
    run = get_run(pk)
    review_repeated_texts(run, acting_user=request.user)
    messages.success(request, _("Calibration compares the marks of this run again."))
    return redirect("runs:run", run.pk)

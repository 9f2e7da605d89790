"""Pages of the responses of a run, and of one response."""

from __future__ import annotations

from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from evaluations.facts.looks import record_scope, record_views
from evaluations.runs.forms.runs import ResponseFilter
from evaluations.runs.kinds import kind_of
from evaluations.runs.rules.option_order import asked_as_shown
from evaluations.runs.selectors.responses import (
    jobs_of,
    keys_of,
    readings_of,
    response_whole,
    responses_of,
)
from evaluations.runs.selectors.runs import get_run
from evaluations.runs.services.calls import sent_calls
from evaluations.statistics.policies import Policy
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items
from gradeapp.common.refusals import NotFound
from questions.selectors.bank import image_addresses

PAGE = 50


@require_safe
@requires(Capability.SEE_RUNS)
def response_list_page(request: MemberRequest, pk: int) -> HttpResponse:
    """List the responses of a run by filter."""
    run = get_run(pk)
    filters = ResponseFilter(request.GET, queryset=responses_of(run), run=run)
    page = Paginator(filters.qs, PAGE).get_page(request.GET.get("page"))
    record_scope(filters.scope(), acting_user=request.user, page="responses")
    count_items(request.user, "response", (one.public_id for one in page))
    context = {"run": run, "kind": kind_of(run), "filters": filters, "page": page}
    return render(request, "evaluations/runs/responses.html", context)


@require_safe
@requires(Capability.SEE_RUNS)
def response_page(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """Show one response with its question, readings, scores and attempts."""
    response = response_whole(public_id)
    if response is None:
        raise NotFound(_("There is no such response."))
    record_views([response.pk], acting_user=request.user, page="responses")
    whole = request.user.may(Capability.START_RUNS)
    context = {
        "response": response,
        "run": response.run,
        "question": response.question,
        "revision": response.revision,
        "asked": asked_as_shown(response.revision, response.option_order),
        "shown_options": list(zip(response.revision.letters, response.option_order, strict=False)),
        "images": image_addresses(response.question.task.dataset, response.revision.images),
        "keys": keys_of(response, response.strict_score, Policy.STRICT),
        "readings": readings_of(response),
        "jobs": [(job, sent_calls(response.run, job, whole=whole)) for job in jobs_of(response)],
    }
    return render(request, "evaluations/runs/response.html", context)

"""Pages of conditions: the list by model, and one condition with its name."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from evaluations.runs.forms.conditions import ConditionFilter
from evaluations.runs.selectors.conditions import (
    conditions,
    get_condition,
    reply_names,
    settings_words,
)
from evaluations.runs.selectors.runs import runs
from evaluations.runs.services.conditions import rename_condition
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import Refusal

PAGE = 50
MOST_RUNS = 50


@require_safe
@requires(Capability.SEE_RUNS)
def condition_list(request: MemberRequest) -> HttpResponse:
    """List the conditions of each model with their settings in words."""
    filters = ConditionFilter(request.GET, conditions())
    page = Paginator(filters.qs, PAGE).get_page(request.GET.get("page"))
    shown = list(page.object_list)
    names = reply_names(shown)
    rows = [(one, settings_words(one), names.get(one.pk, {})) for one in shown]
    context = {"page": page, "filters": filters, "rows": rows}
    return render(request, "evaluations/runs/conditions.html", context)


@require_safe
@requires(Capability.SEE_RUNS)
def condition_page(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """Show one condition: its settings, the models that replies named, and its runs."""
    return _page(request, public_id)


@require_POST
@requires(Capability.START_RUNS)
def condition_rename(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """Give a condition another name."""
    condition = get_condition(public_id)
    name = request.POST.get("name", "")
    try:
        rename_condition(condition, name, acting_user=request.user)
    except Refusal as refusal:
        return _page(request, public_id, refusal=str(refusal), name=name, status=refusal.status)
    messages.success(request, _("%(name)s saved.") % {"name": condition.name})
    return redirect("runs:condition", public_id)


def _page(
    request: MemberRequest, public_id: UUID, *, refusal: str = "", name: str = "", status: int = 200
) -> HttpResponse:
    condition = get_condition(public_id)
    context = {
        "condition": condition,
        "words": settings_words(condition),
        "names": reply_names([condition]).get(condition.pk, {}),
        "runs": runs().filter(condition=condition)[:MOST_RUNS],
        "may_start": request.user.may(Capability.START_RUNS),
        "refusal": refusal,
        "name": name or condition.name,
    }
    return render(request, "evaluations/runs/condition.html", context, status=status)

"""Saved views of the question list: keep, rename, take away."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from questions.services import saved_views as services


def to_list(query: str) -> HttpResponse:
    """Back to the list with *query*; only its parameters are taken, so it leads nowhere else."""
    clean = QueryDict(query).urlencode()
    return redirect(reverse("questions:list") + (f"?{clean}" if clean else ""))


@require_POST
@requires(Capability.SEE_QUESTIONS)
def save(request: MemberRequest) -> HttpResponse:
    """Keep the filters of the list under a name."""
    query = request.POST.get("query", "")
    view = services.save_view(request.POST.get("name", ""), query, acting_user=request.user)
    messages.success(request, _("The view “%(name)s” was saved.") % {"name": view.name})
    return to_list(view.query)


@require_POST
@requires(Capability.SEE_QUESTIONS)
def rename(request: MemberRequest, pk: int) -> HttpResponse:
    """Call a view something else."""
    view = services.rename_view(pk, request.POST.get("name", ""), acting_user=request.user)
    messages.success(request, _("The view was renamed to “%(name)s”.") % {"name": view.name})
    return to_list(request.POST.get("query", ""))


@require_POST
@requires(Capability.SEE_QUESTIONS)
def delete(request: MemberRequest, pk: int) -> HttpResponse:
    """Take a view away."""
    services.delete_view(pk, acting_user=request.user)
    messages.success(request, _("The view was deleted. No question was changed."))
    return to_list(request.POST.get("query", ""))

"""The first page, which sends everybody to where their work is, and the icon of the site."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from gradeapp.accounts.permissions import closed_to
from gradeapp.accounts.roles import Capability
from gradeapp.context import navigation
from gradeapp.waiting import waiting_for


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """A teacher goes to the desk; everybody else sees the pages that are theirs."""
    if request.user.capabilities == {Capability.MARK}:
        return redirect("/marking/")
    user: Any = request.user
    context = {"entries": navigation(request)["nav"], "waiting": waiting_for(user)}
    context["closed"] = closed_to(user)
    return render(request, "home.html", context)


@require_safe
@login_not_required
def icon(request: HttpRequest) -> HttpResponse:
    """Where a browser looks that was told of no icon, as on a file or the operators' pages."""
    return redirect(static("img/favicon.ico"))

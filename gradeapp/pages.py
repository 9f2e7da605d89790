"""The first page: it sends everybody to where their work is."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from gradeapp.accounts.roles import Capability
from gradeapp.context import navigation


def home(request: HttpRequest) -> HttpResponse:
    """A teacher goes to the desk; everybody else sees the pages that are theirs."""
    if request.user.capabilities == {Capability.MARK}:
        return redirect("/marking/")
    return render(request, "home.html", {"entries": navigation(request)["nav"]})

"""The moving part of a page of work in the background."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_htmx.http import HttpResponseClientRefresh


def moving_part(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """*template* alone; the whole page anew once the state is another than the page shows."""
    if request.GET.get("state") != context["state"]:
        return HttpResponseClientRefresh()
    return render(request, template, context)

"""One view that saves one row and renders a small template, and its address."""

from __future__ import annotations

from decimal import Decimal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from bench.bare.models import Row


def save(request: HttpRequest) -> HttpResponse:
    """Store what was sent and show it."""
    row = Row.objects.create(text=request.POST["comment"], total=Decimal(request.POST["total"]))
    return render(request, "bare/saved.html", {"row": row, "points": range(6)})


urlpatterns = [path("save/", save)]

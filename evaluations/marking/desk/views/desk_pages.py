"""What a teacher's desk and a reviewer's do alike: a page or its fragment, and where it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django_htmx.http import push_url

from gradeapp.accounts.permissions import MemberRequest


def at_hand(request: MemberRequest) -> UUID | None:
    """The response or answer that the page showed when it asked; None for none that is one."""
    try:
        return UUID(request.POST.get("answer", ""))
    except ValueError:
        return None


def desk_page(
    request: MemberRequest, folder: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """The whole desk of a template *folder*, or what htmx puts in its place."""
    name = "_desk.html" if request.htmx else "desk.html"
    context |= {"fragment": request.htmx}
    return render(request, f"evaluations/{folder}/{name}", context, status=status)


def shown_at(
    request: MemberRequest, address: str, shown: Callable[[], HttpResponse]
) -> HttpResponse:
    """What stands at *address*: there, or in the place of the desk with the address above it."""
    return push_url(shown(), address) if request.htmx else redirect(address)

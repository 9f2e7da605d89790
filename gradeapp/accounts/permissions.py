"""Permission checks of interfaces: a decorator for pages, a class for the API."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django_htmx.middleware import HtmxDetails
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import NotAllowed

View = Callable[..., HttpResponse]


class MemberRequest(HttpRequest):
    """A request that passed ``requires``: there is a user of ours behind it."""

    user: User
    htmx: HtmxDetails


def check(user: Any, capability: Capability) -> None:
    """Raise NotAllowed unless *user* may do *capability*."""
    if not user.is_authenticated or not user.may(capability):
        raise NotAllowed(_("You don't have access. If you need access, ask an admin."))


def requires(capability: Capability) -> Callable[[View], View]:
    """A page for those who may do *capability*; everybody else is refused."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            check(request.user, capability)
            return view(request, *args, **kwargs)

        guarded.capability = capability  # type: ignore[attr-defined]
        return guarded

    return decorate


class NobodyUnlessAllowed(BasePermission):
    """The API's default: a route names its ``capability`` (or one per method) or is closed."""

    def has_permission(self, request: Request, view: Any) -> bool:
        needed = getattr(view, "capability", None)
        if isinstance(needed, dict):
            needed = needed.get(request.method)
        user = request.user
        return bool(needed and user.is_authenticated and user.may(needed))

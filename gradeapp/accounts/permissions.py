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

from gradeapp.accounts.blindness import CLOSED, CLOSED_BY_LEAD
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.accounts.session_rules import held_back
from gradeapp.common.refusals import NotAllowed

View = Callable[..., HttpResponse]


class MemberRequest(HttpRequest):
    """A request that passed ``requires``: there is a user of ours behind it."""

    user: User
    htmx: HtmxDetails


def check(user: Any, capability: Capability) -> None:
    """Raise NotAllowed unless *user* may do *capability* now."""
    if not user.is_authenticated or not user.may(capability):
        if user.is_authenticated and capability in user.granted:
            raise NotAllowed(closed_to(user), code="marking")
        raise NotAllowed(_("You don't have access. If you need access, ask an admin."))


def closed_to(user: User) -> Any:
    """Why some of what the roles of *user* allow is closed just now; empty where nothing is."""
    if user.granted == user.capabilities:
        return ""
    return CLOSED if user.may(Capability.MARK) else CLOSED_BY_LEAD


def requires(capability: Capability) -> Callable[[View], View]:
    """A page for those who may do *capability*; everybody else is refused."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            check(request.user, capability)
            # A request that waited for the password does not pass the middleware again.
            if held := held_back(request):
                page, sentence = held
                raise NotAllowed(sentence, code=page)
            return view(request, *args, **kwargs)

        guarded.capability = capability  # type: ignore[attr-defined]
        return guarded

    return decorate


def exports(view: View) -> View:
    """A page that answers with a file: an API token of the scope ``export`` may fetch it too."""
    view.exports = True  # type: ignore[attr-defined]
    return view


class NobodyUnlessAllowed(BasePermission):
    """The API's default: a route names its ``capability`` (or one per method) or is closed."""

    def has_permission(self, request: Request, view: Any) -> bool:
        needed = getattr(view, "capability", None)
        if isinstance(needed, dict):
            needed = needed.get(request.method)
        user = request.user
        if not needed or not user.is_authenticated:
            return False
        if needed in user.granted:
            check(user, needed)  # while they mark, a sentence says why and until when
        return bool(user.may(needed))

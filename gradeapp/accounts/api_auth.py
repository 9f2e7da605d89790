"""Who is behind a request of a script: a token in the header, or the session of a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request

from gradeapp.accounts.models import ApiToken, User
from gradeapp.accounts.roles import Capability
from gradeapp.accounts.scopes import Scope, scope_for
from gradeapp.accounts.tokens import BadToken, person_behind
from gradeapp.common.refusals import NotAllowed, Refusal

View = Callable[..., HttpResponse]


def token_in(request: HttpRequest | Request) -> str | None:
    """The token in the header ``Authorization: Bearer``, nowhere else; None without that header."""
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _space, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise BadToken(_("Send the token in the header Authorization: Bearer TOKEN."))
    return token.strip()


def check_scope(token: ApiToken, scope: Scope) -> None:
    """Raise NotAllowed unless *token* was made for *scope*."""
    if scope.value not in token.scopes:
        raise NotAllowed(
            _("The token may not do this: it needs “%(scope)s”.") % {"scope": scope.value},
            code="token_scope",
        )


class TokenOrSession(SessionAuthentication):
    """A token where the header has one, and then nothing else; otherwise the session."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken | None] | None:
        token = token_in(request)
        if token is None:
            return super().authenticate(request)  # type: ignore[return-value]
        user, row = person_behind(token)
        view = (request.parser_context or {}).get("view")
        needed = getattr(view, "capability", None)
        if isinstance(needed, dict):
            needed = needed.get(request.method)
        check_scope(row, scope_for(needed, request.method))
        return user, row


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema names it."""

    target_class = "gradeapp.accounts.api_auth.TokenOrSession"
    name = ["token", "session"]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, str]]:
        return [
            {"type": "http", "scheme": "bearer"},
            {"type": "apiKey", "in": "cookie", "name": "sessionid"},
        ]


class ExportsByToken:
    """Files that the pages export may also be fetched with a token of the scope ``export``.

    Stands after the session and before the check of the login.
    """

    def __init__(self, get_response: View) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: View, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        """Put the person of the token into the place of that of the session."""
        exports = getattr(view, "capability", None) == Capability.EXPORT or getattr(
            view, "exports", False
        )
        if not exports or request.method not in ("GET", "HEAD"):
            return None
        try:
            token = token_in(request)
            if token is not None:
                request.user, row = person_behind(token)
                check_scope(row, Scope.EXPORT)
                request.auth = row  # type: ignore[attr-defined]
        except Refusal as refusal:
            body = {"code": refusal.code, "detail": str(refusal), **refusal.details}
            return JsonResponse(body, status=refusal.status)
        return None

"""How much one request may send: looked at before anything of it is read or written to disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.utils.translation import gettext as _

from gradeapp.accounts.api_auth import check_scope, token_in
from gradeapp.accounts.roles import Capability
from gradeapp.accounts.scopes import scope_for
from gradeapp.accounts.tokens import BadToken, is_known, person_of
from gradeapp.common.refusals import BadInput, Refusal

View = Callable[..., HttpResponse]
# Read and thrown away, so that a browser that is still sending comes to see the sentence.
MOST_DISCARDED = 512 * 2**20
CHUNK = 1 << 16
# Logins, codes, links, languages: what somebody sends who is not logged in. A form of megabytes
# takes seconds to parse.
MOST_KB_OF_STRANGERS = 64


class TooLarge(Refusal):
    """The request is larger than the site takes."""

    status = 413
    code = "too_large"


def takes_uploads(capability: Capability) -> Callable[[View], View]:
    """A page that takes large uploads, from those who may do *capability*."""

    def decorate(view: View) -> View:
        view.upload_capability = capability  # type: ignore[attr-defined]
        return view

    return decorate


class BodyLimit:
    """Stands before the CSRF check, which would read the whole request to find its token."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: View, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        if request.method not in ("POST", "PUT", "PATCH"):
            return None
        capability = getattr(view, "upload_capability", None)
        uploads = capability is not None and may(request, capability)
        megabytes = settings.IMPORT_MAX_UPLOAD_MB if uploads else settings.REQUEST_MAX_BYTES >> 20
        if length(request) > megabytes << 20:
            discard_body(request)
            sentence = _("The upload is larger than the limit of %(n)d MB.")
            return refuse(request, TooLarge(sentence % {"n": megabytes}))
        if length(request) > MOST_KB_OF_STRANGERS << 10 and is_stranger(request):
            discard_body(request)
            return refuse_stranger(request)
        return self.parsed(request) if uploads else None

    def parsed(self, request: HttpRequest) -> HttpResponse | None:
        """Read the form here, where what is wrong with it can be said in a sentence."""
        try:
            request.POST  # noqa: B018
        except TooManyFilesSent:
            most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
            sentence = _(
                "At most %(n)d files can be uploaded at once. Combine them into one .zip file."
            )
            return refuse(request, BadInput(sentence % {"n": most}, code="too_many_files"))
        except (TooManyFieldsSent, MultiPartParserError):
            return refuse(request, BadInput(_("The form could not be read. Send it again.")))
        return None


def may(request: HttpRequest, capability: Capability) -> bool:
    """Whether the person who sends this may do *capability*: that of a token, or of the session.

    The request is counted for the token where the API finds its person.
    """
    try:
        token = token_in(request) if request.path.startswith("/api/") else None
        if token is None:
            return request.user.is_authenticated and request.user.may(capability)
        user, row = person_of(token)
        check_scope(row, scope_for(capability, request.method))
    except Refusal:
        return False
    return user.may(capability)


def is_stranger(request: HttpRequest) -> bool:
    """Whether the request has neither the session of somebody logged in nor a token that works."""
    if request.user.is_authenticated:
        return False
    try:
        token = token_in(request)
    except BadToken:
        return True
    return token is None or not request.path.startswith("/api/") or not is_known(token)


def refuse_stranger(request: HttpRequest) -> HttpResponse:
    """Say that one has to log in first; to a page whose session ended in the way it knows."""
    if request.headers.get("HX-Request"):
        return HttpResponse(status=401)
    sentence = _("Without a login, a request may have at most %(n)d kB. Log in first.")
    return refuse(request, TooLarge(sentence % {"n": MOST_KB_OF_STRANGERS}))


def length(request: HttpRequest) -> int:
    """The length that the request declares; no more than that is ever read of it."""
    text = request.META.get("CONTENT_LENGTH") or "0"
    return int(text) if text.isascii() and text.isdigit() else 0


def discard_body(request: HttpRequest) -> None:
    """Read what is being sent without keeping it."""
    left = min(length(request), MOST_DISCARDED)
    try:
        while left > 0 and (chunk := request.read(min(CHUNK, left))):
            left -= len(chunk)
    except OSError:
        return


def refuse(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    """The sentence as a page, or as JSON to a program."""
    if request.path.startswith("/api/"):
        body = {"code": refusal.code, "detail": str(refusal)}
        return JsonResponse(body, status=refusal.status)
    whole = not request.headers.get("HX-Request")
    template = "refusal.html" if whole else "components/_refusal.html"
    return render(request, template, {"refusal": refusal}, status=refusal.status)

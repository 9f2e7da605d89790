"""Where refusals, sessions and privacy become HTTP: the only place that knows both."""

from __future__ import annotations

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed, RequestDataTooBig
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
    QueryDict,
)
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _
from rest_framework.response import Response

from gradeapp.common.refusals import Refusal
from gradeapp.common.storable import storable
from gradeapp.rendering.pages import shown_page
from gradeapp.start_rules import is_loopback

SESSION_KEY = re.compile("[a-z0-9]+")
# Proxies and relays say by these, and by X-Forwarded-*, that a request is of somebody else.
FORWARDED = ("HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")
PAGE_METHODS = ("GET", "HEAD", "POST")
SECONDS_IF_BUSY = 10
GetResponse = Callable[[HttpRequest], HttpResponse]


class RefusalMiddleware:
    """A refusal raised by a service becomes a page, or a short fragment for htmx."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, Refusal):
            return None
        whole = not getattr(request, "htmx", False)
        template = "refusal.html" if whole else "components/_refusal.html"
        page = render(request, template, {"refusal": error}, status=error.status)
        for name, value in _when_again(error).items():
            page[name] = value
        return page


refusals = RefusalMiddleware


def api_refusal(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's handler: a refusal becomes ``{"code", "detail"}`` with its status."""
    if isinstance(error, Refusal):
        body = {"code": error.code, "detail": str(error), **error.details}
        return Response(body, status=error.status, headers=_when_again(error))
    if isinstance(error, RequestDataTooBig):
        body = {"code": "too_large", "detail": _("The request is larger than the site takes.")}
        return Response(body, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    from rest_framework.exceptions import ValidationError  # they read settings that name this
    from rest_framework.views import exception_handler

    response: Response | None = exception_handler(error, context)
    if response is None:
        return None
    if isinstance(error, ValidationError):
        response.data = with_code(response.data)
    elif "code" not in response.data:
        phrase = HTTPStatus(response.status_code).name.lower()
        response.data["code"] = getattr(error, "default_code", phrase)
    return response


def _when_again(refusal: Refusal) -> dict[str, str]:
    """Return the header that says in how many seconds the same request may be carried out."""
    if refusal.status not in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        return {}
    return {"Retry-After": str(refusal.details.get("seconds", SECONDS_IF_BUSY))}


def with_code(errors: Any) -> dict[str, Any]:
    """Return what a serializer refused, with the first sentence and its place beside each field.

    Places in lists count from 1: ``points.2.text`` is the text of the second point.
    """
    fields = errors if isinstance(errors, dict) else {"non_field_errors": errors}
    name, said = next(iter(fields.items()), ("non_field_errors", ""))
    way = [name]
    while said and isinstance(said, list | dict):
        named = said.items() if isinstance(said, dict) else enumerate(said)
        place, inner = next(((key, one) for key, one in named if one), ("", ""))
        if isinstance(said, dict) or isinstance(inner, list | dict):
            way.append(str(place + 1) if isinstance(place, int) else str(place))
        said = inner
    way = [part for part in way if part != "non_field_errors"]
    if not way:
        return {**fields, "code": "bad_input", "detail": str(said)}
    return {**fields, "code": "bad_input", "detail": f"{'.'.join(way)}: {said}", "field": way[0]}


def this_machine_alone(get_response: GetResponse) -> GetResponse:
    """The demo and DEBUG answer this machine alone, whatever address the server listens on.

    A relay on this machine may send its own address and the name of this machine as the host.
    """
    if not (settings.DEMO or settings.DEBUG):
        raise MiddlewareNotUsed

    def middleware(request: HttpRequest) -> HttpResponse:
        if is_loopback(request.META.get("REMOTE_ADDR", "")) and not _is_forwarded(request):
            return get_response(request)
        sentence = "The demo and DEBUG are for the machine that they run on.\n"
        return HttpResponse(sentence, status=403, content_type="text/plain")

    return middleware


def _is_forwarded(request: HttpRequest) -> bool:
    """Return whether *request* says that it came through a proxy or a relay."""
    names = request.META
    return any(name in FORWARDED or name.startswith("HTTP_X_FORWARDED_") for name in names)


def plain_session_keys(get_response: GetResponse) -> GetResponse:
    """A cookie that names no session, as one with NUL, which PostgreSQL refuses, is not there."""

    def middleware(request: HttpRequest) -> HttpResponse:
        name = settings.SESSION_COOKIE_NAME
        if name in request.COOKIES and not SESSION_KEY.fullmatch(request.COOKIES[name]):
            del request.COOKIES[name]
        return get_response(request)

    return middleware


def private_pages(get_response: GetResponse) -> GetResponse:
    """Nothing that a logged-in person saw stays in a cache."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.user.is_authenticated:
            patch_cache_control(response, private=True, no_store=True)
        return response

    return middleware


def visible_characters(get_response: GetResponse) -> GetResponse:
    """Characters of a page that reorder or hide what is read are shown by their numbers."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        is_page = response.get("Content-Type", "").startswith("text/html")
        if is_page and not response.streaming and not response.content.isascii():
            html = response.content.decode(response.charset)
            if (changed := shown_page(html)) != html:
                response.content = changed
        return response

    return middleware


class StorableTexts:
    """Replaces NUL, which PostgreSQL refuses, in the fields of forms and of addresses.

    Stands behind what limits the body. JSON is read strictly by the API itself.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path_info:
            raise Http404
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> None:
        """Look at the fields where the middleware before has parsed them."""
        for name in ("GET", "POST"):
            data: QueryDict = getattr(request, name)
            if any("\x00" in text for key, texts in data.lists() for text in (key, *texts)):
                setattr(request, name, _without_nul(data))


def _without_nul(data: QueryDict) -> QueryDict:
    kept = QueryDict(mutable=True, encoding=data.encoding)
    for key, texts in data.lists():
        kept.setlist(storable(key), [storable(text) for text in texts])
    return kept


def htmx_login(get_response: GetResponse) -> GetResponse:
    """A session that ended in the middle of an htmx request: 401, not a login page in a box.

    The page keeps what was typed and says that one has to log in again.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        to_login = isinstance(response, HttpResponseRedirect) and "/login/" in response.url
        if to_login and request.headers.get("HX-Request"):
            return HttpResponse(status=401)
        return response

    return middleware


def post_addresses(get_response: GetResponse) -> GetResponse:
    """Pages take GET and POST; a browser that opens what only takes a POST is led above it.

    Class-based views of libraries would take a PUT as a POST. A refused form is shown at the
    address that it was sent to; the switch of language, the address bar and the back button
    open that one with a GET.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.method not in PAGE_METHODS and not request.path.startswith("/api/"):
            return HttpResponseNotAllowed(PAGE_METHODS)
        response = get_response(request)
        opened = request.method == "GET" and "text/html" in request.headers.get("Accept", "")
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED and opened:
            return redirect(page_above(request.path))
        return response

    return middleware


def page_above(path: str) -> str:
    """The nearest address above *path* that leads anywhere; the first page above all others."""
    while path := path.rstrip("/").rpartition("/")[0]:
        try:
            resolve(f"{path}/")
        except Resolver404:
            continue
        return f"{path}/"
    return "/"


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form's token was too old: a sentence, and the way back."""
    return render(request, "403_csrf.html", status=403)

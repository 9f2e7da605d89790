"""What is answered at no address, and when a request fails by an error that no view expects."""

from __future__ import annotations

import sys

from django.contrib.auth.views import redirect_to_login
from django.contrib.sessions.exceptions import SessionInterrupted
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from gradeapp.body_limit import TooLarge, refuse

RETRY_AFTER_SECONDS = 5
GONE = (OperationalError, InterfaceError)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: JSON below /api/, also at an address that leads nowhere; else a page.

    As for the other pages here, the request is not read for its CSRF token, which Django's own
    pages do: where no view is found, nothing has looked at its length before.
    """
    if request.path.startswith("/api/"):
        body = {"code": "not_found", "detail": _("There is nothing at this address.")}
        return JsonResponse(body, status=404)
    return render(request, "404.html", status=404)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403, as a page."""
    return render(request, "403.html", status=403)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400, as a page: also for a host that is not ours, before any view is looked for.

    413 where a form is larger than the site takes, as in the API.

    Django answers so too where a session cannot be stored at the end of a request: 503 where the
    database is gone, and the login where somebody has ended the session meanwhile.
    """
    if isinstance(exception, RequestDataTooBig):
        return refuse(request, TooLarge(_("The request is larger than the site takes.")))
    if not isinstance(exception, SessionInterrupted):
        return render(request, "400.html", status=400)
    if _is_database_gone(exception):
        return _failed(request, gone=True)
    if request.path.startswith("/api/") or request.headers.get("HX-Request"):
        return HttpResponse(status=401)
    return redirect_to_login(request.get_full_path() if request.method == "GET" else "/")


def server_error(request: HttpRequest) -> HttpResponse:
    """503 where the database is gone, full or too busy, so that the save is sent again; else 500.

    Nothing here asks the database: no session, no user, no context processor.
    """
    return _failed(request, gone=isinstance(sys.exc_info()[1], GONE))


def _is_database_gone(error: BaseException | None) -> bool:
    """Whether *error*, or what it was raised for, is that the database does not answer."""
    return error is not None and (isinstance(error, GONE) or _is_database_gone(error.__context__))


def _failed(request: HttpRequest, *, gone: bool) -> HttpResponse:
    status = 503 if gone else 500
    response: HttpResponse
    if request.path.startswith("/api/"):
        code = "unavailable" if gone else "server_error"
        detail = (
            _("The database cannot be reached or has no room. Nothing was saved; try again.")
            if gone
            else _("The error was written to the log. Everything you saved before is safe.")
        )
        response = JsonResponse({"code": code, "detail": detail}, status=status)
    else:
        # Without the request: its context processors would read the session.
        response = HttpResponse(render_to_string(f"{status}.html"), status=status)
    if gone:
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response

"""What holds for every request of somebody who is logged in: how long, and what comes first.

A session ends ``SESSION_HOURS`` after the login and ``SESSION_IDLE_MINUTES`` after the last
request of a person. A first password has to be changed, and a second factor added where the role
needs one, before anything else is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY, logout
from django.contrib.auth.signals import user_logged_in
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from gradeapp.accounts.factors import FACTOR, has_factor, needs_factor
from gradeapp.accounts.sessions import keep_listed
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import NotAllowed

BEGAN, SEEN = "began", "seen"
# The last request is stored once a minute, not with each.
GRAIN = 60
# Fragments that a page asks for by itself: they are no sign of a person.
POLLED = {
    *("progress", "export-progress", "import-progress", "pattern-progress"),
    *("judges", "study-rows"),
}
# What a person may reach before the password is changed or the factor is added. Adding a factor
# asks for the password first; changing the password asks for the old one itself.
ALWAYS = {"logout", "set_language", "icon", "session", "password_change"}
CONFIRM = "account_reauthenticate"
CONFIRMS = {CONFIRM, "mfa_reauthenticate", "mfa_reauthenticate_webauthn"}
# In a session: when something was sent that waits for the password, in seconds since 1970. It is
# done if the password comes next, within so many seconds; with any other page it is forgotten.
SUSPENDED = "suspended"
MOST_WAIT = 600
NOT_DONE = gettext_lazy(
    "What you asked for was not done: you have opened another page, asked for something else, or"
    " done it since, or it has waited too long. Ask for it again."
)


class SessionRules:
    """Stands behind AuthenticationMiddleware, before the login is required."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if SESSION_KEY in request.session:
            now, key = timezone.now().timestamp(), request.session.session_key
            if reason := ended(request, now):
                user = request.user if request.user.is_authenticated else None
                if user:
                    record(Tag.SESSION_EXPIRED, user, actor=None, reason=reason)
                logout(request)
            elif request.user.is_authenticated and request.session.session_key != key:
                keep_listed(request, key)  # it began with an earlier SECRET_KEY
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        user = request.user
        match = request.resolver_match
        name = (match.url_name if match else None) or ""
        if SESSION_KEY in request.session and name not in POLLED:
            now = timezone.now().timestamp()
            if now - request.session[SEEN] >= GRAIN:
                request.session[SEEN] = now
        if not user.is_authenticated:
            return None
        if name in CONFIRMS:
            if _is_not_done(request):
                return render(request, "refusal.html", {"refusal": NOT_DONE}, status=409)
            _forget_what_is_old(request)
        elif SUSPENDED in request.session and name not in POLLED | ALWAYS:
            del request.session[SUSPENDED]
        held = held_back(request)
        if held is None:
            if needs_factor(user):
                request.session[FACTOR] = True
            return None
        page, sentence = held
        if name in ALWAYS or (page == "mfa_index" and (name == CONFIRM or name.startswith("mfa_"))):
            return None
        if request.path.startswith("/api/"):
            return JsonResponse({"code": page, "detail": sentence}, status=403)
        if request.headers.get("HX-Request"):
            # As a session that has ended: what was typed stays until the person has done it.
            refusal = NotAllowed(sentence, code=page)
            return render(request, "components/_refusal.html", {"refusal": refusal}, status=401)
        return redirect(page)


def suspend(request: HttpRequest) -> None:
    """Note that what *request* sends waits for the password."""
    if request.method == "POST":
        request.session[SUSPENDED] = timezone.now().timestamp()


def _is_not_done(request: HttpRequest) -> bool:
    """Return whether the page that *request* confirms was of something that does not wait now.

    One thing waits at a time: in two tabs the second takes the place of the first. The page names
    what waited when it was shown.
    """
    since = request.session.get(SUSPENDED, 0.0)
    too_old = timezone.now().timestamp() - since > MOST_WAIT
    return "waits" in request.POST and (too_old or request.POST["waits"] != repr(since))


def _forget_what_is_old(request: HttpRequest) -> None:
    """Let the password lead to the page only, and do nothing, unless something waits for it.

    allauth keeps what was sent until a password leads to its path; a path with a query is another.
    """
    since = request.session.get(SUSPENDED, 0.0)
    if timezone.now().timestamp() - since <= MOST_WAIT:
        return
    for name in ("GET", "POST"):
        given = getattr(request, name).copy()
        if "?" not in (path := given.get("next", "?")):
            given["next"] = f"{path}?"
            setattr(request, name, given)


def held_back(request: HttpRequest) -> tuple[str, str] | None:
    """Return what somebody who is logged in has to do first: its page and a sentence, or None."""
    user: Any = request.user
    if user.must_change_password:
        return "password_change", _("Change your first password before you go on.")
    if needs_factor(user) and not request.session.get(FACTOR) and not has_factor(user):
        return "mfa_index", _("Your role needs a second factor. Add one first.")
    return None


def ended(request: HttpRequest, now: float) -> str:
    """Why the session of *request* is over: "age", "idle", or "" if it goes on."""
    session = request.session
    # A session without its times is older than these rules.
    if BEGAN not in session:
        return "age"
    hours, minutes = settings.SESSION_HOURS, settings.SESSION_IDLE_MINUTES
    if hours and now - session[BEGAN] > hours * 3600:
        return "age"
    return "idle" if minutes and now - session[SEEN] > minutes * 60 + GRAIN else ""


def begin(request: HttpRequest | None, **_: Any) -> None:
    """Note when a session begins: with each login, whatever way it took."""
    if request is not None:
        request.session[BEGAN] = request.session[SEEN] = timezone.now().timestamp()
        request.session.set_expiry(None)  # single sign-on began a short one


def note_logins() -> None:
    """Connect ``begin`` to the one place that all logins pass."""
    user_logged_in.connect(begin)

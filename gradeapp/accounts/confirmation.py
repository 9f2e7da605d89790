"""Ask for the own password again before what costs much or takes all marks away.

A session that was stolen, or left open, then neither spends much nor takes marks away. allauth
shows the page; wrong passwords are counted there. The login itself is a confirmation too.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import wraps
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from allauth.core.exceptions import ReauthenticationRequired
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request

from gradeapp.accounts.models import ApiToken
from gradeapp.accounts.session_rules import BEGAN, suspend
from gradeapp.common.refusals import NotAllowed

# In a session: when starts were let through without a confirmation, and what each may cost.
UNCONFIRMED = "unconfirmed"
# In seconds: what was started earlier is not added up any more.
ADDED_UP = 24 * 3600


def check_confirmed(request: HttpRequest | Request) -> None:
    """Lead to the page that asks for the password unless login or confirmation are recent.

    Recent is ``CONFIRM_MINUTES``. What was sent is done after the confirmation. The API refuses
    with NotAllowed instead. A token of the API needs none: its scope allows what it may do.
    """
    if not settings.CONFIRM_CHANGES or isinstance(getattr(request, "auth", None), ApiToken):
        return
    now = timezone.now().timestamp()
    if now - _last_confirmed(request) <= settings.CONFIRM_MINUTES * 60:
        return
    if not get_adapter().get_reauthentication_methods(request.user):
        return  # who logs in by single sign-on alone has nothing to confirm with
    if isinstance(request, Request):
        sentence = _("Confirm your password first, on the page %(page)s, or use an API token.")
        page = reverse("account_reauthenticate")
        raise NotAllowed(sentence % {"page": page}, code="confirm_password")
    if request.method == "POST":
        # What was sent is done if allauth comes back to its path; it keeps the query too.
        request.get_full_path = lambda force_append_slash=False: request.path  # type: ignore[method-assign]
        suspend(request)
    raise ReauthenticationRequired


def check_confirmed_before(request: HttpRequest) -> None:
    """Raise NotAllowed where ``check_confirmed`` would let what was sent wait for a confirmation.

    For what must be stored nowhere meanwhile, as a key.
    """
    try:
        check_confirmed(request)
    except ReauthenticationRequired:
        sentence = _("Confirm first that it is you, on the page %(page)s; then save again.")
        page = reverse("account_reauthenticate")
        raise NotAllowed(sentence % {"page": page}, code="confirm_password") from None


def check_cost(request: HttpRequest | Request, most: Callable[[], Decimal]) -> None:
    """Do ``check_confirmed`` if *most* is above ``CONFIRM_COST``, in whatever currency it is.

    What was started in this session since the last confirmation, at most a day ago, is added.
    """
    if not settings.CONFIRM_CHANGES or isinstance(getattr(request, "auth", None), ApiToken):
        return
    cost, now, session = most(), timezone.now().timestamp(), request.session
    since = max(_last_confirmed(request), now - ADDED_UP)
    earlier = [(at, one) for at, one in session.get(UNCONFIRMED, ()) if at > since]
    if cost + sum(Decimal(one) for _at, one in earlier) > settings.CONFIRM_COST:
        check_confirmed(request)
        earlier, cost = [], Decimal(0)
    if cost:
        earlier.append((now, str(cost)))
    session[UNCONFIRMED] = earlier


def _last_confirmed(request: HttpRequest | Request) -> float:
    """Return when its person last logged in or confirmed, in seconds since 1970."""
    records = get_authentication_records(request, request.user)
    confirmed_at = [one["at"] for one in records if one.get("reauthenticated")]
    return max([request.session.get(BEGAN, 0.0), *confirmed_at])


def confirmed(view: Callable[..., Any]) -> Callable[..., Any]:
    """A page that takes marks or scores away as a file: it asks ``check_confirmed`` first."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if request.method != "HEAD":
            check_confirmed(request)
        return view(request, *args, **kwargs)

    return guarded

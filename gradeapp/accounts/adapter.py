"""What django-allauth asks the site: how a login ends, what is said, what is recorded.

allauth brings the second factor, the list of sessions, single sign-on and asking for a password
again. It sends no mail here, shows no messages of its own and lets nobody sign up.
"""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.usersessions.adapter import DefaultUserSessionsAdapter
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from gradeapp.accounts.factors import needs_factor
from gradeapp.accounts.models import User
from gradeapp.accounts.own_password import is_own
from gradeapp.accounts.sessions import PENDING, end_all_of, pending_login
from gradeapp.accounts.single_sign_on import SIGN_ON, connect_sign_on
from gradeapp.accounts.throttle import client_address
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import NotAllowed


class AccountAdapter(DefaultAccountAdapter):
    """Logins end here, whether they began with a password, a link or single sign-on."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "incorrect_password": gettext_lazy("The password is wrong."),
        "incorrect_code": gettext_lazy("The code is wrong or was used before."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """The pages say what has happened."""

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """What is changed stands in the audit trail."""

    def get_client_ip(self, request: HttpRequest) -> str:
        """An address for the list of sessions, which takes addresses only."""
        address = client_address(request)
        return address if "." in address or ":" in address else "0.0.0.0"

    def reauthenticate(self, user: User, password: str) -> bool:
        """Return whether *password* is that of *user*, logged in; raises Throttled or Busy."""
        return is_own(user, password)

    def pre_login(self, request: HttpRequest, user: User, **about: Any) -> HttpResponse | None:
        if "sociallogin" not in (about.get("signal_kwargs") or {}):
            request.session.pop(SIGN_ON, None)  # of a sign-on that was left on its way
        refusal: HttpResponse | None = super().pre_login(request, user, **about)
        if refusal is None:
            request.session[PENDING] = pending_login(user)
        return refusal

    def login(self, request: HttpRequest, user: User) -> None:
        """Log *user* in, unless password or access were lost since the first step."""
        pending = request.session.pop(PENDING, None)
        if not user.may_log_in or pending not in (None, pending_login(user)):
            raise NotAllowed(_("You don't have access. If you need access, ask an admin."))
        connect_sign_on(request, user)
        super().login(request, user)
        record(Tag.LOGIN, user, actor=user, request=request)

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        raise NotAllowed(_("You don't have access. If you need access, ask an admin."))


class FactorAdapter(DefaultMFAAdapter):
    """Second factors; who must have one keeps the last."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": gettext_lazy("The code is wrong or was used before."),
        "incorrect_key": gettext_lazy(
            "This security key does not fit, or its answer was used before. Try again, or use "
            "another way."
        ),
        "cannot_delete_authenticator": gettext_lazy(
            "Your role needs a second factor. Add another one before you remove this one."
        ),
    }

    def can_delete_authenticator(self, authenticator: Any) -> bool:
        others = authenticator.user.authenticator_set.exclude(pk=authenticator.pk)
        left = others.exclude(type=authenticator.Type.RECOVERY_CODES).exists()
        return left or not needs_factor(authenticator.user)

    def generate_authenticator_name(self, user: User, type: Any) -> str:
        number = user.authenticator_set.filter(type=type).count() + 1
        return _("Security key %(n)d") % {"n": number}


class SessionsAdapter(DefaultUserSessionsAdapter):
    """The list of sessions, where somebody ends all others; that is recorded."""

    def end_sessions(self, sessions: Any) -> None:
        """End what is in no list too: logins before their second step."""
        request = context.request
        if ended := end_all_of(request.user, but=request.session.session_key):
            record(Tag.SESSIONS_ENDED, request.user, actor=request.user, sessions=ended)

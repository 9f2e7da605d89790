"""Second factors: who must have one, who has one, and what the audit trail says of them."""

from __future__ import annotations

from typing import Any

from allauth.mfa import signals
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.http import HttpRequest

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.sessions import end_all_of
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag

# In a session: its person has been found to have a factor.
FACTOR = "has_factor"


def needs_factor(user: User) -> bool:
    """Whether a role of *user* is one that ``GRADEAPP_SECOND_FACTOR`` names."""
    if not settings.SECOND_FACTOR_ROLES:
        return False
    roles = {role.value for role in user.roles}
    if user.is_superuser or user.is_staff:
        roles.add(Role.ADMIN.value)
    return bool(roles & set(settings.SECOND_FACTOR_ROLES))


def has_factor(user: User) -> bool:
    """Whether *user* logs in with an app or a key besides the password."""
    codes = Authenticator.Type.RECOVERY_CODES
    return bool(Authenticator.objects.filter(user=user).exclude(type=codes).exists())


def lacks_factor(user: User) -> bool:
    """Whether *user* needs a second factor and has none."""
    return needs_factor(user) and not has_factor(user)


def record_changes() -> None:
    """Connect the audit trail to what allauth says of second factors; it says so by signals."""
    signals.authenticator_added.connect(_added)
    signals.authenticator_removed.connect(_removed)
    signals.authenticator_reset.connect(_reset)
    signals.authentication_failed.connect(_failed)


def _added(user: User, authenticator: Authenticator, request: HttpRequest, **_: Any) -> None:
    record(Tag.FACTOR_ADDED, user, actor=user, request=request, kind=authenticator.type)
    kinds = Authenticator.objects.filter(user=user).exclude(type=Authenticator.Type.RECOVERY_CODES)
    if authenticator.type != Authenticator.Type.RECOVERY_CODES and kinds.count() == 1:
        # Sessions that began with the password alone have not given it.
        ended = end_all_of(user, but=request.session.session_key)
        record(Tag.SESSIONS_ENDED, user, actor=user, request=request, sessions=ended)


def _removed(user: User, authenticator: Authenticator, request: HttpRequest, **_: Any) -> None:
    request.session.pop(FACTOR, None)
    record(Tag.FACTOR_REMOVED, user, actor=user, request=request, kind=authenticator.type)


def _reset(user: User, request: HttpRequest, **_: Any) -> None:
    record(Tag.RECOVERY_CODES_RENEWED, user, actor=user, request=request)


def _failed(user: User, authenticator: Authenticator, request: HttpRequest, **_: Any) -> None:
    record(Tag.FACTOR_FAILED, user, actor=None, request=request, kind=authenticator.type)

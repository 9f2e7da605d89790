"""The own password of somebody who is logged in, asked for again before something that needs it."""

from __future__ import annotations

from collections.abc import Callable

from allauth.core import context

from gradeapp.accounts.models import User
from gradeapp.accounts.throttle import Found, guess, own_password_limits
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag


def guess_own(user: User, look: Callable[[], Found]) -> Found:
    """Return what *look* says of a password of *user*; wrong ones are counted and recorded.

    They are counted beside those at the login, which anybody at the address can use up. Raises
    Throttled or Busy.
    """

    def wrong(used_up: bool) -> None:
        record(Tag.LOGIN_FAILED, user, actor=None, request=context.request)
        if used_up:
            record(Tag.LOCKED_OUT, user, actor=None, request=context.request)

    return guess(own_password_limits(user.pk), look, wrong)


def is_own(user: User, password: str) -> bool:
    """Return whether *password* is that of *user*, as ``guess_own``."""
    return guess_own(user, lambda: user.check_password(password))

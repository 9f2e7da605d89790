"""Who is behind a session: asked in every request, by one query."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.db.models import F
from django.http import HttpRequest

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import roles_named
from gradeapp.accounts.throttle import cancel, client_address, fail, login_limits, release, reserve
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import Busy


class Backend(ModelBackend):
    """Names and passwords as Django checks them; a person who was deactivated is nobody."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """The active person with this name and password; raises Throttled before any hashing."""
        if username is None or password is None:
            return None

        limits = login_limits(username, client_address(request))
        reserve(limits)
        try:
            user: User | None = super().authenticate(request, username, password, **kwargs)
        except Busy:
            cancel(limits)
            raise
        if user is not None:
            release(limits)
            return user
        used_up = fail(limits)
        # An unknown name is not written down: it may be a password.
        known = User.objects.filter(username=username).first()
        record(Tag.LOGIN_FAILED, known or "login:unknown", actor=None, request=request)
        if used_up:
            record(Tag.LOCKED_OUT, known or "login:unknown", actor=None, request=request)
        return None

    def user_can_authenticate(self, user: Any) -> bool:
        """Whether this person may log in, by whatever path, and keep a session."""
        return isinstance(user, User) and user.may_log_in

    def get_user(self, user_id: int) -> User | None:
        """The active person with this key, whose roles are known with that."""
        # One query: the same person once for each of their groups, once without any.
        rows = list(User.objects.filter(pk=user_id).annotate(group=F("groups__name")))
        if not rows or not self.user_can_authenticate(rows[0]):
            return None
        person: User = rows[0]
        person.roles = roles_named({row.group for row in rows})
        return person

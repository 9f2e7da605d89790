"""Who is behind a session: asked in every request, by one prepared query."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.db.models import F, QuerySet

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import roles_named
from gradeapp.prepared import prepared


@prepared
def _person(key: int) -> QuerySet[User, User]:
    """The same person once for each of their groups; once without any."""
    return User.objects.filter(pk=key).annotate(group=F("groups__name"))


class Backend(ModelBackend):
    """Names and passwords as Django checks them; a person who was deactivated is nobody."""

    def get_user(self, user_id: int) -> User | None:
        """The active person with this key, whose roles are known with that."""
        rows: list[Any] = _person(user_id)
        if not rows or not self.user_can_authenticate(rows[0]):
            return None
        person: User = rows[0]
        person.roles = roles_named({row.group for row in rows})
        return person

"""Who is behind a session: asked in every request, by one prepared query."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend
from django.db.models import QuerySet

from gradeapp.accounts.models import User
from gradeapp.prepared import prepared


@prepared
def _person(key: int) -> QuerySet[User, User]:
    return User.objects.filter(pk=key)


class Backend(ModelBackend):
    """Names and passwords as Django checks them; a person who was deactivated is nobody."""

    def get_user(self, user_id: int) -> User | None:
        """The active person with this key."""
        person = next(iter(_person(user_id)), None)
        return person if person and self.user_can_authenticate(person) else None

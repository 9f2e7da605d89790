"""Who is behind a session: asked in every request, by one query."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend
from django.db.models import F

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import roles_named


class Backend(ModelBackend):
    """Names and passwords as Django checks them; a person who was deactivated is nobody."""

    def get_user(self, user_id: int) -> User | None:
        """The active person with this key, whose roles are known with that."""
        # One query: the same person once for each of their groups, once without any.
        rows = list(User.objects.filter(pk=user_id).annotate(group=F("groups__name")))
        if not rows or not self.user_can_authenticate(rows[0]):
            return None
        person: User = rows[0]
        person.roles = roles_named({row.group for row in rows})
        return person

"""Changing people: roles and accounts."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import Group
from django.db import transaction

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role


@transaction.atomic
def sync_roles() -> int:
    """Make the group of each role that has none yet; the number made."""
    return sum(Group.objects.get_or_create(name=role.value)[1] for role in Role)


@transaction.atomic
def ensure_user(
    username: str, *, roles: Iterable[Role], display_name: str = "", password: str | None = None
) -> User:
    """The user called *username* with exactly *roles*; made if there is none.

    Without a password the account is inactive: it stands for a marker that a
    published benchmark names. An existing password is never changed.
    """
    user, made = User.objects.get_or_create(
        username=username, defaults={"display_name": display_name, "is_active": bool(password)}
    )
    if made:
        user.set_password(password)
        user.is_staff = Role.ADMIN in set(roles)
        user.save(update_fields=["password", "is_staff"])
    user.groups.set(Group.objects.filter(name__in=[role.value for role in roles]))
    return user

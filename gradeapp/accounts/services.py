"""Changing people: roles and accounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import Q

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import SITE_RIGHTS, Role
from gradeapp.common.name_checks import check_name_is_plain


@transaction.atomic
def sync_roles() -> int:
    """Make the group of each role, with its rights in the Django admin; how many are new."""
    made = 0
    for role in Role:
        group, new = Group.objects.get_or_create(name=role.value)
        group.permissions.set(site_permissions(SITE_RIGHTS.get(role, {})))
        made += new
    return made


def site_permissions(rights: Mapping[str, tuple[str, ...]]) -> list[Permission]:
    """The rows of Django's permissions that *rights* names; ``app.*`` is every model of an app."""
    wanted = Q(pk=None)
    for name, actions in rights.items():
        app, model = name.split(".")
        of_model = Q() if model == "*" else Q(content_type__model=model)
        named = Q()
        for action in actions:
            named |= Q(codename__startswith=f"{action}_")
        wanted |= Q(content_type__app_label=app) & of_model & named
    return list(Permission.objects.filter(wanted))


@transaction.atomic
def ensure_user(
    username: str,
    *,
    roles: Iterable[Role],
    display_name: str = "",
    password: str | None = None,
    demo: bool = False,
) -> User:
    """The user called *username* with exactly *roles*; made if there is none.

    Without a password the account is inactive: it stands for a marker that a
    published benchmark names. An existing password is never changed. A person of the *demo* may
    log in while the demo runs, and never elsewhere. Raises BadInput for a name that can pass for
    another.
    """
    check_name_is_plain(username)
    check_name_is_plain(display_name)
    user, made = User.objects.get_or_create(
        username=username,
        defaults={
            "display_name": display_name,
            "is_active": bool(password),
            "is_demo": demo,
        },
    )
    if made:
        user.set_password(password)
        user.is_staff = Role.ADMIN in set(roles)
        user.save(update_fields=["password", "is_staff"])
    user.groups.set(Group.objects.filter(name__in=[role.value for role in roles]))
    return user

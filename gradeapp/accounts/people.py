"""Changing people: roles, active or not, sessions, second factor. Each change is recorded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.accounts.open_links import end_dead_links
from gradeapp.accounts.roles import Capability, Role, roles_named
from gradeapp.accounts.sessions import end_all_of
from gradeapp.accounts.tokens import narrow_tokens, revoke_all
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict, NotAllowed

NAMES = ("username", "display_name", "first_name", "last_name", "email")
FLAGS = ("is_active", "is_staff", "is_superuser")


def state(person: User) -> dict[str, Any]:
    """Return what is recorded of *person* when it changes, which is not the password."""
    return {
        **{name: getattr(person, name) for name in (*NAMES, *FLAGS)},
        "groups": sorted(person.groups.values_list("name", flat=True)),
        "permissions": sorted(person.user_permissions.values_list("codename", flat=True)),
    }


def digest_of(person: User) -> str:
    """Return 16 hexadecimal digits that are others once the ``state`` of *person* has changed."""
    return hashlib.sha256(json.dumps(state(person)).encode()).hexdigest()[:16]


@transaction.atomic
def set_roles(
    user: User, roles: Iterable[Role], *, acting_user: User, seen: Sequence[str] | None = None
) -> None:
    """Give *user* exactly *roles*; their sessions end, and tokens once a lost role comes back.

    Links that they may make no more end for good. *seen* are the roles that the page showed, None
    if there was none. Raises Conflict for oneself, the last admin and roles that somebody has
    changed since, BadInput for roles that do not go together, NotAllowed for a superuser and where
    *acting_user* manages people no more.
    """
    begin_change(user, acting_user)
    wanted = [role.value for role in roles]
    before = [role.value for role in roles_named(set(user.groups.values_list("name", flat=True)))]
    if seen is not None and set(seen) != set(before):
        raise Conflict(
            _("Somebody else has changed the roles of this person. Open the page again."),
            code="roles_changed",
        )
    if wanted == before:
        return
    if user.pk == acting_user.pk:
        raise Conflict(_("You cannot change your own roles."))
    check_roles(wanted, superuser=user.is_superuser)
    user.groups.set(Group.objects.filter(name__in=wanted))
    user.is_staff = Role.ADMIN.value in wanted
    user.save(update_fields=["is_staff"])
    keep_an_admin()
    narrow_tokens(user, wanted)
    end_dead_links(user, acting_user=acting_user)
    record(Tag.ROLES_CHANGED, user, actor=acting_user, before=before, after=wanted)
    _end_sessions(user, acting_user)


@transaction.atomic
def set_active(user: User, *, active: bool, acting_user: User) -> None:
    """Let *user* log in, or end that at once, and their tokens and links for good.

    Raises Conflict for oneself and the last admin, NotAllowed as ``set_roles``.
    """
    if user.pk == acting_user.pk:
        raise Conflict(_("You cannot deactivate yourself."))
    begin_change(user, acting_user)
    user.is_active = active
    user.save(update_fields=["is_active"])
    keep_an_admin()
    record(Tag.ACTIVATED if active else Tag.DEACTIVATED, user, actor=acting_user)
    if not active:
        revoke_all(user, acting_user=acting_user)
        end_dead_links(user, acting_user=acting_user)
        _end_sessions(user, acting_user)


@transaction.atomic
def remove_factors(user: User, *, acting_user: User) -> None:
    """Remove the second factors of *user*, who has lost them; their sessions end.

    What single sign-on knows them by goes too: the next login connects it anew. Raises Conflict
    for oneself: an admin whose role needs a factor would be let in by the password alone.
    """
    if user.pk == acting_user.pk:
        raise Conflict(_("You cannot remove your own second factors here. Ask another admin."))
    begin_change(user, acting_user)
    connected = SocialAccount.objects.filter(user=user).delete()[0]
    kinds = list(Authenticator.objects.filter(user=user).values_list("type", flat=True))
    Authenticator.objects.filter(user=user).delete()
    record(Tag.FACTOR_REMOVED, user, actor=acting_user, kinds=sorted(kinds), sign_on=connected)
    _end_sessions(user, acting_user)


@transaction.atomic
def end_sessions(user: User, *, acting_user: User) -> int:
    """Log *user* out everywhere; returns of how many sessions. Raises NotAllowed."""
    begin_change(user, acting_user)
    return _end_sessions(user, acting_user)


def begin_change(user: User, acting_user: User) -> None:
    """Wait for changes that go on, and look again at who changes whom. Raises NotAllowed."""
    one_change_of_people_at_a_time()
    check_still_manages(acting_user)
    user.refresh_from_db(fields=["is_superuser", "is_active"])
    check_may_change(user, acting_user)


def _end_sessions(user: User, acting_user: User) -> int:
    ended = end_all_of(user)
    record(Tag.SESSIONS_ENDED, user, actor=acting_user, sessions=ended)
    return ended


def check_still_manages(acting_user: User) -> None:
    """Raise NotAllowed if *acting_user* has lost the right to change people since the request.

    It stands behind ``one_change_of_people_at_a_time``: of two admins who take the role from each
    other, the second one has lost it by then.
    """
    now = User.objects.get(pk=acting_user.pk)
    outranked = acting_user.is_superuser and not now.is_superuser
    if outranked or not (now.may_log_in and now.may(Capability.OPERATE)):
        raise NotAllowed(_("You may no longer change people."))


def may_change(user: User, acting_user: User) -> bool:
    """Return whether *acting_user*, who manages people, may change *user*."""
    return acting_user.is_superuser or not user.is_superuser


def check_may_change(user: User, acting_user: User) -> None:
    """Raise NotAllowed where somebody who is no superuser would change one."""
    if not may_change(user, acting_user):
        raise NotAllowed(_("Only a superuser changes a superuser."))


def check_roles(roles: Collection[str], *, superuser: bool = False) -> None:
    """Raise BadInput for roles that do not go together."""
    if Role.TEACHER.value in roles and (superuser or Role.ADMIN.value in roles):
        raise BadInput(
            _("An admin or superuser cannot be a teacher: who runs exams does not mark them.")
        )


def is_taken(username: str, *, but: User | None = None) -> bool:
    """Return whether *username* is that of somebody (*but* this one), or their mail address.

    In whatever case: two such names pass for each other. Nor is one free that somebody else had
    before: the audit trail, which names people as they are called now, would say that they did
    what that one did.
    """
    same = Q(username__iexact=username) | Q(email__iexact=username)
    others = User.objects.exclude(pk=but.pk) if but else User.objects.all()
    if others.filter(same).exists():
        return True
    renamed = AuditEntry.objects.filter(
        tag=Tag.PERSON_CHANGED.value, detail__changed__has_key="username"
    )
    own = f"{User._meta.model_name}:{but.pk}" if but else ""
    return any(
        before.casefold() == username.casefold()
        for before in renamed.exclude(target=own).values_list(
            "detail__changed__username__0", flat=True
        )
    )


def one_change_of_people_at_a_time() -> None:
    """Wait until the transactions that change people have ended.

    It stands before the first row is read or written: two changes that each hold a row of the
    other's person, or of a group, would wait for each other. The lock leaves room for foreign
    keys to the group.
    """
    admins = Group.objects.select_for_update(no_key=True).order_by()
    admins.filter(name=Role.ADMIN.value).first()


def keep_an_admin() -> None:
    """Raise Conflict, which takes the change back, if nobody could manage people any more.

    The change began with ``one_change_of_people_at_a_time``, so that it sees those before it.
    """
    admins = User.who_may_log_in()
    if not (
        admins.filter(groups__name=Role.ADMIN.value).exists()
        or admins.filter(is_superuser=True).exists()
    ):
        raise Conflict(_("At least one admin who can log in is needed."))

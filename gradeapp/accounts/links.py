"""Links that are used once: an invitation makes an account, a reset link sets a new password.

Only the hash of a link is stored. A link is used by one conditional UPDATE, so that two uses at
the same time make one account.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from django.contrib.auth.models import Group
from django.db import DataError, IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from gradeapp.accounts.models import AccessLink, LinkKind, User
from gradeapp.accounts.open_links import end_reset_links, open_links, works
from gradeapp.accounts.people import (
    begin_change,
    check_roles,
    check_still_manages,
    is_taken,
    one_change_of_people_at_a_time,
)
from gradeapp.accounts.roles import (
    OPEN_WHILE_MARKING,
    Role,
    capabilities,
    roles_named,
)
from gradeapp.accounts.throttle import cancel, fail, invitation_limits, release, reserve
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.name_checks import check_name_is_plain
from gradeapp.common.refusals import BadInput, Conflict, NotAllowed, NotFound, Refusal

LASTS = {LinkKind.INVITATION: timedelta(hours=72), LinkKind.RESET: timedelta(hours=24)}


class Gone(Refusal):
    """The link was there, and works no more."""

    status = 410
    code = "gone"


@transaction.atomic
def invite(
    name: str,
    roles: Iterable[Role],
    *,
    email: str = "",
    acting_user: User,
    form_key: UUID | None = None,
) -> str:
    """The token of an invitation for *name*, valid for 72 hours; shown once, never stored.

    A form that is sent again has the same *form_key*, and ends the open invitation that it made.
    Raises BadInput for roles that do not go together, a name that can pass for another, and
    (``email``) the address of somebody who has an account; Conflict if that invitation was used;
    NotAllowed where *acting_user* may no longer change people.
    """
    roles = list(roles)
    one_change_of_people_at_a_time()
    check_still_manages(acting_user)
    if form_key is not None:
        _end_earlier(form_key, acting_user)
    check_roles([role.value for role in roles])
    check_name_is_plain(name)
    has_it = User.objects.filter(email__iexact=email).first() if email else None
    if has_it is not None:
        raise BadInput(
            _("%(name)s already has an account with this mail address.") % {"name": has_it},
            code="email",
        )
    token, link = _made(
        LinkKind.INVITATION,
        acting_user,
        display_name=name,
        email=email,
        roles=[role.value for role in roles],
        form_key=form_key,
    )
    record(Tag.INVITED, link, actor=acting_user, name=name, roles=link.roles, email=email)
    return token


def _end_earlier(form_key: UUID, acting_user: User) -> None:
    """Withdraw the open invitation that *acting_user* made by the same form."""
    made = AccessLink.objects.filter(form_key=form_key, created_by=acting_user)
    if made.exclude(used_at=None).exists():
        raise Conflict(_("The link of this form was used already. Open the form again."))
    for link in made & open_links(LinkKind.INVITATION):
        withdraw(link, acting_user=acting_user)


@transaction.atomic
def reset_link(user: User, *, acting_user: User | None) -> str:
    """The token of a link by which *user* sets a new password within 24 hours.

    Earlier reset links of the person end; one that was asked for by mail (``acting_user`` None)
    ends only such ones, since anybody can ask for it, and works while the person has the address
    that *user* has. Raises Conflict for somebody who may not log in, NotAllowed for a superuser's
    by another.
    """
    if acting_user is not None:
        begin_change(user, acting_user)
    if not user.is_active:
        raise Conflict(_("This account is inactive. Activate it first."))
    if not user.may_log_in:
        raise Conflict(_("This person may not log in."))
    # Two links at once are made one after the other, so that the first ends.
    User.objects.select_for_update().get(pk=user.pk)
    end_reset_links(user, by_mail=acting_user is None)
    # As it was read before the lock: the mail goes there.
    email = user.email if acting_user is None else ""
    token, link = _made(LinkKind.RESET, acting_user, user=user, display_name=str(user), email=email)
    record(Tag.RESET_LINK_MADE, user, actor=acting_user, link=link.pk)
    return token


def _made(kind: LinkKind, by: User | None, **fields: object) -> tuple[str, AccessLink]:
    token = secrets.token_urlsafe(32)
    expires = timezone.now() + LASTS[kind]
    link = AccessLink.objects.create(
        kind=kind, token_hash=hashed(token), created_by=by, expires_at=expires, **fields
    )
    return token, link


def hashed(token: str) -> str:
    """The token as it is stored; it is random, so that no slow hash is needed."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def find(token: str, kind: LinkKind) -> AccessLink:
    """The link of *token*.

    Raises NotFound if there was none, Gone if it works no more, Conflict while it must wait.
    """
    link = AccessLink.objects.filter(kind=kind, token_hash=hashed(token)).first()
    if link is None:
        raise NotFound(_("There is no such link. Copy the whole address."))
    if not works(link):
        raise _gone(link)
    if _opens_what_is_closed(link):
        raise Conflict(
            _(
                "This link cannot be used while the admin who made it is marking. Try again later, "
                "or ask another admin for a new one."
            )
        )
    return link


def _gone(link: AccessLink) -> Gone:
    """Return what is said of *link*, which works no more: a double click has used it already."""
    if link.used_at:
        sentence = _(
            "This link was used before. If that was you, log in. Otherwise ask an admin for a new"
            " one."
        )
    else:
        sentence = _("This link is too old, or it was ended. Ask an admin for a new one.")
    return Gone(sentence)


def _opens_what_is_closed(link: AccessLink) -> bool:
    """Return whether *link* leads to an account that may see what its maker, who marks, may not."""
    by, roles = link.created_by, roles_named(link.roles)
    gives = link.user.granted if link.user is not None else capabilities(roles)
    return by is not None and not gives <= OPEN_WHILE_MARKING and by.capabilities != by.granted


def _use(link: AccessLink) -> None:
    """Use *link* up, or raise Gone if somebody was faster."""
    rows = open_links(LinkKind(link.kind)).filter(pk=link.pk)
    if not rows.update(used_at=timezone.now()):
        link.refresh_from_db(fields=["used_at"])
        raise _gone(link)


def accept_invitation(
    token: str,
    username: str,
    password: str,
    email: str = "",
    *,
    request: HttpRequest | None = None,
) -> User:
    """The account that the invitation of *token* makes, with its roles.

    *email* is the address that the person has chosen, whatever the invitation says: whoever has it
    can log in by it. Raises what ``find`` raises, and BadInput (``taken``) if the name is taken, in
    whatever case, is the address of another person, or can pass for another, or (``email``) if
    another person has the address, also that of the invitation, or another invited one has one
    that is not. The link then still works.

    Such a refusal tells that somebody has an account: each is recorded, with the network address
    of *request*, and Throttled is raised after some of them.
    """
    link = find(token, LinkKind.INVITATION)
    # As the login reads it: else "ａｄｍｉｎ" is another name, and nobody can log in with it.
    username = User.normalize_username(username)
    check_name_is_plain(username)
    limits = invitation_limits(link.pk)
    reserve(limits)
    try:
        user = _make_account(link, username, password, email)
    except BadInput as refusal:
        fail(limits)
        tried = {"email": email} if refusal.code == "email" else {"username": username}
        tag, name = Tag.INVITATION_REFUSED, link.display_name
        record(tag, link, actor=None, request=request, name=name, **tried)
        raise
    except Exception:
        cancel(limits)
        raise
    release(limits)
    return user


def _make_account(link: AccessLink, username: str, password: str, email: str) -> User:
    """Use *link* up and make its account. Raises BadInput and Gone."""
    taken = BadInput(_("This username is taken. Choose another one."), code="taken")
    try:
        with transaction.atomic():
            # Two people at once choose their names one after the other.
            list(Group.objects.select_for_update().order_by("pk"))
            # First: who has clicked twice reads of the own account, and not of that of another.
            _use(link)
            _check_address(email, link)
            if is_taken(username):
                raise taken
            user = User(username=username, display_name=link.display_name, email=email)
            user.set_password(password)
            user.is_staff = Role.ADMIN.value in link.roles
            user.save()
            user.groups.set(Group.objects.filter(name__in=link.roles))
            AccessLink.objects.filter(pk=link.pk).update(user=user)
            said = {"roles": link.roles, "email": email, "invited_email": link.email}
            record(Tag.INVITATION_USED, user, actor=user, link=link.pk, **said)
    except (IntegrityError, DataError):  # taken meanwhile, or longer than it was typed
        raise taken from None
    return user


def _check_address(email: str, link: AccessLink) -> None:
    """Raise BadInput for the address of another person, or of another one who is invited.

    That of *link* itself may have got an account since: with two, nobody could log in by it.
    """
    if not email:
        return
    own = email.lower() == link.email.lower()
    has_account = User.objects.filter(email__iexact=email).exists()
    if own and has_account:
        raise BadInput(
            _(
                "There is already an account with the mail address of this invitation. If it is"
                " yours, log in with it. Otherwise enter another mail address, or none."
            ),
            code="email",
        )
    invited = open_links(LinkKind.INVITATION).filter(email__iexact=email)
    if has_account or (not own and invited.exists()):
        raise BadInput(
            _("This mail address cannot be used. Leave it empty, or ask an admin."), code="email"
        )


@transaction.atomic
def set_password(token: str, password: str) -> User:
    """Give the person of a reset link a new password; all their sessions end."""
    link = find(token, LinkKind.RESET)
    assert link.user is not None
    user = User.objects.select_for_update().get(pk=link.user.pk)
    _use(find(token, LinkKind.RESET))  # as it is now that nobody else changes the person
    user.set_password(password)
    user.must_change_password = False
    user.save(update_fields=["password", "must_change_password"])
    end_reset_links(user)
    record(Tag.PASSWORD_RESET, user, actor=user, link=link.pk)
    return user


@transaction.atomic
def change_own_password(user: User, encoded: str, *, request: HttpRequest) -> None:
    """Give *user*, as *request* has read them, a new password; *encoded* is its hash.

    Their tokens, links and other sessions end. Raises NotAllowed if they may log in no more,
    Conflict if the password was changed or the session of *request* has ended since.
    """
    now = User.objects.select_for_update().get(pk=user.pk)
    if not now.may_log_in:
        raise NotAllowed(_("You don't have access. If you need access, ask an admin."))
    session = request.session
    if now.password != user.password or not session.exists(session.session_key or ""):
        sentence = _("Your password was changed or this session was ended. Log in again.")
        raise Conflict(sentence, code="session_ended")
    user.password, user.must_change_password = encoded, False
    user.save(update_fields=["password", "must_change_password"])
    end_reset_links(user)
    record(Tag.PASSWORD_CHANGED, user, actor=user, request=request)


@transaction.atomic
def change_password(user: User, password: str) -> None:
    """Give *user* a new password on the command line; their sessions, tokens and links end."""
    user = User.objects.select_for_update().get(pk=user.pk)
    user.set_password(password)
    user.must_change_password = False
    user.save(update_fields=["password", "must_change_password"])
    end_reset_links(user)
    record(Tag.PASSWORD_CHANGED, user, actor=None, by="command line")


@transaction.atomic
def withdraw(link: AccessLink, *, acting_user: User) -> None:
    """End an invitation that was not used. Raises Gone if it was."""
    if not open_links(LinkKind(link.kind)).filter(pk=link.pk).update(withdrawn_at=timezone.now()):
        raise Gone(_("This invitation works no more."))
    record(Tag.LINK_WITHDRAWN, link, actor=acting_user, name=link.display_name)

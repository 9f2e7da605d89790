"""Which reset links and invitations still work, and the end of those that do not."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from gradeapp.accounts.models import AccessLink, LinkKind, User
from gradeapp.accounts.roles import Capability
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag


def open_links(kind: LinkKind) -> models.QuerySet[AccessLink]:
    """Links of one kind that are neither used nor withdrawn nor too old."""
    rows = AccessLink.objects.filter(kind=kind, used_at=None, withdrawn_at=None)
    return rows.filter(expires_at__gt=timezone.now())


def works(link: AccessLink) -> bool:
    """Return whether *link* can be used: its maker may still make it, its person may log in.

    Otherwise an admin whose account ends would come back by a link that they keep. One that was
    mailed is for whoever has the mail address of the person now.
    """
    if link.used_at or link.withdrawn_at or link.expires_at <= timezone.now():
        return False
    if link.user is not None and not link.user.may_log_in:
        return False
    by = link.created_by
    if by is None:
        return link.user is None or link.email == link.user.email
    outranked = link.user is not None and link.user.is_superuser and not by.is_superuser
    return by.may_log_in and Capability.OPERATE in by.granted and not outranked


def end_reset_links(user: User, *, by_mail: bool = False) -> None:
    """End the reset links of *user*, only those that went *by_mail*, or all."""
    links = open_links(LinkKind.RESET).filter(user=user)
    if by_mail:
        links = links.filter(created_by=None)
    links.update(withdrawn_at=timezone.now())


def end_dead_links(user: User, *, acting_user: User) -> None:
    """End for good the links of *user*, and those that they made, which work no more.

    Else they work again once *user* is activated, or has the role again.
    """
    rows = open_links(LinkKind.INVITATION) | open_links(LinkKind.RESET)
    rows = rows.filter(Q(user=user) | Q(created_by=user))
    for link in rows.select_related("user", "created_by").order_by("pk"):
        ended = not works(link) and rows.filter(pk=link.pk).update(withdrawn_at=timezone.now())
        if ended and link.kind == LinkKind.INVITATION:
            record(Tag.LINK_WITHDRAWN, link, actor=acting_user, name=link.display_name)

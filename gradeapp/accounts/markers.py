"""Who may be chosen to mark: as a teacher of a round or a sample, or as a reviewer."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import ROLE_CAPABILITIES, Capability
from gradeapp.common.refusals import BadInput

MARKERS = tuple(role for role, may in ROLE_CAPABILITIES.items() if Capability.MARK in may)
OTHERS = tuple(role for role in ROLE_CAPABILITIES if role not in MARKERS)


def possible_markers() -> QuerySet[User]:
    """Return everybody who may mark and log in, by name.

    With the setting ``ONLY_MARKERS_MARK`` without those who have another role too.
    """
    people = present_markers()
    if settings.ONLY_MARKERS_MARK:
        people = people.exclude(is_superuser=True).exclude(groups__name__in=OTHERS)
    return people.order_by("display_name", "username")


def present_markers() -> QuerySet[User]:
    """Return everybody who has the role of a marker and is not deactivated."""
    return User.objects.filter(is_active=True, groups__name__in=MARKERS).distinct()


def check_markers(people: Iterable[User]) -> None:
    """Raise BadInput for somebody who may not mark, or not with another role besides."""
    for person in people:
        check_may_mark(person)
    check_other_roles(people)


def check_may_mark(person: User) -> None:
    """Raise BadInput for somebody who may not mark: without the role now, or deactivated."""
    if not person.may(Capability.MARK):
        raise BadInput(
            _("%(name)s is not allowed to mark.") % {"name": person}, code="not_a_marker"
        )


def check_other_roles(people: Iterable[User]) -> None:
    """Raise BadInput for somebody with another role, if ``ONLY_MARKERS_MARK`` is set."""
    if not settings.ONLY_MARKERS_MARK:
        return
    for person in people:
        if person.granted != {Capability.MARK}:
            raise BadInput(
                _(
                    "%(name)s has another role too. On this server only people who do nothing but"
                    " mark are chosen to mark."
                )
                % {"name": person},
                code="other_roles",
            )

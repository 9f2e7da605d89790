"""Two admins who change people at the same moment."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import Group

from gradeapp.accounts.models import User
from gradeapp.accounts.people import (
    end_sessions,
    keep_an_admin,
    remove_factors,
    set_active,
    set_roles,
)
from gradeapp.accounts.roles import Capability, Role
from gradeapp.common.refusals import Conflict, NotAllowed
from tests.conftest import make_user
from tests.evaluations.marking.desk.test_marking_races import at_once


@pytest.mark.django_db(transaction=True)
def test_one_admin_is_left() -> None:
    """Whichever comes first, the other is of somebody who is no admin any more."""
    for turn in range(3):
        first, second = (make_user(Role.ADMIN, f"{name}{turn}") for name in ("ada", "bo"))
        Group.objects.get(name=Role.ADMIN.value).user_set.set([first, second])
        results = at_once(
            partial(set_roles, first, [Role.LEAD], acting_user=second),
            partial(set_roles, second, [Role.LEAD], acting_user=first),
        )
        assert sum(isinstance(one, NotAllowed) for one in results) == 1
        assert User.objects.filter(groups__name=Role.ADMIN.value).count() == 1


@pytest.mark.django_db(transaction=True)
def test_changes_wait_for_each_other() -> None:
    """Changes that touch the same people and groups, in either order, all end."""
    for turn in range(3):
        ada, bo, cy, di = (
            make_user(role, f"{name}{turn}")
            for role, name in (
                (Role.ADMIN, "ada"),
                (Role.ADMIN, "bo"),
                (Role.LEAD, "cy"),
                (Role.LEAD, "di"),
            )
        )
        results = at_once(
            partial(set_roles, cy, [Role.ADMIN], acting_user=ada),
            partial(set_roles, di, [Role.ADMIN], acting_user=bo),
            partial(set_active, bo, active=False, acting_user=ada),
            partial(set_roles, ada, [Role.LEAD], acting_user=bo),
        )
        assert all(one is None or isinstance(one, NotAllowed) for one in results)
        assert results[2:].count(None) == 1, "the second of two is of nobody who may"
        admins = User.objects.filter(groups__name=Role.ADMIN.value, is_active=True)
        expected = {(ada, bo)[results[2] is not None].pk}
        expected |= {one.pk for one, result in ((cy, results[0]), (di, results[1])) if not result}
        assert {one.pk for one in admins.filter(username__endswith=turn)} == expected


@pytest.mark.django_db
@pytest.mark.parametrize("change", ["another role", "deactivated", "no superuser"])
def test_who_lost_the_right_meanwhile_changes_nobody(change: str, settings: Any) -> None:
    """A page was asked for before that. The admin of the demo, who cannot log in, is none."""
    settings.DEMO = False
    ada, bo, other = (make_user(Role.ADMIN, name) for name in ("ada", "bo", "other"))
    User.objects.filter(pk=other.pk).update(is_demo=True)
    if change == "no superuser":
        User.objects.filter(pk=ada.pk).update(is_superuser=True)
        ada.refresh_from_db()
        assert ada.may(Capability.OPERATE)
        User.objects.filter(pk=ada.pk).update(is_superuser=False)
    else:
        assert ada.may(Capability.OPERATE)
        late = User.objects.get(pk=ada.pk)
        if change == "another role":
            set_roles(late, [Role.LEAD], acting_user=bo)
        else:
            set_active(late, active=False, acting_user=bo)
    for act in (
        partial(set_roles, bo, [Role.LEAD]),
        partial(set_active, bo, active=False),
        partial(remove_factors, bo),
        partial(end_sessions, bo),
    ):
        with pytest.raises(NotAllowed):
            act(acting_user=ada)
    User.objects.filter(pk__in=(ada.pk, bo.pk)).update(is_active=False)
    with pytest.raises(Conflict):
        keep_an_admin()

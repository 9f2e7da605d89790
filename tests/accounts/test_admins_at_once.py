"""Two admins who change people at the same moment."""

from __future__ import annotations

from functools import partial

import pytest
from django.contrib.auth.models import Group

from gradeapp.accounts.models import User
from gradeapp.accounts.people import set_active, set_roles
from gradeapp.accounts.roles import Role
from gradeapp.common.refusals import Conflict
from tests.conftest import make_user
from tests.evaluations.marking.desk.test_marking_races import at_once


@pytest.mark.django_db(transaction=True)
def test_one_admin_is_left() -> None:
    """Each change sees the other, whichever comes first."""
    for turn in range(3):
        first, second = (make_user(Role.ADMIN, f"{name}{turn}") for name in ("ada", "bo"))
        Group.objects.get(name=Role.ADMIN.value).user_set.set([first, second])
        results = at_once(
            partial(set_roles, first, [Role.LEAD], acting_user=second),
            partial(set_roles, second, [Role.LEAD], acting_user=first),
        )
        assert sum(isinstance(one, Conflict) for one in results) == 1
        assert User.objects.filter(groups__name=Role.ADMIN.value).count() == 1


@pytest.mark.django_db(transaction=True)
def test_changes_wait_for_each_other() -> None:
    """Changes that touch the same people and groups, in either order, all happen."""
    make_user(Role.ADMIN, "ed")  # whatever the order, an admin is left
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
        assert results == [None] * 4
        admins = User.objects.filter(groups__name=Role.ADMIN.value, pk__in=(ada.pk, cy.pk, di.pk))
        assert {one.pk for one in admins} == {cy.pk, di.pk}

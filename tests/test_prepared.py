"""Prepared queries: the same rows as the queryset they are written as, whatever the values."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.test.utils import CaptureQueriesContext

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.audit.models import AuditEntry
from gradeapp.prepared import prepared, prepared_insert, prepared_update
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@prepared
def deeds(actor: int, since: datetime) -> QuerySet[AuditEntry, AuditEntry]:
    """With a related row, so that both are read."""
    rows = AuditEntry.objects.select_related("actor").filter(actor=actor, at__gte=since)
    return rows.order_by("id")


@prepared
def called(public_id: uuid.UUID, name: str) -> QuerySet[User, str]:
    found = User.objects.filter(Q(public_id=public_id) | Q(username=name))
    return found.order_by("username").values_list("username", flat=True)


@prepared
def sharing(user: int) -> QuerySet[Group, tuple[str, int]]:
    """One value in two places, one of them a subquery."""
    own = User.objects.filter(pk=user, groups=OuterRef("pk"))
    counted = Group.objects.filter(Exists(own)).annotate(number=Count("user", filter=~Q(user=user)))
    return counted.values_list("name", "number")


@prepared_update
def rename(user: int, name: str) -> tuple[QuerySet[User, User], dict[str, Any]]:
    return User.objects.filter(pk=user), {"username": name, "last_login": None}


insert = prepared_insert(AuditEntry)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def test_rows_come_as_the_queryset_gives_them(teacher: User, lead: User) -> None:
    made = [insert(AuditEntry(actor=who, tag="t", target="x")) for who in (teacher, lead, teacher)]
    assert deeds(teacher.pk, LONG_AGO) == [made[0], made[2]]
    assert deeds(lead.pk, LONG_AGO) == [made[1]]
    with CaptureQueriesContext(connection) as asked:
        (deed,) = deeds(lead.pk, made[1].at)
        assert str(deed.actor) == "lin"
    assert len(asked) == 1
    assert (deed.at, deed.detail, deed.target) == (made[1].at, {}, "x")
    assert deeds(lead.pk, datetime(2999, 1, 1, tzinfo=UTC)) == []


def test_keys_and_names_are_found_in_the_form_the_database_has_them(
    teacher: User, lead: User
) -> None:
    assert called(teacher.public_id, "lin") == ["lin", "tao"]
    assert called(uuid.uuid4(), "tao") == ["tao"]


def test_a_value_may_stand_in_several_places(teacher: User, other_teacher: User) -> None:
    outsider = make_user(None)
    assert sharing(teacher.pk) == [(Role.TEACHER.value, 1)]
    assert sharing(outsider.pk) == []


def test_an_update_says_how_many_rows_it_changed(teacher: User, lead: User) -> None:
    assert rename(teacher.pk, "taotao") == 1
    assert rename(0, "nobody") == 0
    teacher.refresh_from_db()
    lead.refresh_from_db()
    assert (teacher.username, lead.username) == ("taotao", "lin")


def test_a_refused_row_rolls_its_transaction_back(teacher: User, lead: User) -> None:
    def rename_twice() -> None:
        with transaction.atomic():
            rename(teacher.pk, "kept for nobody")
            rename(teacher.pk, "lin")

    with pytest.raises(IntegrityError):
        rename_twice()
    teacher.refresh_from_db()
    assert teacher.username == "tao"


def test_a_stored_row_has_a_key_and_every_default(teacher: User) -> None:
    row = insert(AuditEntry(actor=None, tag="t", target="x", detail={"n": "一"}))
    stored = AuditEntry.objects.get(pk=row.pk)
    assert (stored.actor, stored.detail, stored.at) == (None, {"n": "一"}, row.at)
    row.tag = "later"
    row.save()  # it is known as stored: this updates
    assert AuditEntry.objects.get().tag == "later"


def test_what_cannot_be_prepared_is_refused(teacher: User) -> None:
    @prepared
    def deaf(user: int) -> QuerySet[User, User]:
        return User.objects.all()

    with pytest.raises(ValueError, match="nowhere in it"):
        deaf(teacher.pk)
    with pytest.raises(TypeError, match="NoneType"):
        prepared(lambda user: User.objects.filter(pk=user))(None)
    with pytest.raises(TypeError, match="by place"):
        deeds(actor=1, since=LONG_AGO)
    with pytest.raises(TypeError, match="values_list"):
        prepared(lambda user: User.objects.filter(pk=user).values("pk"))(teacher.pk)

"""Sessions end with the password and with the account; a request writes one line to the log."""

from __future__ import annotations

import logging

import pytest

from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db


def test_a_new_password_ends_every_other_session(teacher: User) -> None:
    """T096: whoever took the session is out with the next request."""
    thief, owner = logged_in(teacher), logged_in(teacher)
    assert thief.get("/marking/").status_code == 200
    new = "a-different-long-one"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert owner.post("/password/", form).status_code == 302
    assert owner.get("/marking/").status_code == 200
    assert thief.get("/marking/").status_code == 302


def test_a_deactivated_person_is_out_with_the_next_request(teacher: User) -> None:
    """T029, T096."""
    client = logged_in(teacher)
    assert client.get("/marking/").status_code == 200
    User.objects.filter(pk=teacher.pk).update(is_active=False)
    assert client.get("/marking/").status_code == 302
    assert client.get("/api/v1/marks/").status_code in (302, 401, 403)


def test_an_address_writes_one_line(teacher: User, caplog: pytest.LogCaptureFixture) -> None:
    """T099: a line break in an address does not become one in the log."""
    with caplog.at_level(logging.WARNING):
        logged_in(teacher).get("/%0a%1b[31mFAKE 200 OK")
    lines = [record.getMessage() for record in caplog.records]
    assert any("FAKE" in line for line in lines)
    assert not any("\n" in line or "\x1b" in line for line in lines)

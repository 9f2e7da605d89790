"""Login, logout, password change, roles: what they let in and what they keep out."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from gradeapp.accounts.demo import DEMO_PEOPLE
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import ROLE_CAPABILITIES, Capability, Role, capabilities
from gradeapp.accounts.services import ensure_user
from tests.conftest import REAL_HASHERS, logged_in
from tests.factories import PASSWORD


def test_passwords_are_kept_by_argon2() -> None:
    assert REAL_HASHERS[0].endswith("BoundedArgon2")


def test_every_role_has_its_capabilities_and_every_capability_a_role() -> None:
    assert set(ROLE_CAPABILITIES) == set(Role)
    assert capabilities(Role) == frozenset(Capability)


def test_a_marker_learns_nothing_outside_the_desk() -> None:
    assert ROLE_CAPABILITIES[Role.TEACHER] == {Capability.MARK}


@pytest.mark.django_db
def test_sync_roles_is_safe_to_repeat() -> None:
    call_command("sync_roles", verbosity=0)
    call_command("sync_roles", verbosity=0)
    assert set(Group.objects.values_list("name", flat=True)) == {role.value for role in Role}


def test_an_admin_makes_accounts_in_the_admin_and_changes_no_evidence(admin: User) -> None:
    client = logged_in(admin)
    assert client.get("/admin/accounts/user/add/").status_code == 200
    assert client.get("/admin/evaluations/mark/").status_code == 200
    assert client.get("/admin/evaluations/mark/add/").status_code == 403
    assert client.get("/admin/questions/question/").status_code in (200, 404)


def test_a_superuser_is_an_admin_and_no_marker(db: None) -> None:
    root = User.objects.create_superuser("root", password=PASSWORD)
    assert root.may(Capability.OPERATE)
    assert not root.may(Capability.MARK)


def test_login_and_logout(client: Client, teacher: User) -> None:
    login = reverse("login")
    wrong = client.post(login, {"username": "tao", "password": "wrong"})
    assert wrong.status_code == 200
    assert "_auth_user_id" not in client.session
    right = client.post(login, {"username": "tao", "password": PASSWORD})
    assert right.status_code == 302
    assert client.session["_auth_user_id"] == str(teacher.pk)
    assert client.get(reverse("logout")).status_code == 405
    client.post(reverse("logout"))
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("target", ["//evil.example", "https:evil.example", "javascript:alert(1)"])
def test_the_login_leads_nowhere_else(client: Client, teacher: User, target: str) -> None:
    address = reverse("login") + "?next=" + target
    response = client.post(address, {"username": "tao", "password": PASSWORD, "next": target})
    assert response["Location"] == "/"


def test_an_inactive_person_may_do_nothing(client: Client, db: None) -> None:
    ghost = ensure_user("published-teacher", roles=[Role.TEACHER])
    assert not ghost.is_active
    assert not ghost.capabilities
    response = client.post(reverse("login"), {"username": ghost.username, "password": ""})
    assert "_auth_user_id" not in client.session
    assert response.status_code == 200


def test_a_new_password(teacher: User) -> None:
    client = logged_in(teacher)
    page = reverse("password_change")
    short = client.post(
        page, {"old_password": PASSWORD, "new_password1": "short", "new_password2": "short"}
    )
    assert "at least 10 characters" in short.text
    new = "a-different-long-one"
    client.post(page, {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    teacher.refresh_from_db()
    assert teacher.check_password(new)


def test_home_shows_each_person_their_pages(lead: User, outsider: User, teacher: User) -> None:
    assert "/rounds/" in logged_in(lead).get("/").text
    assert "no role yet" in logged_in(outsider).get("/").text
    assert logged_in(teacher).get("/")["Location"] == "/marking/"


def test_pages_of_people_are_kept_in_no_cache(lead: User) -> None:
    assert "no-store" in logged_in(lead).get("/")["Cache-Control"]


def test_an_ended_session_tells_htmx_instead_of_filling_a_box(client: Client, db: None) -> None:
    assert client.get("/questions/", headers={"HX-Request": "true"}).status_code == 401


def test_demo_logins_show_in_the_demo_only(client: Client, db: None, settings) -> None:  # type: ignore[no-untyped-def]
    person = DEMO_PEOPLE[0]
    settings.DEMO = False
    assert person.password not in client.get(reverse("login")).text
    settings.DEMO = True
    assert person.password in client.get(reverse("login")).text


def test_the_admin_is_for_staff(teacher: User, admin: User) -> None:
    assert logged_in(teacher).get("/admin/").status_code == 404
    assert admin.is_staff

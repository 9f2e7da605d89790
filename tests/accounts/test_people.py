"""People: invited by a link, never typed in; what an admin changes works within one request."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth.hashers import make_password
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone

from evaluations.marking.rounds.services.rounds import close_round
from gradeapp.accounts import links, people, tasks
from gradeapp.accounts.models import AccessLink, GuessCount, User
from gradeapp.accounts.roles import Capability, Role
from gradeapp.accounts.scopes import Scope
from gradeapp.accounts.services import ensure_user
from gradeapp.accounts.session_rules import POLLED
from gradeapp.accounts.tokens import make_token
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import Conflict, NotAllowed
from tests.conftest import logged_in
from tests.evaluations.marking_world import small_round
from tests.factories import PASSWORD, make_user
from tests.waiting import after

NEW = "another-long-password"


def tags() -> list[str]:
    return list(AuditEntry.objects.order_by("id").values_list("tag", flat=True))


def invitation_from(client: Client, **fields: Any) -> str:
    """The address that the page shows, as a path."""
    shown = client.post("/people/invite/", {"name": "Li Hua", "roles": ["teacher"], **fields})
    return re.search(r"http://testserver(/invitation/[\w-]+/)", shown.text)[1]  # type: ignore[index]


def use(link: str, username: str = "lihua", **extra: Any) -> Any:
    values = {"username": username, "password1": NEW, "password2": NEW, **extra}
    return Client().post(link, values)


def test_an_invitation_makes_one_account_and_is_gone(admin: User, teacher: User) -> None:
    link = invitation_from(logged_in(admin))
    assert not AccessLink.objects.filter(token_hash__in=link.split("/")).exists()
    assert "Welcome, Li Hua" in Client().get(link).text
    assert "taken" in use(link, teacher.username).text
    # T085: nobody becomes another in the trail by a letter of another script, or by its case.
    assert "taken" in use(link, teacher.username.upper()).text
    assert "look alike" in use(link, "\u0430dmin").text
    # Full-width letters, which the login reads as plain ones.
    assert "taken" in use(link, "ｔａｏ").text
    invited = {"name": "L\u0456 Hua", "roles": ["teacher"]}
    assert "look alike" in logged_in(admin).post("/people/invite/", invited).text
    # Fields that the form does not have change nothing.
    answer = use(link, is_staff="on", is_superuser="on", roles="admin")
    assert answer["Location"] == "/"
    made = User.objects.get(username="lihua")
    assert (made.roles, made.is_staff, made.is_superuser) == ((Role.TEACHER,), False, False)
    assert answer.client.session["_auth_user_id"] == str(made.pk)
    for again in (Client().get(link), use(link, "second")):
        assert again.status_code == 410
        assert "used before" in again.text
    assert Client().get("/invitation/made-up/").status_code == 404
    refused = ["account.invitation_refused"] * 3
    assert tags() == ["account.invited", *refused, "account.invitation_used", "account.login"]


@pytest.mark.parametrize("kept", ["", "li@school.example", "ada@evil.example"])
def test_the_address_of_an_invitation_is_shown_and_is_what_its_person_saves(
    admin: User, kept: str
) -> None:
    """Whoever has it logs in as that person; an admin wrote down an own one, and nobody saw it."""
    link = invitation_from(logged_in(admin), email="ada@evil.example")
    (invited,) = AuditEntry.objects.filter(tag="account.invited")
    assert invited.detail["email"] == "ada@evil.example"
    page = Client().get(link).text
    assert 'value="ada@evil.example"' in page
    assert "can log in as you" in page
    client = use(link, email=kept).client
    made = User.objects.get(username="lihua")
    assert made.email == kept
    (used,) = AuditEntry.objects.filter(tag="account.invitation_used")
    assert (used.detail["email"], used.detail["invited_email"]) == (kept, "ada@evil.example")
    shown = f"Mail address: {kept}" if kept else "no mail address"
    assert shown in logged_in(admin).get(f"/people/{made.pk}/").text
    if kept:
        assert f"Your mail address here is {kept}." in client.get("/account/sessions/").text
        assert kept in client.get("/password/").text


def test_nobody_takes_the_address_of_another_by_an_invitation(admin: User, teacher: User) -> None:
    """Then neither could log in by it, also if the other is only invited yet."""
    User.objects.filter(pk=teacher.pk).update(email="tao@school.example")
    link = invitation_from(logged_in(admin))
    invitation_from(logged_in(admin), name="Wang Wei", email="wei@school.example")
    for taken in ("TAO@school.example", "Wei@school.example"):
        assert "This mail address cannot be used" in use(link, email=taken).text
    too_long = use(link, email=f"{'a' * 60}@{'b' * 60}.{'c' * 60}.{'d' * 60}.{'e' * 60}.example")
    assert too_long.status_code == 200
    assert use(link)["Location"] == "/"


def test_an_invitation_tells_of_few_accounts_and_each_time_is_seen(
    admin: User, teacher: User, settings: Any
) -> None:
    """It said of any mail address whether somebody here has it, as often as one asked."""
    settings.AUDIT_ADDRESSES = True
    User.objects.filter(pk=teacher.pk).update(email="tao@school.example")
    by_admin = logged_in(admin)
    link, other = invitation_from(by_admin), invitation_from(by_admin, name="Wang Wei")
    invited = AuditEntry.objects.filter(tag="account.invited")
    assert {one.detail["address"] for one in invited} == {"127.0.0.1"}, "also far from the view"
    for _time in range(5):
        # The name is taken, so that the link is not used up where nobody has the address.
        assert "cannot be used" in use(link, "tao", email="tao@school.example").text
        assert "taken" in use(link, "tao", email="nobody@school.example").text
    guessed = use(link, "tao", email="tao@school.example")
    right = use(link, email="li@school.example")
    for answer in (guessed, right):
        assert answer.status_code == 429
        assert "Ask an admin for a new link, or try again in 24 hours." in answer.text
        assert "cannot be used" not in answer.text
    assert 'value="li@school.example"' in right.text, "what was entered is still there"
    chinese = Client(headers={"accept-language": "zh-hans"})
    values = {"username": "lihua", "password1": NEW, "password2": NEW}
    assert "请向管理员索取新链接，或在24小时后重试" in chinese.post(link, values).text
    entries = AuditEntry.objects.filter(tag="account.invitation_refused").order_by("pk")
    assert [sorted(one.detail) for one in entries] == [
        ["address", "email", "name"],
        ["address", "name", "username"],
    ] * 5
    assert entries[0].detail["email"] == "tao@school.example"
    assert "Name or mail address refused at an invitation" in by_admin.get("/audit/").text
    assert use(other, "wangwei")["Location"] == "/", "another person's link has its own tries"
    GuessCount.objects.update(since=timezone.now() - timedelta(days=1))
    assert use(link)["Location"] == "/"


def test_an_address_that_got_an_account_meanwhile_is_not_given_twice(
    admin: User, teacher: User
) -> None:
    """Neither of the two could log in by single sign-on then."""
    by_admin = logged_in(admin)
    link = invitation_from(by_admin, email="li@school.example")
    again = invitation_from(by_admin, email="li@school.example")
    assert use(link, email="li@school.example")["Location"] == "/", "invited twice is no account"
    refused = use(again, "second", email="LI@school.example")
    assert "There is already an account with the mail address of this invitation" in refused.text
    assert not User.objects.filter(username="second").exists()
    assert use(again, "second", email="hua@school.example")["Location"] == "/", "the link works"
    invited = {"name": "Li Hua", "roles": ["teacher"], "email": "Li@school.example"}
    page = by_admin.post("/people/invite/", invited).text
    assert "Li Hua already has an account with this mail address." in page
    assert User.objects.filter(email__iexact="li@school.example").count() == 1


def test_there_is_no_way_to_sign_up(db: None) -> None:
    for address in ("/accounts/signup/", "/signup/", "/account/signup/"):
        assert Client().get(address).status_code in (302, 404)
        assert Client().post(address, {"username": "x", "password1": NEW}).status_code != 200
    assert not User.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_invitation_used_ten_times_at_once_makes_one_account() -> None:
    link = invitation_from(logged_in(make_user(Role.ADMIN, "ada")))

    def one(number: int) -> int:
        try:
            status: int = use(link, f"name{number}").status_code
            return status
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as pool:
        statuses = list(pool.map(one, range(10)))
    assert sorted(statuses) == [302, *[410] * 9]
    assert User.objects.filter(username__startswith="name").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_second_click_at_an_invitation_says_that_the_account_is_there() -> None:
    """Not that somebody else has the name; a reset link says it too."""
    admin = make_user(Role.ADMIN, "ada")
    link = invitation_from(logged_in(admin), email="li@school.example")
    answers: list[Any] = []
    second = after(
        lambda: answers.append(use(link, email="li@school.example")),
        lambda: use(link, email="li@school.example"),
    )
    assert answers[0].status_code == 302
    assert (second.status_code, "If that was you, log in." in second.text) == (410, True)
    assert "account.invitation_refused" not in tags()
    assert Client().post("/login/", {"username": "lihua", "password": NEW}).status_code == 302
    person = User.objects.get(username="lihua")
    reset = f"/reset/{links.reset_link(person, acting_user=admin)}/"
    for status in (302, 410):
        said = Client().post(reset, {"password1": NEW + "1", "password2": NEW + "1"})
        assert said.status_code == status
    assert "If that was you, log in." in said.text


def test_a_form_that_is_sent_again_leaves_one_invitation_open(admin: User) -> None:
    """Its link is shown once: each time there is a new one, and the one before it ends."""
    client = logged_in(admin)
    key = str(client.get("/people/invite/").context["form"]["key"].value())
    first, last = (invitation_from(client, key=key) for _ in range(2))
    assert Client().get(first).status_code == 410
    assert len(client.get("/people/").context["invitations"]) == 1
    assert use(last).status_code == 302
    sent = {"name": "Li Hua", "roles": ["teacher"], "key": key}
    assert "was used already" in client.post("/people/invite/", sent).text
    assert not client.get("/people/").context["invitations"]


def test_invitations_end_after_72_hours_and_when_withdrawn(admin: User) -> None:
    client = logged_in(admin)
    old, withdrawn = invitation_from(client), invitation_from(client)
    first, second = AccessLink.objects.order_by("pk")
    assert abs(first.expires_at - timezone.now() - timedelta(hours=72)) < timedelta(minutes=1)
    AccessLink.objects.filter(pk=first.pk).update(expires_at=timezone.now())
    client.post(f"/people/invitations/{second.pk}/withdraw/")
    assert use(old).status_code == use(withdrawn).status_code == 410
    assert not User.objects.filter(username="lihua").exists()


def test_a_reset_link_works_once_and_ends_all_sessions(admin: User, teacher: User) -> None:
    before = logged_in(teacher)
    page = logged_in(admin).post(f"/people/{teacher.pk}/reset/").text
    link = re.search(r"http://testserver(/reset/[\w-]+/)", page)[1]  # type: ignore[index]
    assert "too short" in Client().post(link, {"password1": "a", "password2": "a"}).text
    values = {"password1": NEW, "password2": NEW}
    assert Client().post(link, values)["Location"] == "/login/"
    assert Client().post(link, values).status_code == 410
    assert before.get("/marking/").status_code == 302, "the old session is dead"
    teacher.refresh_from_db()
    assert teacher.check_password(NEW)


def test_a_reset_link_ends_with_the_password_that_it_was_made_for(
    admin: User, teacher: User
) -> None:
    """Somebody who got hold of the link is too late once the password was changed."""
    values = {"password1": NEW, "password2": NEW}
    own = f"/reset/{links.reset_link(teacher, acting_user=None)}/"
    changed = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    assert logged_in(teacher).post("/password/", changed)["Location"] == "/password/done/"
    assert Client().post(own, values).status_code == 410
    root = User.objects.create_superuser("root", password=PASSWORD)
    by_root = f"/reset/{links.reset_link(teacher, acting_user=admin)}/"
    given = {"password1": NEW + "1", "password2": NEW + "1", "usable_password": "true"}
    page = logged_in(root).post(f"/admin/accounts/user/{teacher.pk}/password/", given)
    assert page.status_code == 302
    assert Client().post(by_root, values).status_code == 410


def test_a_superuser_of_a_taken_name_is_refused_in_one_sentence(admin: User) -> None:
    for name in (admin.username, "ａｄａ"):
        with pytest.raises(CommandError, match="already taken"), transaction.atomic():
            call_command("createsuperuser", interactive=False, username=name, email="r@x.example")


def test_the_command_line_is_in_the_trail_and_ends_what_a_new_password_ends(
    teacher: User, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Django's commands write no entry, and every column as it was before they asked."""
    call_command("createsuperuser", interactive=False, username="root", email="r@x.example")
    added = AuditEntry.objects.get(tag="account.added")
    assert added.target == f"user:{User.objects.get(username='root').pk}"
    assert {"by": "command line", "email": "r@x.example"}.items() <= added.detail.items()
    User.objects.filter(pk=teacher.pk).update(must_change_password=True)
    link = f"/reset/{links.reset_link(teacher, acting_user=admin)}/"
    _row, token = make_token(admin, name="t", scopes=[Scope.READ], days=1, acting_user=admin)
    typed = iter(["one", "two", "short", "short", NEW, NEW, NEW, NEW])

    def ask(*_prompt: str) -> str:
        User.objects.filter(pk=teacher.pk).update(is_active=False)
        return next(typed)

    monkeypatch.setattr("getpass.getpass", ask)
    for name in ("tao", admin.username):
        call_command("changepassword", name)
    teacher.refresh_from_db()
    assert teacher.check_password(NEW)
    assert (teacher.is_active, teacher.must_change_password) == (False, False)
    people.set_active(teacher, active=True, acting_user=admin)
    assert Client().get(link).status_code == 410
    headers = {"Authorization": f"Bearer {token}"}
    assert Client().get("/api/v1/questions/", headers=headers).status_code == 401
    changed = AuditEntry.objects.filter(tag="account.password_changed").order_by("pk")
    assert [one.target for one in changed] == [f"user:{one.pk}" for one in (teacher, admin)]
    assert changed[0].detail == {"by": "command line"}
    with pytest.raises(CommandError):
        call_command("changepassword", "nobody")


@pytest.mark.parametrize("change", ["deactivated", "another role"])
def test_an_admin_who_is_none_any_more_comes_back_by_no_link(
    admin: User, teacher: User, change: str
) -> None:
    """The sequence: keep an invitation as admin and a link to another's account, then leave.

    Who comes back, with the role, brings none of them back.
    """
    other = make_user(Role.ADMIN, "other")
    kept = invitation_from(logged_in(admin), roles=["admin"])
    reset = f"/reset/{links.reset_link(teacher, acting_user=admin)}/"
    values = {"password1": NEW, "password2": NEW}
    for back in (False, True):
        if change == "deactivated":
            people.set_active(admin, active=back, acting_user=other)
        else:
            role = Role.ADMIN if back else Role.TEACHER
            people.set_roles(admin, [role], acting_user=other)
        assert use(kept).status_code == Client().post(reset, values).status_code == 410
        assert not User.objects.filter(username="lihua").exists()
        assert "Li Hua" not in logged_in(other).get("/people/").text
    entry = AuditEntry.objects.get(tag="account.link_withdrawn")
    assert (entry.actor, entry.detail) == (other, {"name": "Li Hua"})


def test_an_admin_who_marks_becomes_nobody_else_by_a_link(
    admin: User, teacher: User, other_teacher: User, lead: User
) -> None:
    """Links that they kept wait until they mark no more; those of people who mark only do not."""
    person = ensure_user(admin.username, roles=[Role.ADMIN, Role.TEACHER])
    client, values = logged_in(person), {"password1": NEW, "password2": NEW}
    kept = invitation_from(client, roles=["lead"])
    of_lead = f"/reset/{links.reset_link(lead, acting_user=person)}/"
    of_teacher = f"/reset/{links.reset_link(teacher, acting_user=person)}/"
    made = small_round([person, other_teacher], 1)
    assert use(kept).status_code == Client().post(of_lead, values).status_code == 409
    assert Client().post(of_teacher, values).status_code == 302
    close_round(made, acting_user=lead, now=timezone.now())
    assert use(kept).status_code == Client().post(of_lead, values).status_code == 302


def test_a_reset_link_does_not_outlast_a_promotion(admin: User, teacher: User) -> None:
    """Only a superuser sets the password of a superuser, whenever the link was made."""
    reset = f"/reset/{links.reset_link(teacher, acting_user=admin)}/"
    User.objects.filter(pk=teacher.pk).update(is_superuser=True)
    assert Client().post(reset, {"password1": NEW, "password2": NEW}).status_code == 410


def test_a_deactivated_person_is_out_on_all_ways(admin: User, teacher: User) -> None:
    """T029: session, form, API, reset link, within one request."""
    session, by_admin = logged_in(teacher), logged_in(admin)
    reset = f"/reset/{links.reset_link(teacher, acting_user=admin)}/"
    by_admin.post(f"/people/{teacher.pk}/deactivate/")
    assert "/login/" in session.get("/marking/")["Location"]
    assert session.get("/api/v1/marks/").status_code in (302, 401, 403)
    login = Client().post("/login/", {"username": "tao", "password": PASSWORD})
    assert "_auth_user_id" not in login.client.session
    values = {"password1": NEW, "password2": NEW}
    assert Client().post(reset, values).status_code == 410
    assert by_admin.post(f"/people/{teacher.pk}/reset/").status_code == 409
    by_admin.post(f"/people/{teacher.pk}/activate/")
    assert Client().post(reset, values).status_code == 410, "for good"
    assert Client().post("/login/", {"username": "tao", "password": PASSWORD})["Location"] == "/"
    assert {"account.deactivated", "account.activated", "account.sessions_ended"} <= set(tags())


def test_roles_change_and_the_old_session_ends(admin: User, teacher: User) -> None:
    session = logged_in(teacher)
    logged_in(admin).post(f"/people/{teacher.pk}/", {"roles": ["teacher", "lead"]})
    assert "/login/" in session.get("/marking/")["Location"]
    fresh = User.objects.get(pk=teacher.pk)
    assert fresh.roles == (Role.LEAD, Role.TEACHER)
    entry = AuditEntry.objects.get(tag="account.roles_changed")
    assert entry.detail == {"before": ["teacher"], "after": ["teacher", "lead"]}


def test_a_page_from_before_brings_no_lost_role_back(admin: User, teacher: User) -> None:
    """Two admins have it open: the second one adds a role where the first has taken one away."""
    person, client = f"/people/{teacher.pk}/", logged_in(admin)
    client.post(person, {"roles": ["teacher", "lead"]})
    seen = re.search(r'name="seen" value="([^"]*)"', client.get(person).text)
    assert seen
    client.post(person, {"roles": ["teacher"], "seen": seen.group(1)})
    late = client.post(person, {"roles": ["teacher", "lead", "curator"], "seen": seen.group(1)})
    assert late.status_code == 409
    assert "Somebody else has changed" in late.text
    assert User.objects.get(pk=teacher.pk).roles == (Role.TEACHER,)


def test_the_last_admin_stays(admin: User) -> None:
    with pytest.raises(Conflict):
        people.set_roles(admin, [Role.TEACHER], acting_user=admin)
    with pytest.raises(Conflict):
        people.set_active(admin, active=False, acting_user=admin)
    assert User.objects.get(pk=admin.pk).roles == (Role.ADMIN,)


def test_an_admin_touches_no_superuser_and_mixes_no_roles(admin: User, teacher: User) -> None:
    root = User.objects.create_superuser("root", password=PASSWORD)
    client = logged_in(admin)
    for change in ("deactivate", "reset", "end-sessions", "remove-factors"):
        assert client.post(f"/people/{root.pk}/{change}/").status_code == 403
    page, other = (client.get(f"/people/{one.pk}/").text for one in (root, teacher))
    assert "Only a superuser changes a superuser." in page
    for offered in ("Save roles", "Make link", "Log out everywhere", "Deactivate"):
        assert (offered in page, offered in other) == (False, True)
    assert "Save roles" in logged_in(root).get(f"/people/{root.pk}/").text
    for address in ("/people/invite/", f"/people/{teacher.pk}/"):
        answer = client.post(address, {"name": "x", "roles": ["admin", "teacher"]})
        assert "cannot be a teacher" in answer.text
    assert User.objects.get(pk=teacher.pk).roles == (Role.TEACHER,)


def test_a_change_of_people_asks_for_the_password_and_then_goes_on(
    admin: User, teacher: User, settings: Any
) -> None:
    settings.CONFIRM_CHANGES = True
    client = logged_in(admin)
    answer = client.post(f"/people/{teacher.pk}/deactivate/")
    assert answer["Location"].startswith("/account/confirm/?next=")
    assert User.objects.get(pk=teacher.pk).is_active
    assert "The password is wrong" in client.post(answer["Location"], {"password": "no"}).text
    client.post(answer["Location"], {"password": PASSWORD})
    assert not User.objects.get(pk=teacher.pk).is_active, "what was asked for is done then"


def test_a_forgotten_password_by_mail_says_the_same_to_everybody(
    teacher: User, admin: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Ask an admin" in Client().get("/password/forgot/").text
    settings.EMAIL_HOST = "mail.example"
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(tasks.send_reset_link, "delay", lambda *given: asked.append(given))
    User.objects.filter(pk=teacher.pk).update(email="tao@example.org")
    pages = [Client().post("/password/forgot/", {"name": name}).text for name in ("tao", "nobody")]
    token = re.compile(r'value="\w{64}"|token": "\w{64}"|/password/forgot/')
    assert token.sub("", pages[0]) == token.sub("", pages[1])
    for given in asked:
        tasks.send_reset_link(*given)
    (sent,) = mail.outbox
    assert sent.to == ["tao@example.org"]
    assert re.search(r"http://testserver/reset/[\w-]+/", str(sent.body))
    for _ in range(2):
        Client().post("/password/forgot/", {"name": "tao"})
    assert Client().post("/password/forgot/", {"name": "tao"}).status_code == 429
    evil = Client().post("/password/forgot/", {"name": "x"}, headers={"host": "evil.example"})
    assert evil.status_code == 400
    # What anybody can ask for ends no link that an admin has handed over.
    handed = links.reset_link(teacher, acting_user=admin)
    tasks.send_reset_link("tao", "http://testserver/", "en")
    tasks.send_reset_link("tao", "http://testserver/", "en")
    mailed = [re.search(r"/reset/([\w-]+)/", str(one.body)) for one in mail.outbox]
    states = [Client().get(f"/reset/{one[1]}/").status_code for one in mailed if one]
    assert states == [410, 410, 200]
    assert Client().get(f"/reset/{handed}/").status_code == 200
    links.set_password(handed, NEW)
    assert Client().get(f"/reset/{mailed[-1][1]}/").status_code == 410  # type: ignore[index]
    # A letter that only some database takes for i would be counted as another name.
    User.objects.filter(pk=teacher.pk).update(email="tim@example.org")
    tasks.send_reset_link("t\u0131m@example.org", "http://testserver/", "en")
    assert len(mail.outbox) == 3
    # A port of the sender's choice leads to another server; one of the settings is kept.
    settings.CSRF_TRUSTED_ORIGINS = ["http://testserver:8443"]
    for number, port in enumerate(("9999", "8443")):
        host = {"host": f"testserver:{port}"}
        Client().post("/password/forgot/", {"name": f"somebody {number}"}, headers=host)
    assert [given[1] for given in asked[-2:]] == ["http://testserver/", "http://testserver:8443/"]


def test_a_person_of_the_demo_gets_no_reset_link_where_it_does_not_run(
    teacher: User, admin: User, settings: Any
) -> None:
    """It would never work there."""
    User.objects.filter(pk=teacher.pk).update(email="tao@example.org", is_demo=True)
    for settings.DEMO, status, mails in ((False, 409, 0), (True, 200, 2)):
        page = logged_in(admin).post(f"/people/{teacher.pk}/reset/")
        assert (page.status_code, "may not log in" in page.text) == (status, status == 409)
        for name in ("tao", "tao@example.org"):
            tasks.send_reset_link(name, "http://testserver/", "en")
        assert len(mail.outbox) == mails


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("late", ["mail", "password"])
def test_an_address_that_changes_at_this_moment_ends_the_link(late: str) -> None:
    """Be it just mailed to the old one, or just used from there."""
    person = make_user(Role.TEACHER, "tao")
    rows = User.objects.filter(pk=person.pk)
    rows.update(email="tao@lost.example")
    tasks.send_reset_link("tao", "http://testserver/", "en")

    def last() -> str:
        return re.findall(r"/reset/([\w-]+)/", str(mail.outbox[-1].body))[0]

    def then() -> Any:
        if late == "mail":
            return tasks.send_reset_link("tao", "http://testserver/", "en")
        return links.set_password(last(), NEW)

    result = after(lambda: rows.update(email="tao@new.example"), then)
    assert late == "mail" or isinstance(result, links.Gone)
    assert len(mail.outbox) == (2 if late == "mail" else 1)
    assert Client().get(f"/reset/{last()}/").status_code == 410
    assert rows.get().check_password(PASSWORD)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", ["deactivated", "rights", "sessions", "password"])
def test_a_new_own_password_writes_nothing_else_of_the_person(change: str) -> None:
    """What an admin changes while its form is on its way stays."""
    admin, person = make_user(Role.ADMIN, "ada"), make_user(Role.LEAD, "lin")
    rows = User.objects.filter(pk=person.pk)
    rows.update(is_superuser=change == "rights")
    client = logged_in(person)
    assert client.get("/password/").status_code == 200  # loads what the first page needs
    session = client.session
    session["seen"] -= 120  # so that the request has something to save in it
    session.save()
    values = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}

    def first() -> None:
        if change == "rights":
            rows.update(is_superuser=False, is_staff=False, email="lin@new.example")
        elif change == "deactivated":
            people.set_active(person, active=False, acting_user=admin)
        elif change == "sessions":
            people.end_sessions(person, acting_user=admin)
        else:
            links.change_password(person, NEW + "er")

    answer = after(first, lambda: client.post("/password/", values))
    now = rows.get()
    done = change == "rights"
    statuses = {"deactivated": 403, "rights": 302, "sessions": 409, "password": 409}
    late = answer.get("Location", "").startswith("/login/") and connection.vendor == "sqlite"
    assert answer.status_code == statuses[change] or late
    assert now.is_active == (change != "deactivated")
    assert (now.is_superuser, now.is_staff) == (False, False)
    assert now.email == ("lin@new.example" if done else "")
    used = {"rights": NEW, "password": NEW + "er"}.get(change, PASSWORD)
    assert now.check_password(used)
    assert (client.get("/runs/").status_code == 200) == done
    entries = AuditEntry.objects.filter(tag="account.password_changed", actor=person)
    assert entries.count() == done


@pytest.mark.parametrize("late", [False, True])
def test_an_old_hash_is_renewed_and_takes_no_new_password_away(
    late: bool, teacher: User, settings: Any
) -> None:
    """The old password is compared while a reset link sets a new one."""
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.MD5PasswordHasher",
        "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    ]
    old = make_password(PASSWORD, hasher="pbkdf2_sha256")
    User.objects.filter(pk=teacher.pk).update(password=old)
    read = User.objects.get(pk=teacher.pk)
    if late:
        links.change_password(teacher, NEW)
    assert read.check_password(PASSWORD)
    now = User.objects.get(pk=teacher.pk)
    assert now.password.startswith("md5$")
    assert (now.password == read.password) != late
    assert now.check_password(NEW if late else PASSWORD)
    assert not now.check_password(PASSWORD if late else NEW)


def test_a_username_that_is_the_address_of_another_stops_no_mail(
    teacher: User, lead: User, admin: User
) -> None:
    User.objects.filter(pk=teacher.pk).update(email="tao@example.org")
    User.objects.filter(pk=lead.pk).update(email="eve@example.org", username="Tao@example.org")
    tasks.send_reset_link("tao@example.org", "http://testserver/", "en")
    assert [one.to for one in mail.outbox] == [["tao@example.org"]]
    tasks.send_reset_link("Tao@example.org", "http://testserver/", "en")
    assert [one.to for one in mail.outbox[1:]] == [["eve@example.org"], ["tao@example.org"]]
    link = invitation_from(logged_in(admin))
    assert "This username is taken" in use(link, "EVE@example.org").text
    assert use(link, "li@example.org", email="li@example.org")["Location"] == "/"


def test_who_has_lost_the_role_since_the_request_makes_no_link(admin: User, teacher: User) -> None:
    """As where two admins take the role from each other: the second one waits, and is looked at."""
    as_the_request_read_it = User.objects.get(pk=admin.pk)
    assert as_the_request_read_it.may(Capability.OPERATE)
    admin.groups.clear()
    with pytest.raises(NotAllowed, match="may no longer"):
        links.invite("Backdoor", [Role.ADMIN], acting_user=as_the_request_read_it)
    with pytest.raises(NotAllowed, match="may no longer"):
        links.reset_link(teacher, acting_user=as_the_request_read_it)
    assert not AccessLink.objects.exists()


def test_a_first_password_is_changed_before_anything_else(teacher: User) -> None:
    User.objects.filter(pk=teacher.pk).update(must_change_password=True)
    client = logged_in(teacher)
    assert client.get("/marking/")["Location"] == "/password/"
    assert client.get("/api/v1/marks/").status_code == 403
    said = client.get("/marking/", headers={"HX-Request": "true"})
    assert (said.status_code, "Change your first password" in said.text) == (401, True)
    assert client.get("/session/").json()["held"] == "Change your first password before you go on."
    values = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    client.post("/password/", values)
    assert client.get("/marking/").status_code == 200
    assert client.get("/session/").json()["held"] is None


def test_a_first_password_is_no_new_one(teacher: User, admin: User) -> None:
    """Whoever gave it knows it, also where a reset link sets the new one; later it may stay."""
    User.objects.filter(pk=teacher.pk).update(must_change_password=True)
    client, again = logged_in(teacher), dict.fromkeys(("new_password1", "new_password2"), PASSWORD)
    change = {"old_password": PASSWORD, **again}
    reset = f"/reset/{links.reset_link(teacher, acting_user=admin)}/"
    sent = {"password1": PASSWORD, "password2": PASSWORD}
    for page in (client.post("/password/", change), Client().post(reset, sent)):
        assert (page.status_code, "Somebody else knows this one" in page.text) == (200, True)
    assert client.get("/marking/")["Location"] == "/password/"
    User.objects.filter(pk=teacher.pk).update(must_change_password=False)
    assert Client().post(reset, sent)["Location"] == "/login/"


@pytest.mark.parametrize(
    ("began", "seen", "open_"), [(0, 59, True), (0, 62, False), (481, 1, False)]
)
def test_a_session_ends_when_idle_and_after_eight_hours(
    began: int, seen: int, open_: bool, teacher: User, settings: Any
) -> None:
    settings.SESSION_IDLE_MINUTES, settings.SESSION_HOURS = 60, 8
    client = logged_in(teacher)
    session = client.session
    session["began"], session["seen"] = time.time() - began * 60, time.time() - seen * 60
    session.save()
    assert (client.get("/marking/").status_code == 200) == open_
    assert ("account.session_expired" in tags()) != open_
    if not open_:
        assert client.post("/marking/", headers={"HX-Request": "true"}).status_code == 401


def test_what_a_page_asks_for_by_itself_is_no_sign_of_a_person(admin: User, settings: Any) -> None:
    """Else a page with progress that somebody left open would keep the session for ever."""
    polled = set()
    for file in settings.TEMPLATES[0]["DIRS"][0].rglob("*.html"):
        for tag in re.findall(r'<[^>]*hx-trigger="every[^>]*>', file.read_text(encoding="utf-8")):
            name = re.search(r"hx-get=\"{% url (?:'\w[\w-]*:([\w-]+)'|at\.(\w+))", tag)
            assert name, f"{file}: {tag}"
            polled.add(name[1] or name[2])
    assert {"study-rows", "judges", "progress"} <= polled <= POLLED
    named = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    for spaced in get_resolver().namespace_dict.values():
        named |= {name for name in spaced[1].reverse_dict if isinstance(name, str)}
    assert {name for name in named if "progress" in name} <= POLLED
    settings.SESSION_IDLE_MINUTES = 60
    client = logged_in(admin)
    session = client.session
    session["seen"] = began = time.time() - 600
    session.save()
    client.get("/runs/studies/7/rows/")
    assert client.session["seen"] == began
    client.get("/runs/studies/")
    assert client.session["seen"] > began


def test_the_list_of_sessions_ends_all_others(teacher: User) -> None:
    clients = [Client(), Client()]
    for client in clients:
        client.post("/login/", {"username": "tao", "password": PASSWORD})
    here, there = clients
    assert here.get("/account/sessions/").text.count("<time") == 2
    here.post("/account/sessions/")
    assert there.get("/marking/").status_code == 302
    assert here.get("/marking/").status_code == 200


@pytest.mark.parametrize("change", ["password", "secret key"])
def test_a_session_whose_key_changes_stays_in_the_list(
    change: str, teacher: User, admin: User, settings: Any
) -> None:
    """Somebody forgot to log out at school after that, and ends it from home."""
    school, home = Client(), Client()
    school.post("/login/", {"username": "tao", "password": PASSWORD})
    listed = UserSession.objects.get(user=teacher)
    if change == "password":
        values = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
        school.post("/password/", values)
    else:
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "another-" * 8
        assert school.get("/marking/").status_code == 200
    assert school.session.session_key != listed.session_key
    assert school.get("/account/sessions/").text.count("<time") == 1
    assert UserSession.objects.get(user=teacher).created_at == listed.created_at
    home.post("/login/", {"username": "tao", "password": NEW if change == "password" else PASSWORD})
    assert home.get("/account/sessions/").text.count("<time") == 2
    assert logged_in(admin).get(f"/people/{teacher.pk}/").context["sessions"]
    home.post("/account/sessions/")
    assert school.get("/marking/").status_code == 302
    assert home.get("/marking/").status_code == 200
    assert AuditEntry.objects.get(tag="account.sessions_ended").detail == {"sessions": 1}


def test_all_other_sessions_end_those_in_no_list_too(teacher: User) -> None:
    """As one that an older version left out of the list."""
    here, lost = logged_in(teacher), logged_in(teacher)
    UserSession.objects.filter(session_key=lost.session.session_key).delete()
    here.post("/account/sessions/")
    assert lost.get("/marking/").status_code == 302
    assert here.get("/marking/").status_code == 200


def test_a_login_and_a_new_password_change_the_session(teacher: User) -> None:
    client = Client()
    client.get("/login/")
    keys = {client.session.session_key}
    client.post("/login/", {"username": "tao", "password": PASSWORD})
    keys.add(client.session.session_key)
    other = logged_in(teacher)
    values = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    client.post("/password/", values)
    keys.add(client.session.session_key)
    assert len(keys) == 3
    assert other.get("/marking/").status_code == 302

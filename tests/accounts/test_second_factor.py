"""The second factor: asked after the password, never twice with one code, and kept where needed."""

from __future__ import annotations

import re
import time
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from django.core.cache import cache
from django.test import Client, TestCase

from gradeapp.accounts.models import User
from gradeapp.accounts.people import end_sessions, set_active
from gradeapp.accounts.roles import Role
from gradeapp.audit.models import AuditEntry
from tests.conftest import logged_in
from tests.factories import PASSWORD, make_user
from tests.waiting import after


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server asks for codes of one time: none expires between being made and being sent."""
    now = time.time()
    monkeypatch.setattr(auth, "time", SimpleNamespace(time=lambda: now))


def next_code() -> None:
    """Set that clock to the next code of the apps."""
    now = auth.time.time()
    auth.time.time = lambda: now + 30  # type: ignore[assignment]


def code_of(secret: str) -> str:
    """The code of an authenticator app, by the independent implementation of the test."""
    import base64
    import hashlib
    import hmac

    count = int(auth.time.time()) // 30
    digest = hmac.new(base64.b32decode(secret), count.to_bytes(8, "big"), hashlib.sha1).digest()
    at = digest[-1] & 15
    return f"{(int.from_bytes(digest[at : at + 4], 'big') & 0x7FFFFFFF) % 10**6:06d}"


def password_again(client: Client, then: str) -> None:
    client.post(f"/account/confirm/?next={then}", {"password": PASSWORD})


def add_app(client: Client) -> str:
    """Add an app as the pages do, and return its secret."""
    page = "/account/second-factor/totp/activate/"
    assert "/account/confirm/" in client.get(page)["Location"], "asks for the password first"
    password_again(client, page)
    shown = client.get(page)
    assert "<svg" in shown.text
    assert "data:image" not in shown.text
    secret = re.search(r'class="secret">(\w+)<', shown.text)[1]  # type: ignore[index]
    assert client.post(page, {"code": "000000"}).status_code == 200
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert client.post(page, {"code": code_of(secret)}).status_code == 302
    return secret


def first_step(name: str = "ada") -> Client:
    client = Client()
    answer = client.post("/login/", {"username": name, "password": PASSWORD, "next": "/runs/"})
    assert answer["Location"] == "/account/second-factor/authenticate/"
    assert "_auth_user_id" not in client.session
    return client


def tags() -> list[str]:
    return list(AuditEntry.objects.order_by("id").values_list("tag", flat=True))


def test_an_app_a_login_a_replay_and_a_recovery_code(admin: User) -> None:
    secret = add_app(logged_in(admin))
    client = first_step()
    page = "/account/second-factor/authenticate/"
    assert "The code is wrong" in client.post(page, {"code": "123456"}).text
    used = client.post(page, {"code": code_of(secret)})
    assert "The code is wrong" in used.text, "it has added the app"
    next_code()
    code = code_of(secret)
    assert client.post(page, {"code": code})["Location"] == "/runs/"
    assert client.session["_auth_user_id"] == str(admin.pk)

    replay = first_step()
    # What single sign-on keeps of its tokens there throws no used code away.
    cache.set_many({f"jwt:{number}": True for number in range(350)})
    assert "The code is wrong" in replay.post(page, {"code": code}).text
    spare = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()[0]
    assert replay.post(page, {"code": spare}).status_code == 302
    assert "The code is wrong" in first_step().post(page, {"code": spare}).text
    assert {"account.factor_added", "account.factor_failed", "account.login"} <= set(tags())


@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_sent_twice_adds_one_app_and_leads_to_the_codes() -> None:
    """Both at one moment, and once more when the app is there."""
    first = logged_in(make_user(Role.LEAD, "lin"))
    page = "/account/second-factor/totp/activate/"
    password_again(first, page)
    secret = re.search(r'class="secret">(\w+)<', first.get(page).text)[1]  # type: ignore[index]
    second, sent = Client(), {"code": code_of(secret)}
    second.cookies = first.cookies
    answers: list[Any] = []
    answers.append(
        after(lambda: answers.append(first.post(page, sent)), lambda: second.post(page, sent))
    )
    answers.append(first.post(page, sent))
    codes = "/account/second-factor/recovery-codes/"
    assert [answer["Location"] for answer in answers] == [codes] * 3
    assert Authenticator.objects.filter(type="totp").count() == 1
    spare = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()[0]
    assert spare in first.get(codes).text


def test_codes_cannot_be_guessed_on(admin: User) -> None:
    secret = add_app(logged_in(admin))
    client, page = first_step(), "/account/second-factor/authenticate/"
    for _ in range(5):
        client.post(page, {"code": "000000"})
    other = first_step()
    assert "Too many failed attempts" in other.post(page, {"code": code_of(secret)}).text
    assert "_auth_user_id" not in other.session


@pytest.mark.parametrize("address", ["/", "/runs/", "/api/v1/runs/", "/admin/"])
def test_a_role_that_needs_a_factor_reaches_nothing_without(
    address: str, admin: User, teacher: User, settings: Any
) -> None:
    settings.SECOND_FACTOR_ROLES = ["admin", "lead"]
    client = logged_in(admin)
    answer = client.get(address)
    if address.startswith("/api/"):
        assert (answer.status_code, answer.json()["code"]) == (403, "mfa_index")
    else:
        assert answer["Location"] == "/account/second-factor/"
        assert "Your role needs a second factor" in client.get(answer["Location"]).text
    assert logged_in(teacher).get("/")["Location"] == "/marking/", "a teacher is asked nothing"


def test_who_needs_a_factor_adds_one_and_keeps_the_last(admin: User, settings: Any) -> None:
    settings.SECOND_FACTOR_ROLES = ["admin"]
    client = logged_in(admin)
    add_app(client)
    assert client.get("/runs/").status_code == 200
    app = Authenticator.objects.get(type="totp")
    assert not get_adapter().can_delete_authenticator(app)
    page = client.get("/account/second-factor/totp/deactivate/")
    assert "Add another one before you remove this one" in page.text
    client.post("/account/second-factor/totp/deactivate/")
    own = f"/people/{admin.pk}/"
    assert "Remove second factor" not in client.get(own).text
    refused = client.post(f"{own}remove-factors/")
    assert refused.status_code == 409
    assert "Ask another admin" in refused.text
    assert Authenticator.objects.filter(pk=app.pk).exists()
    assert client.post(f"{own}end-sessions/")["Location"] == "/login/", "it was an error, done"
    assert client.get("/runs/")["Location"].startswith("/login/")


def test_who_needs_a_factor_keeps_the_last_key(admin: User, settings: Any) -> None:
    """One of two can be removed, and an app counts as a factor; recovery codes do not."""
    settings.SECOND_FACTOR_ROLES = ["admin"]
    client = logged_in(admin)
    add_app(client)
    app = Authenticator.objects.get(type="totp")
    key, other = (
        Authenticator.objects.create(user=admin, type="webauthn", data={"name": name})
        for name in ("first", "second")
    )
    address = "/account/second-factor/webauthn/keys/{}/remove/"
    assert client.post(address.format(key.pk)).status_code == 302
    client.post("/account/second-factor/totp/deactivate/")
    assert not Authenticator.objects.filter(pk__in=[key.pk, app.pk]).exists()
    refused = client.post(address.format(other.pk))
    assert "Add another one before you remove this one" in refused.text
    assert Authenticator.objects.filter(pk=other.pk).exists()
    settings.SECOND_FACTOR_ROLES = []
    assert client.post(address.format(other.pk)).status_code == 302
    assert not Authenticator.objects.filter(pk=other.pk).exists()


HOSTILE = [
    "5",
    '"a"',
    "[" * 50_000,
    '{"id": "\\ud800", "rawId": "AA", "type": "public-key", "response": {}}',
    '{"id": "AA", "rawId": "AA", "type": "public-key", "clientExtensionResults": 5, "response": 7}',
    '{"id":"AA","rawId":"AA","type":"public-key",'
    '"response":{"clientDataJSON":"e30","attestationObject":"AA"}}',
    '{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":'
    '"eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjo1LCJvcmlnaW4iOjd9",'
    '"authenticatorData":"AA","signature":"AA"}}',
]


@pytest.mark.parametrize("answer", HOSTILE)
def test_a_hostile_answer_of_a_security_key_is_one_sentence(answer: str, admin: User) -> None:
    """As the second step, and as a new key; wrong ones are in the audit trail."""
    client = logged_in(admin)
    add_app(client)
    add = "/account/second-factor/webauthn/add/"
    assert client.get(add).status_code == 200
    page = client.post(add, {"credential": answer, "name": "x"})
    assert page.status_code == 200
    assert "This security key does not fit" in page.text
    stranger = Client()
    stranger.post("/login/", {"username": "ada", "password": PASSWORD})
    step, before = "/account/second-factor/authenticate/", tags().count("account.factor_failed")
    stranger.get(step)
    page = stranger.post(step, {"credential": answer})
    assert page.status_code == 200
    assert "This security key does not fit" in page.text
    assert "_auth_user_id" not in stranger.session
    is_json = not answer.startswith("[[")
    assert tags().count("account.factor_failed") == before + is_json


def test_the_operators_login_is_the_same_login(admin: User) -> None:
    for method in ("get", "post"):
        answer = getattr(Client(), method)(
            "/admin/login/?next=/admin/", {"username": "ada", "password": PASSWORD}
        )
        assert answer["Location"].startswith("/login/?next=")
        assert "_auth_user_id" not in answer.client.session


def test_a_session_with_the_password_alone_ends_when_the_first_factor_is_added(
    admin: User, settings: Any
) -> None:
    """Whoever knew the password was let in by the factor that the owner added against them."""
    settings.SECOND_FACTOR_ROLES = ["admin"]
    stranger, owner = Client(), logged_in(admin)
    stranger.post("/login/", {"username": "ada", "password": PASSWORD})
    assert stranger.get("/runs/")["Location"] == "/account/second-factor/"
    add_app(owner)
    assert owner.get("/runs/").status_code == 200
    assert stranger.get("/runs/")["Location"].startswith("/login/")
    assert tags().count("account.sessions_ended") == 1


@pytest.mark.parametrize("change", ["nothing", "password", "sessions", "own list", "deactivated"])
def test_a_login_that_waits_for_its_second_step_ends_with_the_others(
    change: str, admin: User, lead: User
) -> None:
    """It began with a password, or by somebody, that may no longer log in."""
    owner = logged_in(lead)
    secret = add_app(owner)
    waiting = first_step(lead.username)
    if change == "own list":
        owner.post("/account/sessions/")
        assert owner.get("/runs/").status_code == 200
    elif change == "password":
        lead.set_password("Another-password-1")
        lead.save()
    elif change == "sessions":
        end_sessions(lead, acting_user=admin)
    elif change == "deactivated":
        set_active(lead, active=False, acting_user=admin)
        set_active(lead, active=True, acting_user=admin)
    next_code()  # the one before has added the app, and is refused for that
    waiting.post("/account/second-factor/authenticate/", {"code": code_of(secret)})
    assert ("_auth_user_id" in waiting.session) == (change == "nothing")
    assert (waiting.get("/runs/").status_code == 200) == (change == "nothing")

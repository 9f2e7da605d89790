"""Single sign-on with a provider on loopback: it says who one is, an admin who may come in."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from itertools import cycle
from threading import Event
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.contrib.sessions.models import Session
from django.test import Client, RequestFactory
from django.utils import timezone
from requests import RequestException

from gradeapp.accounts import provider_calls, throttle
from gradeapp.accounts.models import User
from gradeapp.accounts.people import remove_factors
from gradeapp.accounts.provider_calls import provider_session
from gradeapp.accounts.roles import Role
from gradeapp.accounts.single_sign_on import SIGN_ON, connect_sign_on, uid_of
from gradeapp.accounts.tasks import forget_sessions
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import NotAllowed
from tests.factories import PASSWORD, make_user
from tests.waiting import after

NO_TOKEN: dict[str, Any] = {}
KEY = "k" * 32


class Provider(BaseHTTPRequestHandler):
    """The three answers of an OpenID Connect provider that a login needs."""

    person: Any = {}
    instead: dict[str, bytes] = {}  # answers by a part of the address
    token: dict[str, Any] = {}  # said in the ID token

    def do_GET(self) -> None:
        base = f"http://127.0.0.1:{self.server.server_address[1]}"
        config = {
            "issuer": base,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "userinfo_endpoint": f"{base}/userinfo",
            "jwks_uri": f"{base}/keys",
        }
        self.answer(config if "well-known" in self.path else type(self).person)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        base = f"http://127.0.0.1:{self.server.server_address[1]}"
        sub = type(self).person.get("sub")
        said = {"iss": base, "aud": "gradeapp", "exp": time.time() + 60, "sub": sub}
        said = {name: one for name, one in (said | type(self).token).items() if one is not None}
        token = jwt.encode(said, KEY, algorithm="HS256")
        answer = {"access_token": "t", "token_type": "Bearer", "expires_in": 60}
        self.answer(answer | ({} if type(self).token is NO_TOKEN else {"id_token": token}))

    def answer(self, body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        said = [sent for part, sent in type(self).instead.items() if part in self.path]
        self.wfile.write(said[0] if said else json.dumps(body).encode())

    def log_message(self, *given: Any) -> None:
        pass


@pytest.fixture
def provider(settings: Any) -> Iterator[type[Provider]]:
    Provider.person, Provider.instead, Provider.token = {}, {}, {}
    server = HTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    app = {"provider_id": "sso", "name": "School", "client_id": "gradeapp", "secret": "s"}
    app["settings"] = {"server_url": address}  # type: ignore[assignment]
    settings.OIDC_ISSUER, settings.OIDC_NAME = address, "School"
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {"APPS": [app], "OAUTH_PKCE_ENABLED": True}
    }
    yield Provider
    server.shutdown()
    server.server_close()


def log_in(
    sub: str,
    email: str,
    *,
    verified: object = True,
    instead: dict[str, bytes] | None = None,
    token: dict[str, Any] | None = None,
    **facts: Any,
) -> Any:
    """Log in; *facts* are said of the person too, and *instead* is answered after the start.

    *token* is said in the ID token, NO_TOKEN leaves it out.
    """
    Provider.person = {"sub": sub, "email": email, "email_verified": verified, **facts}
    client = Client()
    away = urlsplit(client.get("/account/oidc/sso/login/?next=/marking/")["Location"])
    asked = parse_qs(away.query)
    assert asked["code_challenge_method"] == ["S256"]
    address = f"/account/oidc/sso/login/callback/?code=c&state={asked['state'][0]}"
    Provider.instead, Provider.token = instead or {}, {} if token is None else token
    try:
        return client.get(address)
    finally:
        Provider.instead = {}


def address_and_app(person: User) -> list[str]:
    """Give *person* a mail address and an authenticator app; return the recovery codes."""
    User.objects.filter(pk=person.pk).update(email="tao@school.example")
    kind = Authenticator.Type.TOTP
    Authenticator.objects.create(user=person, type=kind, data={"secret": "A" * 32})
    return list(RecoveryCodes.activate(person).get_unused_codes())


def test_a_person_who_was_invited_comes_in_and_nobody_else(
    provider: type[Provider], teacher: User
) -> None:
    assert "Log in with School" in Client().get("/login/").text
    User.objects.filter(pk=teacher.pk).update(email="tao@school.example")
    for sub, email, verified, words in (
        ("1", "eve@x.example", True, "Ask an admin to invite you"),
        ("2", "tao@school.example", False, "which mail address of yours it has verified"),
    ):
        stranger = log_in(sub, email, verified=verified)
        assert stranger.status_code == 403
        assert words in stranger.text
        assert "_auth_user_id" not in stranger.client.session
    first = log_in("3", "Tao@school.example")
    assert first["Location"] == "/marking/"
    assert first.client.session["_auth_user_id"] == str(teacher.pk)
    assert log_in("3", "new@name.example")["Location"] == "/marking/", (
        "known by its sub from now on"
    )
    User.objects.filter(pk=teacher.pk).update(is_active=False)
    assert log_in("3", "tao@school.example").status_code == 403
    forged = Client().get("/account/oidc/sso/login/callback/?code=c&state=made-up")
    assert "The single sign-on did not work" in forged.text
    assert "_auth_user_id" not in forged.client.session
    assert User.objects.count() == 1


@pytest.mark.parametrize("sent", [b"<html>", b"{}", b"[]", b"[" * 100_000, b'{"a": "\xff"}'])
@pytest.mark.parametrize("part", ["well-known", "userinfo", "token"])
def test_a_provider_that_answers_something_else_gets_a_sentence(
    provider: type[Provider],
    teacher: User,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    sent: bytes,
) -> None:
    if part == "well-known":
        monkeypatch.setattr(provider, "instead", {part: sent})
        answer = Client().get("/account/oidc/sso/login/")
    else:
        answer = log_in("1", "tao@school.example", instead={part: sent})
    assert answer.status_code == 400
    assert "The single sign-on did not work" in answer.text


@pytest.mark.parametrize(
    "facts",
    [
        {"sub": None},
        {"sub": {}},
        {"sub": ""},
        {"sub": "a\x00b"},
        {"sub": "a\ud800b"},
        {"sub": "s" * 5000},
        {"email": 7},
        {"email": ["tao@school.example"]},
    ],
)
def test_user_data_of_other_types_get_a_sentence_and_no_login(
    provider: type[Provider], teacher: User, facts: dict[str, Any]
) -> None:
    User.objects.filter(pk=teacher.pk).update(email="tao@school.example")
    answer = log_in(**{"sub": "1", "email": "tao@school.example", **facts})
    assert answer.status_code in (400, 403)
    assert "_auth_user_id" not in answer.client.session
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize(
    "token",
    [
        NO_TOKEN,
        {"sub": "2"},
        {"sub": 7},
        {"aud": "another"},
        {"iss": "https://other.example"},
        {"azp": "another"},
        {"exp": 1},
        {"exp": None},
        {"nbf": 10**11},
        {"iat": 10**11},
        {"iat": "soon"},
        {"jti": "a", "exp": 10**18},
        {"jti": "a", "exp": 10**30},
    ],
)
def test_the_id_token_is_of_this_person_for_this_site_and_now(
    provider: type[Provider], teacher: User, token: dict[str, Any]
) -> None:
    """Whoever brings the access token of somebody else, or leaves the token out, is refused."""
    User.objects.filter(pk=teacher.pk).update(email="tao@school.example")
    answer = log_in("1", "tao@school.example", token=token)
    assert (answer.status_code, "did not work" in answer.text) == (400, True)
    assert "_auth_user_id" not in answer.client.session


def test_nothing_that_the_provider_says_is_stored(provider: type[Provider], teacher: User) -> None:
    User.objects.filter(pk=teacher.pk).update(email="tao@school.example")
    for _ in range(2):
        assert log_in("1", "tao@school.example", picture="x" * 10_000).status_code == 302
    assert SocialAccount.objects.get().extra_data == {}


def test_names_of_other_types_lead_nowhere_else(provider: type[Provider], teacher: User) -> None:
    User.objects.filter(pk=teacher.pk).update(email="tao@school.example")
    answer = log_in("1", "tao@school.example", given_name=["Tao"], name=["Tao"])
    assert answer.status_code in (302, 400)


def test_a_provider_that_is_down_gets_a_sentence(settings: Any, db: None) -> None:
    app = {"provider_id": "sso", "name": "School", "client_id": "gradeapp", "secret": "s"}
    app["settings"] = {"server_url": "http://127.0.0.1:9"}  # type: ignore[assignment]
    settings.OIDC_ISSUER, settings.OIDC_NAME = "http://127.0.0.1:9", "School"
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app]}}
    answer = Client().get("/account/oidc/sso/login/")
    assert (answer.status_code, "did not work" in answer.text) == (400, True)


@pytest.mark.django_db
def test_without_a_provider_there_is_no_such_login() -> None:
    assert "oidc" not in Client().get("/login/").text
    assert Client().get("/account/oidc/sso/login/").status_code == 404


@pytest.mark.parametrize(
    ("email", "verified"),
    [("kim@school.example", "false"), ("kim@school.example", 1), ("\u212aim@school.example", True)],
)
def test_what_is_not_plainly_verified_lets_nobody_in(
    email: str, verified: object, provider: type[Provider], teacher: User
) -> None:
    """Some providers send the word "false"; KELVIN SIGN is a small k in lower case."""
    User.objects.filter(pk=teacher.pk).update(email="kim@school.example")
    assert log_in("1", email, verified=verified).status_code == 403
    assert not SocialAccount.objects.exists()


def test_a_second_person_with_the_address_of_the_first_is_refused(
    provider: type[Provider], teacher: User, admin: User
) -> None:
    """The address was given to somebody else; an admin lets the new one in."""
    User.objects.filter(pk=teacher.pk).update(email="tao@school.example")
    assert log_in("1", "tao@school.example").status_code == 302
    assert "Somebody else has logged in here" in log_in("2", "tao@school.example").text
    assert list(SocialAccount.objects.values_list("uid", flat=True)) == [uid_of("1")]
    assert AuditEntry.objects.filter(tag="account.sign_on_connected").count() == 1
    remove_factors(teacher, acting_user=admin)
    assert log_in("2", "tao@school.example").status_code == 302


def test_a_first_login_that_does_not_pass_the_second_step_connects_nobody(
    provider: type[Provider], teacher: User
) -> None:
    User.objects.filter(pk=teacher.pk).update(email="tao@school.example")
    Authenticator.objects.create(user=teacher, type=Authenticator.Type.TOTP, data={"secret": "x"})
    held = log_in("1", "tao@school.example")
    assert held["Location"].startswith("/account/second-factor/")
    page = held.client.get(held["Location"]).text
    assert "Enter the code that your app shows now" in page
    assert "password" not in page, "none was given"
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize(("sub", "status"), [("1", 302), ("2", 403)])
def test_of_two_first_logins_the_later_one_is_of_the_same_person_or_refused(
    provider: type[Provider], teacher: User, sub: str, status: int
) -> None:
    """Both wait for the second step before either of them is connected."""
    codes = address_and_app(teacher)
    first, second = (log_in(one, "tao@school.example").client for one in ("1", sub))
    step = "/account/second-factor/authenticate/"
    assert first.post(step, {"code": codes[0]})["Location"] == "/marking/"
    later = second.post(step, {"code": codes[1]})
    assert later.status_code == status
    assert ("_auth_user_id" in second.session) == (status == 302)
    if status == 403:
        assert "Somebody else has logged in here" in later.text
        assert second.post(step, {"code": codes[2]})["Location"] == "/login/"
    assert SocialAccount.objects.get(user=teacher).uid == uid_of("1")
    assert AuditEntry.objects.filter(tag="account.sign_on_connected").count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("uid", ["1", "2"])
def test_two_first_logins_that_end_at_one_moment_connect_one(uid: str) -> None:
    person = make_user(Role.TEACHER, "tao")

    def connect(known_as: str) -> None:
        request = RequestFactory().post("/")
        request.session = {SIGN_ON: [str(person.pk), "sso", known_as]}  # type: ignore[assignment]
        connect_sign_on(request, person)

    refusal = after(lambda: connect("1"), lambda: connect(uid))
    assert isinstance(refusal, NotAllowed) == (uid == "2")
    assert list(SocialAccount.objects.values_list("user", "uid")) == [(person.pk, "1")]


def test_an_account_of_the_provider_stays_with_the_person_who_had_it_first(
    provider: type[Provider], teacher: User, other_teacher: User
) -> None:
    """The address went to somebody else here while a login waited for its second step."""
    codes = address_and_app(teacher)
    waits = log_in("1", "tao@school.example").client
    User.objects.filter(pk=teacher.pk).update(email="")
    User.objects.filter(pk=other_teacher.pk).update(email="tao@school.example")
    assert log_in("1", "tao@school.example")["Location"] == "/marking/"
    late = waits.post("/account/second-factor/authenticate/", {"code": codes[0]})
    assert (late.status_code, "did not work" in late.text) == (400, True)
    assert SocialAccount.objects.get().user == other_teacher


def test_a_sign_on_that_was_left_connects_nobody_with_the_next_login_there(
    provider: type[Provider], lead: User
) -> None:
    """Somebody else began it, with an address that the provider gave them."""
    User.objects.filter(pk=lead.pk).update(email="lin@school.example")
    factor = Authenticator(user=lead, type=Authenticator.Type.TOTP, data={"secret": "x"})
    factor.save()
    browser = log_in("evil", "lin@school.example").client
    factor.delete()
    browser.post("/login/", {"username": lead.username, "password": PASSWORD})
    assert browser.session["_auth_user_id"] == str(lead.pk)
    assert not SocialAccount.objects.exists()


def test_who_is_logged_in_stays_so(
    provider: type[Provider], teacher: User, other_teacher: User
) -> None:
    """Else the login of another would leave no entry, and connect nobody."""
    User.objects.filter(pk=teacher.pk).update(email="tao@school.example")
    browser = Client()
    away = urlsplit(browser.get("/account/oidc/sso/login/")["Location"])
    browser.force_login(other_teacher)
    Provider.person = {"sub": "1", "email": "tao@school.example", "email_verified": True}
    Provider.token = {}
    state = parse_qs(away.query)["state"][0]
    for page in ("", f"callback/?code=c&state={state}"):
        assert browser.get(f"/account/oidc/sso/login/{page}")["Location"] == "/"
    assert browser.session["_auth_user_id"] == str(other_teacher.pk)
    assert not SocialAccount.objects.exists()


def test_a_sub_is_that_of_its_issuer(
    provider: type[Provider], teacher: User, settings: Any
) -> None:
    """Another provider counts its people anew; who was connected before this stays connected."""
    SocialAccount.objects.create(user=teacher, provider="sso", uid="1")
    migration = import_module("gradeapp.accounts.migrations.0008_sign_on_of_an_issuer")
    migration.name_the_issuer(apps, None)
    assert log_in("1", "tao@school.example", verified=False).status_code == 302
    here, settings.OIDC_ISSUER = settings.OIDC_ISSUER, "https://before.example"
    SocialAccount.objects.update(uid=uid_of("1"))
    settings.OIDC_ISSUER = here
    assert log_in("1", "eve@elsewhere.example", verified=False).status_code == 403


def test_a_discovery_document_of_another_issuer_is_refused(
    provider: type[Provider], teacher: User, settings: Any
) -> None:
    User.objects.filter(pk=teacher.pk).update(email="tao@school.example")
    names = ("authorization", "token", "userinfo")
    config = {f"{name}_endpoint": f"{settings.OIDC_ISSUER}/{name}" for name in names}
    config |= {"issuer": "https://evil.example", "jwks_uri": f"{settings.OIDC_ISSUER}/keys"}
    instead = {"well-known": json.dumps(config).encode()}
    token = {"iss": "https://evil.example"}
    answer = log_in("1", "tao@school.example", instead=instead, token=token)
    assert answer.status_code == 400


@pytest.mark.django_db
def test_an_answer_of_any_length_holds_nobody(
    provider: type[Provider], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a long one nor one that drips, before its headers or after them."""
    page = "/account/oidc/sso/login/"
    Provider.instead = {"well-known": b"{" + b" " * 300_000 + b"}"}
    assert Client().get(page).status_code == 400
    monkeypatch.setattr(provider_calls, "LONGEST_CALL", 0.5)
    monkeypatch.setattr(provider_calls, "WAIT", 0.1)
    drips = Event()

    def drip(one: Provider) -> None:
        sent = next(begin)
        while not drips.wait(0.05):
            one.wfile.write(sent)
            sent = b"1"

    begin = cycle([b"", b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n"])
    monkeypatch.setattr(Provider, "do_GET", drip)
    assert [Client().get(page).status_code for _ in range(5)] == [400] * 5
    places = [provider_calls.PLACES.acquire(timeout=5) for _ in range(3)]
    drips.set()
    provider_calls.PLACES.release(3)
    assert places == [True] * 3, "their connections are ended"


@pytest.mark.django_db
def test_calls_go_by_tls_to_the_provider_alone(
    provider: type[Provider], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redirect would take the secret of this site along."""

    def elsewhere(handler: Provider) -> None:
        handler.send_response(307)
        handler.send_header("Location", f"{settings.OIDC_ISSUER}/elsewhere")
        handler.end_headers()

    monkeypatch.setattr(Provider, "do_GET", elsewhere)
    with pytest.raises(RequestException, match="redirects"):
        provider_session(5).get(settings.OIDC_ISSUER)
    address, settings.OIDC_ISSUER = settings.OIDC_ISSUER, "https://login.school.example"
    with pytest.raises(RequestException, match="without TLS"):
        provider_session(5).get(address)
    settings.OIDC_ISSUER = address
    monkeypatch.undo()
    config = {"issuer": address, "authorization_endpoint": "http://login.school.example/"}
    monkeypatch.setattr(provider, "instead", {"well-known": json.dumps(config).encode()})
    assert Client().get("/account/oidc/sso/login/").status_code == 400


@pytest.mark.django_db
def test_nobody_adds_to_what_is_asked_of_the_provider(provider: type[Provider]) -> None:
    page = "/account/oidc/sso/login/"
    away = Client().get(f"{page}?auth_params=redirect_uri%3Dhttp%3A%2F%2Fevil.test%2F")["Location"]
    assert "evil" not in away
    assert Client().get(f"{page}?process=connect").status_code == 302


def test_logins_that_are_only_begun_fill_no_table(
    provider: type[Provider], teacher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    User.objects.filter(pk=teacher.pk).update(email="tao@school.example")
    stranger = Client()
    stranger.get("/account/oidc/sso/login/")
    assert stranger.session.get_expiry_age() == 1800
    come = log_in("3", "tao@school.example").client
    assert come.session.get_expiry_age() > 8 * 3600 - 60, "a login lasts as every other"
    sessions = Session.objects.filter(session_key=stranger.session.session_key)
    sessions.update(expire_date=timezone.now() - timedelta(seconds=1))
    forget_sessions()
    assert not sessions.exists()
    assert come.get("/marking/").status_code == 200
    monkeypatch.setattr(throttle, "MOST_SIGN_ONS", 3)
    for picture in ("image", "iframe", "empty"):  # of a foreign page, which counts for nothing
        asked = Client().get("/account/oidc/sso/login/", headers={"sec-fetch-dest": picture})
        assert asked.status_code == 400
    person = {"sec-fetch-dest": "document", "sec-fetch-site": "cross-site"}  # a link of a portal
    for expected in (302, 429, 429):
        answer = Client().get("/account/oidc/sso/login/", headers=person)
        assert answer.status_code == expected

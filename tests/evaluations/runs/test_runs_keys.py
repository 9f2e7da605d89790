"""Keys of endpoints: bound to hosts, stored encrypted, sent to no other address, shown nowhere."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from cryptography.fernet import Fernet
from django.core import serializers
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.urls import reverse
from pytest_django import Settings

from evaluations.llm.classify import NO_MESSAGE
from evaluations.models import Attempt, Endpoint, Run
from evaluations.models.vocabulary import PauseReason
from evaluations.runs.services.endpoint_checks import check_endpoint
from evaluations.runs.services.endpoints import save_endpoint
from evaluations.runs.services.generation import work_on_run
from evaluations.runs.services.keys import api_key, check_key_host
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.masking import MaskingFormatter
from gradeapp.common.refusals import BadInput, Refusal
from tests.accounts.test_confirmation_pages import minutes_ago
from tests.conftest import logged_in
from tests.evaluations.run_world import planned, worked
from tests.scripted_server import Fault, ScriptedServer, named_fault

pytestmark = pytest.mark.django_db
KEY = "sk-sentinel-0123456789-7f3a"
FIRST, SECOND = Fernet.generate_key().decode(), Fernet.generate_key().decode()


@pytest.fixture(autouse=True)
def field_keys(settings: Settings) -> None:
    settings.FIELD_KEYS = [FIRST]


def save(server: ScriptedServer, **changes: Any) -> Endpoint:
    facts = {"name": "one", "base_url": server.base_url, "model": "m", "acting_user": None}
    return save_endpoint(**{**facts, **changes})


def sent(server: ScriptedServer) -> str:
    """The Authorization header of the last request."""
    return server.requests[-1].headers.get("authorization", "")


# ---- names bound to hosts ----


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://api.openai.com/v1", True),
        ("https://API.openai.com/v1", True),
        ("https://api.openai.com:8443/v1", False),
        ("https://api.openai.com.evil.test/v1", False),
        ("https://evil.test/api.openai.com/v1", False),
        ("https://house.test:8000/v1", True),
        ("https://any.test:9999/v1", True),
        ("https://house.test/v1", False),
    ],
)
def test_where_the_key_of_a_variable_may_go(url: str, allowed: bool, settings: Settings) -> None:
    """T135."""
    hosts = ["api.openai.com", "house.test:8000", "any.test:*"]
    settings.KEY_HOSTS = {"OPENAI_API_KEY": hosts}
    if allowed:
        check_key_host("OPENAI_API_KEY", url)
        return
    with pytest.raises(BadInput, match="GRADEAPP_KEY_HOSTS"):
        check_key_host("OPENAI_API_KEY", url)


def test_a_known_variable_at_a_foreign_host(
    server: ScriptedServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T054, T135: refused at save, in the check, at the start and in a work session."""
    settings.KEY_HOSTS = {"OPENAI_API_KEY": ["api.openai.com"]}
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(BadInput, match="may not be sent to"):
        save(server, key_variable="OPENAI_API_KEY")
    endpoint = save(server)
    run = planned(endpoint, 1)
    # As if the row had been edited past the service.
    Endpoint.objects.update(key_variable="OPENAI_API_KEY")
    endpoint.refresh_from_db()
    assert "may not be sent to" in check_endpoint(endpoint).sentence
    with pytest.raises(BadInput, match="may not be sent to"):
        planned(endpoint, 1)
    assert worked(run).pause_reason == PauseReason.ADDRESS
    assert server.requests == []


# ---- stored keys ----


def test_a_stored_key_is_sent_and_not_kept_in_clear(server: ScriptedServer) -> None:
    """T062, T063, T066: only ciphertext in the database; another SECRET_KEY changes nothing."""
    endpoint = save(server, key=KEY)
    assert check_endpoint(endpoint).works
    assert sent(server) == f"Bearer {KEY}"
    dump = serializers.serialize("json", Endpoint.objects.all())
    for text in (dump, str(list(AuditEntry.objects.values())), repr(endpoint.__dict__)):
        assert KEY not in text
    assert endpoint.key_hint == KEY[-4:]
    save(server, endpoint=endpoint, key_variable="")
    endpoint.refresh_from_db()
    assert not endpoint.has_key
    assert endpoint.key_hint == ""


def test_another_secret_key_leaves_stored_keys_readable(
    server: ScriptedServer, settings: Settings
) -> None:
    """T066."""
    endpoint = save(server, key=KEY)
    settings.SECRET_KEY = "x" * 60
    assert api_key(endpoint) == KEY


def test_a_stored_key_goes_to_no_other_address(server: ScriptedServer) -> None:
    """T054: by the service, by an edit of the row, and by a copied value."""
    endpoint = save(server, key=KEY)
    with ScriptedServer() as other:
        with pytest.raises(BadInput, match="again"):
            save(other, endpoint=Endpoint.objects.get(), key_variable=None)
        copied = save(other, name="two")
        Endpoint.objects.filter(pk=copied.pk).update(stored_key=endpoint.stored_key)
        Endpoint.objects.filter(pk=endpoint.pk).update(base_url=other.base_url)
        for one in Endpoint.objects.all():
            assert "Enter it again" in check_endpoint(one).sentence
        assert other.requests == []


def test_a_key_is_stored_or_in_a_variable(server: ScriptedServer) -> None:
    with pytest.raises(BadInput, match="not both"):
        save(server, key=KEY, key_variable="ONE_API_KEY")
    save(server, key=KEY)
    with pytest.raises(IntegrityError), transaction.atomic():
        Endpoint.objects.update(key_variable="ONE_API_KEY")


@pytest.mark.parametrize(
    "key", ["short", "two words of a key", "line\nbreak-in-key", "密钥密钥密钥密钥"]
)
def test_what_is_no_key(server: ScriptedServer, key: str) -> None:
    with pytest.raises(BadInput, match="8 to 400"):
        save(server, key=key)


def test_without_field_keys_nothing_is_stored(server: ScriptedServer, settings: Settings) -> None:
    settings.FIELD_KEYS = []
    with pytest.raises(BadInput, match="GRADEAPP_FIELD_KEYS"):
        save(server, key=KEY)
    assert not Endpoint.objects.exists()


def test_rotation(
    server: ScriptedServer, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """T066: the old key is needed until rotate_keys has run, and not afterwards."""
    endpoint = save(server, key=KEY)
    run = planned(endpoint, 1)
    settings.FIELD_KEYS = [SECOND]
    assert worked(run).pause_reason == PauseReason.NO_KEY
    with pytest.raises(SystemExit):
        call_command("rotate_keys")
    assert "stored key of one cannot be read" in capsys.readouterr().err
    settings.FIELD_KEYS = [SECOND, FIRST]
    assert api_key(endpoint) == KEY
    call_command("rotate_keys", "--format", "json")
    assert json.loads(capsys.readouterr().out) == {"rotated": 1}
    settings.FIELD_KEYS = [SECOND]
    assert api_key(Endpoint.objects.get()) == KEY
    assert AuditEntry.objects.filter(tag="endpoint.key_rotated").count() == 1


# ---- pages ----

FORM = {
    "name": "one",
    "model": "m",
    "price_input": "0",
    "price_output": "0",
    "currency": "CNY",
    "max_in_flight": "8",
    "timeout_seconds": "120",
    "max_tokens": "2048",
}


def test_a_new_address_needs_the_key_and_the_password(admin: User, server: ScriptedServer) -> None:
    """T054, T135."""
    admin.set_password("long-enough-word")
    admin.save()
    client = logged_in(admin)
    new = client.post(
        reverse("runs:endpoint-new"), {**FORM, "base_url": server.base_url, "key": KEY}
    )
    assert new.status_code == 302
    page = reverse("runs:endpoint", args=[Endpoint.objects.get().pk])
    with ScriptedServer() as other:
        moved = {**FORM, "base_url": other.base_url}
        for given, words in [
            ({}, "Enter the API key or the name of its variable again"),
            ({"key": KEY}, "Enter your password"),
            ({"key": KEY, "password": "wrong"}, "Enter your password"),
            ({"no_key": "on"}, "Enter your password"),
        ]:
            answer = client.post(page, {**moved, **given})
            assert answer.status_code == 400
            assert words in answer.text
            assert KEY not in answer.text
        assert Endpoint.objects.get().base_url == server.base_url
        right = {**moved, "key": KEY, "password": "long-enough-word"}
        assert client.post(page, right).status_code == 302
        assert Endpoint.objects.get().base_url == other.base_url
        address = [server.base_url, other.base_url]
    entry = AuditEntry.objects.filter(tag="endpoint.saved").latest("pk")
    assert entry.detail["changed"] == {"base_url": address}


def test_passwords_for_a_new_address_are_counted(admin: User, server: ScriptedServer) -> None:
    """A stolen session tries five, as at the login; the form stays, and so does the endpoint."""
    endpoint = save(server, key=KEY)
    client, page = logged_in(admin), reverse("runs:endpoint", args=[endpoint.pk])
    with ScriptedServer() as other:
        moved = {**FORM, "base_url": other.base_url, "key": KEY}
        given = [client.post(page, {**moved, "password": f"guess {n}"}).text for n in range(6)]
        assert ["Enter your password" in text for text in given] == [True] * 5 + [False]
        assert "Too many" in given[-1]
        assert other.base_url in given[-1]
    assert Endpoint.objects.get().base_url == server.base_url


def test_who_has_no_password_moves_an_endpoint_with_a_key(
    admin: User, server: ScriptedServer, settings: Settings
) -> None:
    """Single sign-on with a second factor: the code is asked for before, and no key waits."""
    settings.CONFIRM_CHANGES = True
    admin.set_unusable_password()
    admin.save()
    endpoint = save(server, key=KEY)
    client, page = logged_in(admin), reverse("runs:endpoint", args=[endpoint.pk])
    kind, secret = Authenticator.Type.TOTP, {"secret": "A" * 32}
    Authenticator.objects.create(user=admin, type=kind, data=secret)
    code = next(iter(RecoveryCodes.activate(admin).get_unused_codes()))
    assert "Your password" not in client.get(page).text
    minutes_ago(client, 16)
    with ScriptedServer() as other:
        moved = {**FORM, "base_url": other.base_url, "key": KEY}
        refused = client.post(page, moved)
        assert refused.status_code == 400
        assert "Confirm first that it is you, on the page" in refused.text
        assert KEY not in str(dict(client.session))
        asked = client.get(reverse("account_reauthenticate"))
        assert client.post(asked["Location"], {"code": code}).status_code == 302
        assert client.post(page, moved).status_code == 302
        assert Endpoint.objects.get().base_url == other.base_url


def test_the_trail_says_what_became_of_a_key(server: ScriptedServer) -> None:
    """Of a stored one at most the last four characters, which the pages show too."""
    endpoint = save(server, key="sk-first-sentinel-0123456789")
    steps: list[dict[str, Any]] = [{"key": KEY}, {"key": "short-7f3a"}, {"key": KEY}]
    steps += [{"key_variable": None, "name": "two"}, {"key_variable": ""}]
    for changes in steps:
        endpoint = save(server, endpoint=endpoint, **{"name": endpoint.name, **changes})
    details = [one.detail for one in AuditEntry.objects.order_by("pk")]
    assert [(one["key_replaced"], one["changed"]) for one in details[1:]] == [
        (True, {"key_hint": ["6789", "7f3a"]}),
        (True, {"key_hint": ["7f3a", ""]}),
        (True, {"key_hint": ["", "7f3a"]}),
        (False, {"name": ["one", "two"]}),
        (False, {"key_hint": ["7f3a", ""], "stored_key": [True, False]}),
    ]
    assert details[0]["changed"]["stored_key"] == [False, True]
    assert "sentinel" not in str(details)


def test_a_stored_key_is_on_no_page(admin: User, lead: User, server: ScriptedServer) -> None:
    """T062: neither the key nor its ciphertext, on any page or route that shows an endpoint."""
    endpoint = save(server, key=KEY)
    run = planned(endpoint, 1)
    pages = [
        reverse("runs:endpoints"),
        reverse("runs:endpoint", args=[endpoint.pk]),
        reverse("runs:new"),
        reverse("runs:run", args=[run.pk]),
        reverse("admin:evaluations_endpoint_changelist"),
        reverse("admin:evaluations_endpoint_change", args=[endpoint.pk]),
        f"/api/v1/runs/{run.pk}/",
    ]
    for person in (admin, lead):
        for page in pages:
            text = logged_in(person).get(page).text
            assert KEY not in text
            assert endpoint.stored_key not in text
    assert f"…{KEY[-4:]}" in logged_in(admin).get(pages[0]).text


# ---- what comes back ----

SECRET_PAGE = b"<html><title>Payroll</title>sentinel-of-an-internal-page</html>"


@pytest.mark.parametrize(
    "fault",
    [
        Fault(200, body=SECRET_PAGE),
        Fault(400, body=SECRET_PAGE),
        Fault(500, body=SECRET_PAGE),
        Fault(503, body=b'{"payroll": "sentinel-of-an-internal-page"}'),
        Fault(400, body=b'{"message": "sentinel-of-an-internal-page"}'),
        named_fault("not_http"),
    ],
)
def test_nothing_of_a_foreign_body_is_shown_or_stored(
    admin: User, server: ScriptedServer, fault: Fault
) -> None:
    """T137: by the check of an endpoint; and of an answer that is not paid for, by a run."""
    endpoint = save(server)
    run = planned(endpoint, 1)
    server.endpoint.faults = lambda prompt: fault
    page = reverse("runs:endpoint-check", args=[endpoint.pk])
    shown = logged_in(admin).post(page, follow=True).text
    sent = iter([fault])
    server.endpoint.faults = lambda prompt: next(sent, None)
    worked(run)
    assert "sentinel-of-an-internal-page" not in shown
    stored = str(list(Attempt.objects.values()))
    assert ("sentinel-of-an-internal-page" in stored) is (fault.status == 200 and bool(fault.body))
    if fault.status == 500:
        assert NO_MESSAGE in shown


def test_an_echoed_key_is_in_no_table_and_no_log(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    """T064: a 401 that repeats the key; and the log masks keys in messages and tracebacks."""
    run = planned(save(server, key=KEY), 1)
    page = Fault(200, body=f"<html>Bearer {KEY}</html>".encode())
    sent = iter([page])
    wall = named_fault("auth", text=f"bad key {KEY}")
    server.endpoint.faults = lambda prompt: next(sent, wall)
    with caplog.at_level(logging.DEBUG):
        assert worked(run).pause_reason == PauseReason.AUTH
    assert "<html>" in Attempt.objects.earliest("pk").body
    stored = str([list(model.objects.values()) for model in (Attempt, Run, AuditEntry)])
    assert KEY not in stored + caplog.text
    try:
        raise Refusal(f"Authorization: Bearer {KEY}")
    except Refusal as error:
        info = (type(error), error, error.__traceback__)
    record = logging.LogRecord("x", 40, "f", 1, "key %s", (KEY,), info)
    assert "7f3a" not in MaskingFormatter().format(record)


@pytest.mark.parametrize("changed", ["key", "no_key", "base_url", "model"])
def test_a_run_in_progress_stops_sending_to_where_its_endpoint_was_changed(
    changed: str, server: ScriptedServer
) -> None:
    endpoint = save(server, key=KEY, max_in_flight=1)
    other = save(server, name="two", key=KEY[::-1])
    run = planned(endpoint, 8)
    changes = {
        "key": {"stored_key": other.stored_key},
        "no_key": {"stored_key": ""},
        "base_url": {"base_url": f"{server.base_url}/other"},
        "model": {"model": "n"},
    }
    row = Endpoint.objects.filter(pk=endpoint.pk)
    work_on_run(run.pk, on_progress=lambda: row.update(**changes[changed]))
    assert len(server.requests) <= 3, "of 8: what was claimed before the change is still sent"
    assert {one.headers["authorization"] for one in server.requests} == {f"Bearer {KEY}"}
    worked(run)
    if changed in ("base_url", "model"):
        assert (run.status, run.pause_reason) == ("paused", PauseReason.ENDPOINT_CHANGED)
        assert sent(server) == f"Bearer {KEY}"
    else:
        assert run.status == "finished"
        assert sent(server) == (f"Bearer {KEY[::-1]}" if changed == "key" else "")

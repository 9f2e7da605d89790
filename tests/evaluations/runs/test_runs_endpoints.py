"""Endpoints: a key never travels to a new address, and one call says what is wrong."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from evaluations.llm.client import Limits
from evaluations.models import CheckPlace, Endpoint
from evaluations.runs.services import endpoint_checks
from evaluations.runs.services.endpoint_checks import check_endpoint
from evaluations.runs.services.endpoints import save_endpoint
from evaluations.runs.services.spending import save_cap
from gradeapp.accounts.models import User
from gradeapp.accounts.throttle import Throttled
from gradeapp.audit.models import AuditEntry
from gradeapp.common.database_clock import database_now
from gradeapp.common.refusals import BadInput, Conflict
from tests.conftest import logged_in
from tests.scripted_server import Fault, ScriptedServer, named_fault, script_from

pytestmark = pytest.mark.django_db
KEY = "sk-sentinel-7f3a"


def save(**changes: Any) -> Endpoint:
    facts = {"name": "one", "base_url": "http://127.0.0.1:8000/v1", "model": "m"}
    return save_endpoint(acting_user=None, **{**facts, **changes})


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(api_key=KEY) as running:
        yield running


def test_what_is_kept_and_what_is_not(admin: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE_API_KEY", KEY)
    endpoint = save(key_variable="ONE_API_KEY", price_input=Decimal("0.5"))
    stored = Endpoint.objects.values().get()
    assert (stored["key_variable"], stored["price_input"]) == ("ONE_API_KEY", Decimal("0.5"))
    assert endpoint.language_model.name == "m"
    assert KEY not in str(stored)
    assert KEY not in str(list(AuditEntry.objects.values()))


def test_a_new_address_wants_the_key_named_again() -> None:
    endpoint = save(key_variable="ONE_API_KEY")
    with pytest.raises(BadInput, match="Enter the API key or the name"):
        save(endpoint=endpoint, base_url="http://127.0.0.1:9000/v1", key_variable=None)
    endpoint.refresh_from_db()
    assert endpoint.base_url == "http://127.0.0.1:8000/v1"
    save(endpoint=endpoint, model="other", key_variable=None)
    assert Endpoint.objects.get().key_variable == "ONE_API_KEY", "kept where the address is"
    save(endpoint=endpoint, base_url="http://127.0.0.1:9000/v1", key_variable="ONE_API_KEY")
    assert Endpoint.objects.get().base_url == "http://127.0.0.1:9000/v1"


def test_a_reply_beyond_our_limit_is_no_refusal(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONE_API_KEY", KEY)
    monkeypatch.setattr(endpoint_checks, "CALL", replace(endpoint_checks.CALL, reply_bytes=1_000))
    server.endpoint.faults = lambda prompt: named_fault("huge", size=3_000_000)
    endpoint = save(base_url=server.base_url, model="scripted-demo", key_variable="ONE_API_KEY")
    sentence = check_endpoint(endpoint).sentence
    assert "replies with more than gradeapp reads of one reply: 1,000 bytes." in sentence


def test_a_test_is_audited_bounded_and_stays_within_a_cap(
    server: ScriptedServer, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONE_API_KEY", KEY)
    facts = {"base_url": server.base_url, "model": "scripted-demo", "key_variable": "ONE_API_KEY"}
    endpoint = save(**facts, price_output=Decimal(10))
    assert check_endpoint(endpoint, acting_user=admin).works
    assert AuditEntry.objects.get(tag="endpoint.checked").actor == admin
    calls = len(server.endpoint.requests)
    save_cap(currency="CNY", per_month=Decimal(0), in_total=None, acting_user=admin)
    assert "spending cap" in check_endpoint(endpoint, acting_user=admin).sentence
    monkeypatch.setattr(endpoint_checks, "MOST_CHECKS", 2)
    with pytest.raises(Throttled):
        check_endpoint(endpoint, acting_user=admin)
    assert len(server.endpoint.requests) == calls


def test_a_test_ends_by_itself_whatever_the_limits_of_runs_are(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint that does not answer, or only once, would hold a thread of the web server."""
    assert endpoint_checks.LONGEST_WAIT <= 30
    monkeypatch.setattr(endpoint_checks, "CALL", Limits(deadline=1.0))
    monkeypatch.setattr(endpoint_checks, "ALL_CALLS", 1.5)
    monkeypatch.setenv("ONE_API_KEY", KEY)
    facts = {"base_url": server.base_url, "key_variable": "ONE_API_KEY"}
    endpoint = save(**facts, model="scripted-demo", timeout_seconds=600)
    faults = iter([None])
    server.endpoint.faults = lambda prompt: next(faults, Fault(delay=20))
    began = time.monotonic()
    check = check_endpoint(endpoint)
    assert (check.works, check.findings[:2]) == (
        True,
        ("Structured output: unknown", "Images: unknown"),
    )
    assert "did not reply in time" in check_endpoint(endpoint).sentence
    monkeypatch.setattr(endpoint_checks, "LONGEST_WAIT", 0.2)
    assert "No response from" in check_endpoint(endpoint).sentence
    assert time.monotonic() - began < 10


def test_few_tests_go_on_at_once(server: ScriptedServer, admin: User) -> None:
    """Each holds a thread of the web server; one that was killed frees its place."""
    one, two, three = (save(name=name, base_url=server.base_url) for name in ("a", "b", "c"))
    soon = database_now() + timedelta(seconds=50)
    CheckPlace.objects.create(number=2, endpoint=one, holder="another", until=soon)
    client = logged_in(admin)

    def post(endpoint: Endpoint) -> list[int]:
        names = ("runs:endpoint-check", "api-endpoint-check")
        return [client.post(reverse(name, args=[endpoint.pk])).status_code for name in names]

    assert (post(one), post(two)) == ([409, 409], [302, 200])
    CheckPlace.objects.filter(number=1).update(endpoint=two, holder="third", until=soon)
    with pytest.raises(Conflict, match="are being tested just now"):
        check_endpoint(three)
    assert len(AuditEntry.objects.filter(tag="endpoint.checked")) == 2, "of those that were made"
    CheckPlace.objects.update(until=database_now())
    assert (post(one), post(three)) == ([302, 200], [302, 200])
    assert not CheckPlace.objects.exclude(holder="", endpoint=None).exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"base_url": "ftp://ok.test"}, "http"),
        ({"base_url": "http://10.0.0.1/v1"}, "private"),
        ({"base_url": "http://u:p@127.0.0.1:8000"}, "must not contain a user"),
        ({"key_variable": "SECRET_KEY"}, "Enter the environment variable"),
        ({"key_variable": "PATH"}, "Enter the environment variable"),
        ({"key_variable": "sk-aa11bb22"}, "Enter the environment variable"),
        ({"max_in_flight": 0}, "above zero"),
        ({"timeout_seconds": 0}, "above zero"),
        ({"max_tokens": 0}, "above zero"),
        ({"price_input": Decimal(-1)}, "zero or more"),
        ({"currency": "usd"}, "three capital letters"),  # no cap of USD would hold it
        ({"price_cached": Decimal(1000)}, "cannot cost more"),
        ({"model": ""}, "model"),
        ({"name": "n" * 61}, "name"),
        ({"name": "\u202e"}, "invisible"),
        ({"language_model": "gpt-4\u200b"}, "invisible"),
        ({"model": "gpt-4\u043e"}, "letters of scripts"),  # a Cyrillic letter
    ],
)
def test_bad_input_gets_a_sentence_and_stores_nothing(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        save(**changes)
    assert not Endpoint.objects.exists()


def test_one_name_one_endpoint() -> None:
    save()
    with pytest.raises(BadInput, match="already an endpoint"):
        save()


def test_it_works(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE_API_KEY", KEY)
    endpoint = save(base_url=server.base_url, key_variable="ONE_API_KEY")
    check = check_endpoint(endpoint)
    assert (check.works, check.sentence) == (True, "The endpoint works: scripted-demo replied.")
    assert [one.path.rpartition("/")[2] for one in server.requests] == [
        *("completions", "completions", "completions", "models")
    ]
    assert check.findings == (
        "Structured output: works",
        "Images: works",
        "Model list: 1 models, lacks this model",
        "Usage: sent",
    )


@pytest.mark.parametrize(
    "sent",
    [
        b"[" * 200_000,
        b'{"data": [{"id": ' + b"[" * 200_000 + b"1" + b"]" * 200_000 + b"}]}",
        b'{"data": [' + b'{"id": "a"},' * 2_000_000,
        {"data": {"id": 1}},
    ],
    ids=["deep", "deep name", "large", "no list"],
)
def test_a_hostile_list_of_models_is_none(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, sent: object
) -> None:
    monkeypatch.setenv("ONE_API_KEY", KEY)
    server.endpoint.models_list = sent
    check = check_endpoint(save(base_url=server.base_url, key_variable="ONE_API_KEY"))
    assert check.works
    assert "Model list: none" in check.findings


def test_a_check_says_what_does_not_work(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONE_API_KEY", KEY)
    no_usage = Fault(change=lambda completion: {**completion, "usage": None})
    faults = iter([no_usage, named_fault("bad_request"), named_fault("no_images")])
    server.endpoint.faults = lambda prompt: next(faults)
    endpoint = save(
        base_url=server.base_url,
        key_variable="ONE_API_KEY",
        model="scripted-demo",
        price_output=Decimal(10),
    )
    # 600 tokens at 10 per million.
    assert check_endpoint(endpoint).findings == (
        "Structured output: not supported",
        "Images: not supported",
        "Model list: 1 models, includes this model",
        "Usage: missing, so calls cost what is reserved for them",
        "An answer of 500 + 600 tokens costs 0.0060 CNY",
    )


@pytest.mark.parametrize(
    ("call", "fault", "lacks"),
    [
        (0, Fault(change=lambda one: {**one, "usage": None}), "Usage: missing"),
        (0, Fault(change=lambda one: {**one, "usage": {"prompt_tokens": -1}}), "Usage: "),
        (1, named_fault("bad_request"), "Structured output: not supported"),
        (1, named_fault("server_error"), "Structured output: unknown"),
        (2, named_fault("no_images"), "Images: not supported"),
        (3, None, "Model list: none"),
    ],
)
def test_an_endpoint_that_lacks_one_thing_lacks_no_other(
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    call: int,
    fault: Fault | None,
    lacks: str,
) -> None:
    monkeypatch.setenv("ONE_API_KEY", KEY)
    faults = iter([fault if number == call else None for number in range(3)])
    server.endpoint.faults = lambda prompt: next(faults)
    server.endpoint.lists_models = call != 3
    facts = {"base_url": server.base_url, "key_variable": "ONE_API_KEY"}
    check = check_endpoint(save(**facts, model="scripted-demo", price_output=Decimal(10)))
    works = [
        "Structured output: works",
        "Images: works",
        "Model list: 1 models, includes this model",
        "Usage: sent",
        "An answer of 500 + 600 tokens costs 0.0060 CNY",
    ]
    assert check.works
    differs = [said for said, usual in zip(check.findings, works, strict=True) if said != usual]
    assert len(differs) == 1
    assert differs[0].startswith(lacks)


@pytest.mark.parametrize(
    ("key", "words"), [("wrong", "rejects the API key. Check the variable ONE_API_KEY")]
)
def test_a_wrong_key(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, key: str, words: str
) -> None:
    monkeypatch.setenv("ONE_API_KEY", key)
    check = check_endpoint(save(base_url=server.base_url, key_variable="ONE_API_KEY"))
    assert not check.works
    assert words in check.sentence
    assert key not in check.sentence.replace("ONE_API_KEY", "")


def test_no_key_named_where_one_is_wanted(server: ScriptedServer) -> None:
    check = check_endpoint(save(base_url=server.base_url))
    assert "asks for an API key" in check.sentence


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("not_found", "no model m"),
        ("quota", "no credit left"),
        ("rate_limit", "limiting the rate"),
        ("server_error", "internal error (500)"),
        ("redirect", "redirects"),
        ("hang_up", "closed the connection"),
        ("malformed", "not in the chat completions"),
        ("bad_request", "temperature is not supported"),
    ],
)
def test_every_fault_has_its_sentence(fault: str, words: str) -> None:
    with ScriptedServer(faults=script_from([{"fault": fault}])) as server:
        check = check_endpoint(save(base_url=server.base_url))
    assert not check.works
    assert words in check.sentence


def test_nobody_there() -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        check = check_endpoint(save(base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1"))
    assert "No response from" in check.sentence


def test_a_missing_variable_is_said_without_a_call(server: ScriptedServer) -> None:
    check = check_endpoint(save(base_url=server.base_url, key_variable="NOT_SET_API_KEY"))
    assert not check.works
    assert "NOT_SET_API_KEY" in check.sentence
    assert server.requests == []

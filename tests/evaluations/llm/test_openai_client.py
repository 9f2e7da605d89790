"""What leaves the machine, and where to: the client's habits are switched off."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from evaluations.llm.client import ChatReply, FailureKind
from evaluations.llm.openai_client import OpenAIChat
from tests.evaluations.llm.conftest import KEY, ask, fail, reply, request
from tests.scripted_server import LOOPBACK, Fault, ScriptedServer, named_fault, saying

SENTINEL = "sentinel-of-the-environment"
VARIABLES = {
    "OPENAI_API_KEY": SENTINEL,
    "OPENAI_ADMIN_KEY": SENTINEL,
    "OPENAI_ORG_ID": SENTINEL,
    "OPENAI_PROJECT_ID": SENTINEL,
    "OPENAI_WEBHOOK_SECRET": SENTINEL,
    "OPENAI_BASE_URL": f"http://{SENTINEL}.invalid/v1",
    "OPENAI_CUSTOM_HEADERS": f"X-Leak: {SENTINEL}\nAuthorization: Bearer {SENTINEL}",
    "HTTP_PROXY": f"http://{SENTINEL}.invalid:3128",
    "HTTPS_PROXY": f"http://{SENTINEL}.invalid:3128",
    "ALL_PROXY": f"http://{SENTINEL}.invalid:3128",
}


@pytest.mark.parametrize("key", [KEY, None])
def test_the_environment_never_leaks_into_a_request(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
        monkeypatch.setenv(name.lower(), value)
    ask(server.base_url, key=key)
    received = server.requests[0]
    assert SENTINEL not in str(received)
    assert received.headers.get("authorization") == (f"Bearer {key}" if key else None)


def test_only_known_headers_leave(server: ScriptedServer) -> None:
    reply(server.base_url)
    assert set(server.requests[0].headers) == {
        "host",
        "accept",
        "accept-encoding",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "user-agent",
    }


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_sends_no_second_request(server: ScriptedServer, status: int) -> None:
    with ScriptedServer() as other:
        to = f"{other.base_url}/chat/completions"
        server.endpoint.faults = lambda prompt: named_fault("redirect", to=to, status=status)
        failure = fail(server.base_url)
        assert failure.kind is FailureKind.REDIRECT
        assert other.requests == []
    assert len(server.requests) == 1
    assert KEY not in failure.text


PLAIN = "0f9e8d7c6b5a4938"


@pytest.mark.parametrize(
    ("key", "echo"),
    [
        (KEY, f"bad key {KEY}"),
        (KEY, f"Authorization: Bearer {KEY}"),
        (KEY, KEY[:9]),
        (PLAIN, f"the key {PLAIN} has expired"),
    ],
)
def test_an_echoed_key_is_not_kept(server: ScriptedServer, key: str, echo: str) -> None:
    server.endpoint.faults = lambda prompt: named_fault("auth", text=echo)
    failure = fail(server.base_url, key=key)
    assert failure.kind is FailureKind.AUTH
    assert key[:9] not in str(failure)


def test_a_key_that_a_proxy_repeats_in_its_reply_is_not_kept(server: ScriptedServer) -> None:
    """The raw body, the text that people read, and the id of the request, also of a refusal."""
    headers = (("x-request-id", f"to {KEY}"),)
    for fault in (saying(f"Authorization: {KEY}"), named_fault("auth")):
        server.endpoint.faults = lambda prompt, fault=fault: replace(fault, headers=headers)
        kept = ask(server.base_url)
        assert KEY not in repr(kept)
        assert kept.request_id.startswith("to ")


HOUSE = "house/7f3a-KEY-e1"


def unicode_escaped(text: str) -> str:
    return "".join(f"\\u{ord(one):04X}" for one in text)


@pytest.mark.parametrize(
    "spelled",
    [
        HOUSE.replace("/", "\\/"),
        HOUSE.replace("K", "\\u004b"),
        unicode_escaped(HOUSE),
        unicode_escaped(HOUSE).replace("\\", "\\\\"),  # of JSON within a text of JSON
        HOUSE.replace("/", "\\\\\\/"),
    ],
)
@pytest.mark.parametrize("place", ["content", "reasoning_content", "model", "list", "error"])
def test_a_key_that_json_spells_in_another_way_is_not_kept(
    server: ScriptedServer, spelled: str, place: str
) -> None:
    completion = json.dumps({"model": "m", "choices": [{"message": {"content": "A"}}]})
    sent = {
        "content": completion.replace('"A"', f'"so {spelled}"'),
        "reasoning_content": completion.replace('"A"', f'"A", "reasoning_content": "{spelled}"'),
        "model": completion.replace('"m"', f'"{spelled}"'),
        "list": f'["{spelled}"]',
        "error": f'{{"error": {{"message": "no {spelled}"}}}}',
    }
    fault = Fault(401 if place == "error" else 200, body=sent[place].encode())
    server.endpoint.faults = lambda prompt: fault
    kept = ask(server.base_url, key=HOUSE)
    shown = [kept.text, getattr(kept, "body", ""), repr(kept)]
    if isinstance(kept, ChatReply):
        shown += [kept.raw, kept.model, kept.reasoning]
    assert all("KEY-e1" not in one and spelled not in one for one in shown)
    assert any("***" in one for one in shown)


def test_a_key_in_two_parts_of_a_reply_is_not_kept_as_its_text(server: ScriptedServer) -> None:
    parts = [{"type": "text", "text": one} for one in (HOUSE[:8], HOUSE[8:])]
    message = {"choices": [{"message": {"content": parts}}]}
    server.endpoint.faults = lambda prompt: Fault(body=json.dumps(message).encode())
    assert ask(server.base_url, key=HOUSE).text == "***"


def test_a_wrong_key_is_told_apart() -> None:
    with ScriptedServer(api_key="the right one") as server:
        assert fail(server.base_url).kind is FailureKind.AUTH
        assert ask(server.base_url, key="the right one")


def test_the_body_is_the_model_the_messages_and_the_parameters(server: ScriptedServer) -> None:
    async def call() -> None:
        async with OpenAIChat(server.base_url, "scripted-demo", KEY, networks=LOOPBACK) as chat:
            await chat.complete(request(1, "问", temperature=0, model="another", top_k=5))

    asyncio.run(call())
    assert json.loads(server.requests[0].body) == {
        "model": "scripted-demo",
        "messages": [{"role": "user", "content": "问"}],
        "temperature": 0,
        "top_k": 5,
    }


def test_what_follows_a_reply_is_no_reply_to_the_next_request(server: ScriptedServer) -> None:
    body = json.dumps({"choices": [{"message": {"content": "first"}}]}).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    twice = Fault(body=body + head % len(body) + body, claimed_length=len(body), drip=0.0005)
    server.endpoint.faults = {"first": twice, "second": saying("second")}.get

    async def call() -> list[str]:
        async with OpenAIChat(server.base_url, "scripted-demo", KEY, networks=LOOPBACK) as chat:
            first = await chat.complete(request(1, "first"))
            await asyncio.sleep(0.5)
            second = await chat.complete(request(2, "second"))
            return [first.text, second.text]

    assert asyncio.run(call()) == ["first", "second"]

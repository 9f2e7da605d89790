"""What is read from the body of a completion, and what makes a body unusable."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluations.llm.client import ChatFailure, FailureKind
from evaluations.llm.replies import read_reply
from tests.evaluations.llm.conftest import reply
from tests.scripted_server import ScriptedServer, named_fault


def body(message: dict[str, Any], **facts: Any) -> bytes:
    return json.dumps({"choices": [{"message": message, **facts}]}).encode()


@pytest.mark.parametrize(
    ("message", "field", "value"),
    [
        ({"content": "答"}, "text", "答"),
        ({"content": ""}, "text", ""),
        ({"content": None}, "text", ""),
        ({}, "text", ""),
        ({"content": [{"type": "text", "text": "a"}, {"text": "b"}, 3]}, "text", "ab"),
        ({"content": 3}, "text", ""),
        ({"reasoning_content": "想"}, "reasoning", "想"),
        ({"reasoning": "think"}, "reasoning", "think"),
        ({"refusal": "I cannot"}, "refusal", "I cannot"),
        ({"tool_calls": [{}, {}]}, "tool_calls", 2),
        ({"tool_calls": None}, "tool_calls", 0),
        ({"content": "a\x00b"}, "text", "a\ufffdb"),
        ({"content": "a\ud800b"}, "text", "a\ufffdb"),
        ({"content": "\U0001f600"}, "text", "\U0001f600"),
    ],
)
def test_message(message: dict[str, Any], field: str, value: object) -> None:
    assert getattr(read_reply(body(message)), field) == value


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4}, (3, 4)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, (0, 0)),
        ({}, (None, None)),
        (None, (None, None)),
        ({"prompt_tokens": -1, "completion_tokens": "4"}, (None, None)),
        ({"prompt_tokens": True, "completion_tokens": 1.5}, (None, None)),
    ],
)
def test_tokens(usage: object, tokens: tuple[int | None, int | None]) -> None:
    completion = {"choices": [{"message": {}}], "usage": usage}
    found = read_reply(json.dumps(completion).encode())
    assert (found.prompt_tokens, found.completion_tokens) == tokens


def test_the_raw_body_is_kept_as_it_was_sent() -> None:
    sent = '{"choices" : [{"message": {"content": "\\u0000题"}}], "new_field": 1}\n'
    assert read_reply(sent.encode()).raw == sent


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"choices": [null]}',
        b'{"choices": [{"text": "old api"}]}',
        b'{"error": {"message": "told with a 200"}}',
        b'{"choices": [{"message": {"content": "ha',
        b"data: {}\n\n",
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_junk_is_malformed_and_may_have_been_billed(junk: bytes) -> None:
    with pytest.raises(ChatFailure) as raised:
        read_reply(junk, "request-7")
    assert raised.value.kind is FailureKind.MALFORMED
    assert raised.value.may_have_been_billed
    assert raised.value.request_id == "request-7"


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("empty", {"text": "", "finish_reason": "stop"}),
        ("null_content", {"text": "", "finish_reason": "stop"}),
        ("length", {"finish_reason": "length"}),
        ("content_filter", {"text": "", "finish_reason": "content_filter"}),
        ("reasoning", {"text": "", "reasoning": "think"}),
        ("tool_calls", {"text": "", "finish_reason": "tool_calls", "tool_calls": 1}),
        ("wrong_model", {"model": "another-model"}),
    ],
)
def test_a_doubtful_answer_is_a_reply_with_its_facts(
    server: ScriptedServer, fault: str, expected: dict[str, object]
) -> None:
    server.endpoint.faults = lambda prompt: named_fault(fault)
    found = reply(server.base_url)
    assert {name: getattr(found, name) for name in expected} == expected


def test_a_good_answer(server: ScriptedServer) -> None:
    found = reply(server.base_url)
    assert found.text
    assert found.model == "scripted-demo"
    assert found.request_id == "chatcmpl-scripted-1"
    assert json.loads(found.raw)["usage"]["prompt_tokens"] == found.prompt_tokens

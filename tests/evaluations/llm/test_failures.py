"""Every way in which a call can fail, made by a real server, and what is known of it."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import pytest

from evaluations.llm.client import ChatFailure, FailureKind, Limits
from tests.evaluations.llm.conftest import fail
from tests.scripted_server import Fault, ScriptedServer, named_fault
from tests.worker_processes import wait_until

ROOMY = Limits(connect=10.0, read=20.0, deadline=30.0, reply_bytes=1_000_000)
# only where the endpoint dawdles on purpose: a busy machine is slow as well
SHORT = Limits(connect=10.0, read=0.5, deadline=1.0, reply_bytes=1_000_000)

# fault, its options, kind, status, may have been billed
KINDS: list[tuple[str, dict[str, Any], str, int | None, bool]] = [
    ("rate_limit", {}, "rate_limit", 429, False),
    ("server_error", {}, "server", 500, False),
    ("server_error", {"status": 503}, "server", 503, False),
    ("auth", {}, "auth", 401, False),
    ("quota", {}, "quota", 429, False),
    ("payment", {}, "quota", 402, False),
    ("not_found", {}, "not_found", 404, False),
    ("bad_request", {}, "bad_request", 400, False),
    ("context_length", {}, "context_length", 400, False),
    ("no_images", {}, "no_images", 400, False),
    ("redirect", {}, "redirect", 307, False),
    ("slow", {"seconds": 30}, "timeout", None, True),
    ("drip", {"seconds": 0.1}, "timeout", None, True),
    ("reset", {}, "interrupted", None, True),
    ("hang_up", {}, "interrupted", None, True),
    ("short_body", {}, "interrupted", None, True),
    ("not_http", {}, "malformed", None, True),
    ("malformed", {}, "malformed", 200, True),
    ("no_choices", {}, "malformed", 200, True),
    ("huge", {"size": 3_000_000}, "oversize", 200, True),
    ("gzip_bomb", {"size": 30_000_000}, "oversize", 200, True),
]


@pytest.mark.parametrize(("fault", "options", "kind", "status", "billed"), KINDS)
def test_each_fault_is_one_kind_of_failure(
    server: ScriptedServer,
    fault: str,
    options: dict[str, Any],
    kind: str,
    status: int | None,
    billed: bool,
) -> None:
    server.endpoint.faults = lambda prompt: named_fault(fault, **options)
    failure = fail(server.base_url, limits=SHORT if kind == "timeout" else ROOMY)
    assert (failure.kind, failure.http_status) == (kind, status)
    assert failure.may_have_been_billed is billed
    # A client that gave up may be faster than the server that it asked.
    wait_until(lambda: server.ledger.billed == int(billed) and bool(server.requests), seconds=10)
    assert len(server.requests) == 1, "the client must not retry by itself"
    assert server.ledger.billed == int(billed)


def test_a_fault_is_told_in_words_of_ours(server: ScriptedServer) -> None:
    server.endpoint.faults = lambda prompt: named_fault("short_body")
    assert fail(server.base_url, limits=ROOMY).text == "the reply broke off before its end"
    server.endpoint.faults = lambda prompt: named_fault("huge", size=3_000_000)
    failure = fail(server.base_url, limits=ROOMY)
    assert failure.text == f"the answer is larger than {ROOMY.reply_bytes:,} bytes"


def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: refused, and nobody else takes it
        port = taken.getsockname()[1]
        failure = fail(f"http://127.0.0.1:{port}/v1")
    assert failure.kind is FailureKind.CONNECT
    assert not failure.may_have_been_billed


def test_a_host_without_a_name() -> None:
    assert fail("http://endpoint.invalid/v1").kind is FailureKind.CONNECT


@pytest.mark.parametrize(
    ("size", "kind"), [(900_000, FailureKind.BAD_REQUEST), (3_000_000, FailureKind.OVERSIZE)]
)
def test_an_error_body_has_the_same_limit(
    server: ScriptedServer, size: int, kind: FailureKind
) -> None:
    server.endpoint.faults = lambda prompt: Fault(400, body=b"x" * size)
    failure = fail(server.base_url, limits=ROOMY)
    assert failure.kind is kind
    assert not failure.may_have_been_billed
    assert len(failure.text) <= 2048


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("charset", ["undefined", "rot13", "zlib", "utf-16", "punycode", "utf-7"])
def test_no_charset_but_utf_8_is_believed(
    server: ScriptedServer, charset: str, status: int
) -> None:
    """Some raised errors that nobody caught; punycode is quadratic and passed the deadline."""
    body = json.dumps({"error": {"message": "题" * 100_000}}, ensure_ascii=False).encode()
    headers = (("Content-Type", f"application/json; charset={charset}"),)
    server.endpoint.faults = lambda prompt: Fault(status, headers, body)
    begun = time.monotonic()
    failure = fail(server.base_url)
    assert time.monotonic() - begun < 5
    assert failure.http_status == status
    assert status == 200 or failure.text.startswith("题题题")


def test_an_encoding_that_nobody_asked_for(server: ScriptedServer) -> None:
    server.endpoint.faults = lambda prompt: Fault(headers=(("Content-Encoding", "br"),), body=b"x")
    failure = fail(server.base_url)
    assert failure.kind is FailureKind.MALFORMED
    assert "encoding" in failure.text


@pytest.mark.parametrize(
    ("kind", "retryable", "pauses"),
    [
        ("connect", True, False),
        ("timeout", True, False),
        ("interrupted", True, False),
        ("rate_limit", True, False),
        ("server", True, False),
        ("malformed", True, False),
        ("cancelled", True, False),
        ("auth", False, True),
        ("quota", False, True),
        ("not_found", False, False),
        ("bad_request", False, False),
        ("context_length", False, False),
        ("no_images", False, False),
        ("redirect", False, False),
        ("address", False, False),
        ("certificate", False, False),
        ("oversize", False, False),
    ],
)
def test_what_follows_from_a_kind(kind: str, retryable: bool, pauses: bool) -> None:
    failure = ChatFailure(FailureKind(kind))
    assert (failure.retryable, failure.pauses_run) == (retryable, pauses)


def test_every_kind_is_in_the_table_above() -> None:
    tested = {row[2] for row in KINDS} | {"address", "certificate", "connect", "cancelled"}
    assert tested == {kind.value for kind in FailureKind}

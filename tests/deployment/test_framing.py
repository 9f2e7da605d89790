"""Where one message ends and the next begins: raw requests to the server as ``serve`` starts it.

Who reads an end elsewhere than we do, a proxy or a browser, would take part of one person's answer
for another's. RFC 9110, 9.3.2 and RFC 9112, 6.
"""

from __future__ import annotations

import re
import socket

import pytest

from tests.deployment.conftest import HOST

HEADERS = b"Host: localhost\r\n"
CLOSE = HEADERS + b"Connection: close\r\n\r\n"
ICON = b"GET /favicon.ico HTTP/1.1\r\n" + CLOSE
CHUNKS = b"0\r\n\r\n"
SMUGGLED = b"GET /favicon.ico?smuggled HTTP/1.1\r\n" + HEADERS + b"\r\n"


def sent(port: int, *parts: bytes) -> bytes:
    """Send *parts* over one connection and return everything that comes until it is closed."""
    with socket.create_connection((HOST, port), timeout=20) as connection:
        for part in parts:
            connection.sendall(part)
        return b"".join(iter(lambda: received(connection), b""))


def received(connection: socket.socket) -> bytes:
    """The next bytes; none after the end, and none where the server closed before it read all."""
    try:
        return connection.recv(65536)
    except ConnectionResetError:
        return b""


def statuses(answer: bytes) -> list[int]:
    """The status of each answer in *answer*."""
    return [int(one) for one in re.findall(rb"HTTP/1\.[01] (\d{3}) ", answer)]


@pytest.mark.parametrize(
    "path", ["/login/", "/", "/static/nothing.css", "/nothing/", "/favicon.ico", "/api/v1/runs/"]
)
def test_an_answer_to_head_has_no_body(port: int, path: str) -> None:
    ask = f" {path} HTTP/1.1\r\n".encode()
    head, end, rest = sent(port, b"HEAD" + ask + CLOSE).partition(b"\r\n\r\n")
    asked = sent(port, b"GET" + ask + CLOSE).partition(b"\r\n\r\n")
    assert end
    assert rest == b""
    assert statuses(head) == statuses(asked[0])
    assert length(head) == length(asked[0])


def length(head: bytes) -> list[bytes]:
    """The Content-Length among the headers *head*; tokens in pages have one length."""
    return re.findall(rb"(?i)content-length: (\d+)", head)


def test_a_connection_goes_on_after_head(port: int) -> None:
    head = b"HEAD /login/ HTTP/1.1\r\n" + HEADERS + b"\r\n"
    answer = sent(port, head + head + ICON)
    assert statuses(answer) == statuses(sent(port, head + ICON))[:1] * 2 + statuses(
        sent(port, ICON)
    )
    assert b"<html" not in answer


def test_pipelined_requests_are_answered_in_order(port: int) -> None:
    post = b"POST /login/ HTTP/1.1\r\n" + HEADERS + b"Content-Length: 9\r\n\r\nusername="
    missing = b"GET /nothing.txt HTTP/1.1\r\n" + HEADERS + b"\r\n"
    got = statuses(sent(port, post + missing + post + ICON))
    assert got[0] == got[2] == 403
    assert len(got) == 4


REFUSED = {
    "two lengths": b"POST /login/ HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 99\r\n",
    "a signed length": b"POST /login/ HTTP/1.1\r\nContent-Length: +5\r\n",
    "length and chunks": b"POST /login/ HTTP/1.1\r\nContent-Length: 5\r\n"
    b"Transfer-Encoding: chunked\r\n",
    "chunks and length": b"POST /login/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
    b"Content-Length: 5\r\n",
    "chunked twice": b"POST /login/ HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n",
    "chunked, in two lines": b"POST /login/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
    b"Transfer-Encoding: chunked\r\n",
    "chunked, in a folded line": b"POST /login/ HTTP/1.1\r\nTransfer-Encoding: chunked,\r\n"
    b" chunked\r\n",
    "an empty coding": b"POST /login/ HTTP/1.1\r\nTransfer-Encoding:\r\nContent-Length: 5\r\n",
    "an unknown coding": b"POST /login/ HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n",
    "a space before the colon": b"POST /login/ HTTP/1.1\r\nTransfer-Encoding : chunked\r\n",
    "chunks in HTTP/1.0": b"POST /login/ HTTP/1.0\r\nConnection: keep-alive\r\n"
    b"Transfer-Encoding: chunked\r\n",
    "chunks in a later version": b"POST /login/ HTTP/1.2\r\nConnection: keep-alive\r\n"
    b"Transfer-Encoding: chunked\r\n",
    "a length in a later version": b"POST /login/ HTTP/2.0\r\nConnection: keep-alive\r\n"
    b"Content-Length: 5\r\n",
    "no version": b"POST /login/\r\nConnection: keep-alive\r\n",
    "header lines without end": b"GET /login/ HTTP/1.1\r\nX: " + b"a" * 33_000 + b"\r\n",
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_message_whose_end_is_in_doubt_ends_the_connection(port: int, what: str) -> None:
    answer = sent(port, REFUSED[what] + HEADERS + b"\r\n" + CHUNKS + SMUGGLED)
    assert len(statuses(answer)) == 1
    assert statuses(answer)[0] in {400, 431, 501}
    assert b"Connection: close" in answer


BROKEN: dict[str, bytes] = {
    "size": b"5x\r\nabcde\r\n",
    "negative": b"-5\r\nabcde\r\n",
    "end": b"5\r\nabcdefgh\r\n",
    "line feed": b"5\nabcde\r\n0\r\n\r\n",
    "line without end": b"1;" + b"a" * 30_000,
    "trailer without end": b"0\r\n" + b"X: a\r\n" * 5_000,
}


@pytest.mark.parametrize("what", BROKEN)
def test_chunks_that_cannot_be_read_end_the_connection(port: int, what: str) -> None:
    post = b"POST /login/ HTTP/1.1\r\n" + HEADERS + b"Transfer-Encoding: chunked\r\n\r\n"
    answer = sent(port, post + BROKEN[what] + b"\r\n" + CHUNKS + SMUGGLED)
    assert statuses(answer) == [400]
    assert b"Connection: close" in answer


def expecting(lines: bytes) -> bytes:
    return b"POST /login/ HTTP/1.1\r\n" + HEADERS + lines + b"Expect: 100-continue\r\n"


def test_a_body_that_waits_for_a_sign_is_read_after_it(port: int) -> None:
    ask = expecting(b"Connection: close\r\nContent-Length: 9\r\n") + b"\r\n"
    assert statuses(sent(port, ask, b"username=")) == [100, 403]


@pytest.mark.parametrize("lines", [b"Content-Length: 99999999999\r\n", b"Content-Length: x\r\n"])
def test_a_body_that_will_not_be_taken_is_not_asked_for(port: int, lines: bytes) -> None:
    answer = sent(port, expecting(lines) + b"\r\n")
    assert len(statuses(answer)) == 1
    assert statuses(answer)[0] in {400, 413}


def test_an_answer_that_has_no_body_by_its_status(port: int) -> None:
    asset = b"GET /static/css/base.css HTTP/1.1\r\n"
    date = re.search(rb"(?i)Last-Modified: ([^\r]+)", sent(port, asset + CLOSE))
    assert date
    unchanged = asset + b"If-Modified-Since: " + date[1] + b"\r\n"
    head, _, rest = sent(port, unchanged + CLOSE).partition(b"\r\n\r\n")
    assert statuses(head) == [304]
    assert rest == b""

"""Requests that are sent by halves stop nobody: the server as ``serve`` starts it."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from http.client import HTTPConnection
from types import SimpleNamespace

import pytest
from waitress.adjustments import Adjustments

from gradeapp.web_messages import BYTES_A_SECOND, Channel
from tests.deployment.conftest import HOST

# A busy machine may take seconds over a page; who waits for half a request would wait 30 and more.
PATIENCE = 20
HALF = {
    "headers": b"GET /favicon.ico HTTP/1.1\r\nHost: localhost\r\nX-Half: ",
    "body": b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nusername=",
    "chunk": b"POST /login/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nus",
    "silence": b"",
}


@pytest.mark.parametrize("half", HALF)
def test_40_half_sent_requests_stop_nobody(port: int, half: str) -> None:
    with ExitStack() as open_sockets:
        for _ in range(40):
            slow = open_sockets.enter_context(socket.create_connection((HOST, port), timeout=5))
            slow.sendall(HALF[half])
        began = time.monotonic()
        for _ in range(5):
            connection = HTTPConnection(HOST, port, timeout=PATIENCE)
            connection.request("GET", "/login/", headers={"Connection": "close"})
            answer = connection.getresponse()
            assert answer.status == 200
            assert "waitress" not in str(answer.headers)
            connection.close()
        assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize(
    ("size", "closed_after"), [(1, 61), (BYTES_A_SECOND // 2, 121), (BYTES_A_SECOND, 200)]
)
def test_a_request_that_comes_too_slowly_is_closed(
    size: int, closed_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many bytes each second, which is never silence."""
    seconds = 0
    clock = SimpleNamespace(monotonic=lambda: seconds)
    monkeypatch.setattr("gradeapp.web_messages.time", clock)
    server = SimpleNamespace(active_channels={}, add_task=lambda channel: None)
    near, far = socket.socketpair()
    with near, far:
        channel = Channel(server, near, ("", 0), Adjustments(), map={})
        channel.received(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n")
        while not channel.will_close and seconds < 200:
            seconds += 1
            channel.received(b"x" * size)
        assert seconds == closed_after

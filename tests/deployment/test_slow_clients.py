"""Requests that are sent by halves stop nobody: the server as ``serve`` starts it."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from http.client import HTTPConnection

import pytest

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

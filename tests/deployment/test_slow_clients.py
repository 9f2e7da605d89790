"""Requests that are sent by halves stop nobody: the server as ``serve`` starts it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from types import SimpleNamespace
from typing import Any

import pytest
from waitress.adjustments import Adjustments
from waitress.server import create_server

from gradeapp import web_messages
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


@pytest.mark.parametrize("each_turn", [0, 1000])
def test_who_does_not_take_an_answer_holds_no_thread(
    each_turn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread waited for good for a reader of 40 MB who took nothing, or a little now and then."""
    monkeypatch.setattr(web_messages, "WHOLE_SECONDS", 2)
    monkeypatch.setattr(web_messages, "MOST_SECONDS", 4)
    ended = threading.Event()

    def application(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        try:
            for _part in range(40):
                yield b"x" * 2**20
        finally:
            ended.set()

    with server_of(application) as port, socket.create_connection((HOST, port)) as reader:
        reader.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        for _turn in range(PATIENCE * 10):
            if ended.wait(0.1):
                break
            if each_turn:
                reader.recv(each_turn)
        assert ended.is_set()


def test_what_the_buffers_take_at_once_is_not_yet_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some megabytes in the buffers of two sockets held a thread for minutes."""
    seconds = 0
    clock = SimpleNamespace(monotonic=lambda: seconds)
    monkeypatch.setattr("gradeapp.web_messages.time", clock)
    server = SimpleNamespace(active_channels={}, add_task=lambda channel: None)
    near, far = socket.socketpair()
    near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * 2**20)
    with near, far:
        channel = Channel(server, near, ("", 0), Adjustments(), map={})
        channel.received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert channel.requests
        channel.outbufs[-1].append(b"x" * 20 * 2**20)
        channel.total_outbufs_len = 20 * 2**20
        while channel.connected and seconds < 600:
            channel.readable()
            if channel.connected:
                channel.handle_write()
            seconds += 1
        assert seconds <= web_messages.MOST_SECONDS + 2


def test_who_takes_a_long_answer_gets_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def application(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return (b"x" * 2**20 for _part in range(40))

    monkeypatch.setattr(web_messages, "WHOLE_SECONDS", 5)
    with server_of(application) as port:
        connection = HTTPConnection(HOST, port, timeout=PATIENCE)
        connection.request("GET", "/")
        assert len(connection.getresponse().read()) == 40 * 2**20
        connection.close()


@contextmanager
def server_of(application: Any) -> Iterator[int]:
    """The port of a server with our connections and one thread."""
    dispatchers: dict[int, Any] = {}
    listener = socket.create_server((HOST, 0))
    server = create_server(
        application, map=dispatchers, sockets=[listener], threads=1, asyncore_use_poll=True
    )
    server.channel_class = Channel
    threading.Thread(target=server.run, daemon=True).start()
    yield listener.getsockname()[1]
    server.close()

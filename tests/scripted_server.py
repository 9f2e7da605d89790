"""A scripted model on loopback with faults on purpose, for tests.

It answers as the product's scripted endpoint does, keeps a ledger of what a provider would have
billed, stores every request, and sends what no web framework would: half a body, a wrong length,
a reset.

    with ScriptedServer() as server:
        ...  # server.base_url, server.ledger, server.requests

A fault script is a list. Each entry applies to ``times`` requests (default 1) in the order of
arrival; after the last entry there are no more faults:

    [{"fault": "ok", "times": 5}, {"fault": "rate_limit", "times": 3, "retry_after": "2"}]
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from evaluations.llm.scripted import MODEL_NAME, completion_of, error_of, prompt_of
from tests.scripted_batches import FaultyBatches

# The private networks that a client of this server must be allowed to call.
LOOPBACK = ["127.0.0.0/8", "::1/128"]

# ---- faults ----

Completion = dict[str, Any]
Change = Callable[[Completion], Completion]


@dataclass(frozen=True, slots=True)
class Fault:
    """A faulty response.

    ``body`` replaces the answer, ``change`` alters it. ``delay`` is in seconds before the answer,
    ``drip`` between its single bytes. The connection is reset after ``cut_after`` bytes of the
    body, or before the status line for -1.
    """

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    change: Change | None = None
    delay: float = 0.0
    drip: float = 0.0
    cut_after: int | None = None
    claimed_length: int | None = None

    @property
    def billed(self) -> bool:
        """Whether the provider would bill the call, also if its answer does not arrive."""
        return self.status == 200


FaultScript = Callable[[str], Fault | None]
"""Returns the fault for the prompt of a chat request, or None for none."""


def named_fault(name: str, **options: Any) -> Fault:
    """Return the fault *name*. Raises ValueError for an unknown name or option."""
    make = _NAMED.get(name)
    if make is None:
        raise ValueError(f"unknown fault {name!r}; known: ok, {', '.join(sorted(_NAMED))}")
    try:
        return make(**options)
    except TypeError:
        given = ", ".join(sorted(options))
        raise ValueError(f"fault {name!r} does not take these options: {given}") from None


def script_from(entries: object) -> FaultScript:
    """Return a script that applies the JSON list *entries* once. Raises ValueError if malformed."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError("a fault script is a list of objects, each with a fault's name")
    faults: list[Fault | None] = []
    for entry in entries:
        options = {key: value for key, value in entry.items() if key not in {"fault", "times"}}
        name = str(entry.get("fault", ""))
        fault = None if name == "ok" else named_fault(name, **options)
        faults += [fault] * int(entry.get("times", 1))
    remaining = iter(faults)
    return lambda prompt: next(remaining, None)


def _error_fault(status: int, message: str, code: str | None = None, kind: str = "error") -> Fault:
    error = {"error": {"message": message, "type": kind, "code": code}}
    return Fault(status, body=json.dumps(error).encode())


def _rate_limit(retry_after: str | None = None) -> Fault:
    fault = _error_fault(429, "Rate limit reached", "rate_limit_exceeded", "requests")
    named = (("Retry-After", retry_after),) if retry_after is not None else ()
    return replace(fault, headers=named)


def _message(**facts: Any) -> Change:
    def change(completion: Completion) -> Completion:
        completion["choices"][0]["message"].update(facts)
        return completion

    return change


def saying(text: str) -> Fault:
    """Return what makes the server answer with *text*."""
    return Fault(change=_message(content=text))


def _finish(reason: str, **facts: Any) -> Change:
    def change(completion: Completion) -> Completion:
        completion["choices"][0]["finish_reason"] = reason
        return _message(**facts)(completion)

    return change


_TOOL_CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


_NAMED: dict[str, Callable[..., Fault]] = {
    "rate_limit": _rate_limit,
    "redirect": lambda to="http://127.0.0.1:9/v1/chat/completions", status=307: Fault(
        status, headers=(("Location", to),), body=b""
    ),
    "server_error": lambda status=500: _error_fault(status, "The server had an error"),
    "auth": lambda text="Incorrect API key provided": _error_fault(401, text, "invalid_api_key"),
    "quota": lambda: _error_fault(429, "You exceeded your current quota", "insufficient_quota"),
    "payment": lambda: _error_fault(402, "Insufficient Balance"),
    "not_found": lambda: _error_fault(404, "The model does not exist", "model_not_found"),
    "bad_request": lambda: _error_fault(400, "temperature is not supported"),
    "context_length": lambda: _error_fault(
        400, "the request exceeds the available context size", kind="exceed_context_size_error"
    ),
    "no_images": lambda: _error_fault(400, "This model does not support image input."),
    "slow": lambda seconds=1.0: Fault(delay=seconds),
    "drip": lambda seconds=0.2: Fault(drip=seconds),
    "reset": lambda after=40: Fault(cut_after=after),
    "hang_up": lambda: Fault(cut_after=-1),
    "short_body": lambda: Fault(claimed_length=100_000, cut_after=10_000),
    "malformed": lambda: Fault(body=b'{"choices": [{"message": {"content": "half'),
    "no_choices": lambda: Fault(body=b'{"choices": []}'),
    "html": lambda: Fault(
        headers=(("Content-Type", "text/html"),), body=b"<html><h1>Service busy</h1></html>"
    ),
    "event_stream": lambda: Fault(
        headers=(("Content-Type", "text/event-stream"),),
        body=b'data: {"choices": [{"delta": {"content": "half"}}]}\n\ndata: [DONE]\n\n',
    ),
    "error_object": lambda: Fault(body=b'{"error": {"message": "busy", "code": "internal"}}'),
    "not_http": lambda: Fault(headers=(("bad header", "\x00"),)),
    "wrong_model": lambda name="another-model": Fault(
        change=lambda completion: {**completion, "model": name}
    ),
    "empty": lambda: Fault(change=_message(content="")),
    "null_content": lambda: Fault(change=_message(content=None)),
    "length": lambda: Fault(change=_finish("length")),
    "content_filter": lambda: Fault(change=_finish("content_filter", content=None)),
    "reasoning": lambda: Fault(change=_message(content=None, reasoning_content="think")),
    "tool_calls": lambda: Fault(
        change=_finish("tool_calls", content=None, tool_calls=[_TOOL_CALL])
    ),
    "huge": lambda size=30_000_000: Fault(body=b" " * size),
    "gzip_bomb": lambda size=50_000_000: Fault(
        headers=(("Content-Encoding", "gzip"),), body=gzip.compress(b" " * size, 6)
    ),
}


# ---- HTTP/1.1 ----

_LARGEST_REQUEST = 50_000_000
_PIECE = 65536


@dataclass(frozen=True, slots=True)
class Received:
    """One HTTP request; header names are lower-case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class BadRequestError(ValueError):
    """The request is malformed."""


async def read_request(reader: asyncio.StreamReader) -> Received | None:
    """Return the next request of a connection; None if the client has closed it."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    start, *lines = head.decode("latin-1").split("\r\n")
    method, _, rest = start.partition(" ")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or int(length) > _LARGEST_REQUEST:
        raise BadRequestError("the request needs a Content-Length within bounds")
    return Received(method, rest.partition(" ")[0], headers, await reader.readexactly(int(length)))


def write_json(
    writer: asyncio.StreamWriter,
    status: int,
    value: object,
    headers: Iterable[tuple[str, str]] = (),
) -> None:
    """Write a well-formed response; bytes as they are."""
    body = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    writer.write(_head(status, len(body), headers) + body)


async def write_faulty(writer: asyncio.StreamWriter, fault: Fault, completion: Any) -> bool:
    """Write the response that *fault* describes; return whether the connection stays open."""
    if fault.cut_after == -1:
        reset(writer)
        return False
    changed = fault.change(completion) if fault.change else completion
    body = json.dumps(changed, ensure_ascii=False).encode() if fault.body is None else fault.body
    length = len(body) if fault.claimed_length is None else fault.claimed_length
    writer.write(_head(fault.status, length, fault.headers))
    body, size = body[: fault.cut_after], 1 if fault.drip else _PIECE
    for start in range(0, len(body), size):
        writer.write(body[start : start + size])
        await writer.drain()
        if fault.drip:
            await asyncio.sleep(fault.drip)
    if fault.cut_after is None:
        return True
    reset(writer)
    return False


def reset(writer: asyncio.StreamWriter) -> None:
    """Close the connection with a TCP reset, as a crashing proxy does."""
    connection = writer.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _head(status: int, length: int, headers: Iterable[tuple[str, str]]) -> bytes:
    known = status in HTTPStatus.__members__.values()
    phrase = HTTPStatus(status).phrase if known else "Unknown"  # such as 529
    lines = [f"HTTP/1.1 {status} {phrase}", f"Content-Length: {length}"]
    named = {name.lower() for name, _ in headers}
    if "content-type" not in named:
        lines.append("Content-Type: application/json; charset=utf-8")
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


# ---- the endpoint ----


class Ledger:
    """Append-only ledger with a line for each request that a provider would have billed.

    With *path*, each line is on the disk before the answer is sent. With *keep*, ``prompts`` keeps
    the billed prompts in memory for tests; a demo that runs for days must not.
    """

    def __init__(self, path: Path | None = None, *, keep: bool = False) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._file = os.open(path, flags, 0o600) if path else None
        self._keep = keep
        self.billed = 0
        self.prompts: list[str] = []

    def bill(self, prompt: str) -> None:
        """Add one billed request."""
        self.billed += 1
        if self._keep:
            self.prompts.append(prompt)
        if self._file is not None:
            digest = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()
            line = json.dumps({"number": self.billed, "prompt_sha256": digest})
            os.write(self._file, line.encode() + b"\n")
            os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


class ScriptedEndpoint:
    """Serves ``/v1/models``, ``/v1/chat/completions`` and the batch API in one event loop.

    ``latency`` is in seconds per answer. With ``api_key``, any other key gets a 401. ``keep``
    stores every request and billed prompt, for tests.
    """

    def __init__(
        self,
        *,
        latency: float = 0.0,
        faults: FaultScript | None = None,
        ledger: Path | None = None,
        api_key: str | None = None,
        keep: bool = False,
    ) -> None:
        self.latency = latency
        self.faults = faults
        self.ledger = Ledger(ledger, keep=keep)
        self.lists_models = True
        self.models_list: object | None = None  # in place of the usual one; bytes as they are
        self.batches = FaultyBatches(self.ledger.bill)
        self.requests: list[Received] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self._api_key = api_key
        self._keep = keep
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen on *port* (0 for any free port) and return it. Raises OSError if it is in use."""
        self._server = await asyncio.start_server(self._connected, host, port, backlog=1024)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Stop listening and close every connection."""
        if self._server is not None:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        self.ledger.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while (received := await read_request(reader)) is not None:
                    if self._keep:
                        self.requests.append(received)
                    if not await self._respond(received, writer):
                        return
                    await writer.drain()
        except (BadRequestError, asyncio.LimitOverrunError):
            reset(writer)
        except asyncio.CancelledError:
            # Only stop() cancels; asyncio's callback would print a trace for it.
            pass
        finally:
            writer.close()

    async def _respond(self, received: Received, writer: asyncio.StreamWriter) -> bool:
        """Respond to one request; return whether the connection can be used again."""
        if self._api_key and received.headers.get("authorization") != f"Bearer {self._api_key}":
            write_json(writer, 401, error_of("Incorrect API key provided", "invalid_api_key"))
        elif (received.method, received.path) == ("GET", "/v1/models") and self.lists_models:
            model = {"id": MODEL_NAME, "object": "model", "owned_by": "gradeapp"}
            usual = {"object": "list", "data": [model]}
            write_json(writer, 200, usual if self.models_list is None else self.models_list)
        elif (received.method, received.path) == ("POST", "/v1/chat/completions"):
            return await self._chat(received, writer)
        else:
            named = (received.method, received.path, received.headers, received.body)
            write_json(writer, *self.batches.answer(*named), self.batches.headers)
        return True

    async def _chat(self, received: Received, writer: asyncio.StreamWriter) -> bool:
        prompt = prompt_of(received.body)
        if prompt is None:
            write_json(writer, 400, error_of("The body is not a chat request", "bad_request"))
            return True
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            fault = self.faults(prompt) if self.faults else None
            if fault is None or fault.billed:
                self.ledger.bill(prompt)
            number = self.ledger.billed
            if delay := self.latency + (fault.delay if fault else 0.0):
                await asyncio.sleep(delay)
            if fault is None:
                write_json(writer, 200, completion_of(prompt, number))
                return True
            return await write_faulty(writer, fault, completion_of(prompt, number))
        finally:
            self.in_flight -= 1


class ScriptedServer:
    """A server on a free loopback port: ``with ScriptedServer(...) as server``.

    It stores every request. ``endpoint.faults`` may be changed while it runs.
    """

    def __init__(
        self,
        *,
        latency: float = 0.0,
        faults: FaultScript | None = None,
        ledger: Path | None = None,
        api_key: str | None = None,
    ) -> None:
        self.endpoint = ScriptedEndpoint(
            latency=latency, faults=faults, ledger=ledger, api_key=api_key, keep=True
        )
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="scripted-endpoint", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        starting = asyncio.run_coroutine_threadsafe(self.endpoint.start(), self._loop)
        self.port = starting.result(timeout=10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self.endpoint.stop(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    @property
    def base_url(self) -> str:
        """The address for clients, up to ``/chat/completions``."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def ledger(self) -> Ledger:
        """The ledger of billed requests."""
        return self.endpoint.ledger

    @property
    def batches(self) -> FaultyBatches:
        """The files and batches of the batch API."""
        return self.endpoint.batches

    @property
    def requests(self) -> list[Received]:
        """All requests, in the order of arrival."""
        return self.endpoint.requests

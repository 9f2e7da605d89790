"""The scripted endpoint: its routes, and the ledger of billed requests."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any, cast

from evaluations.llm.scripted.answers import answer
from evaluations.llm.scripted.faults import FaultScript
from evaluations.llm.scripted.http import (
    BadRequestError,
    Received,
    read_request,
    reset,
    write_faulty,
    write_json,
)

MODEL_NAME = "scripted-demo"


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
    """Serves ``/v1/models`` and ``/v1/chat/completions`` in one event loop.

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
            write_json(writer, 401, _error("Incorrect API key provided", "invalid_api_key"))
        elif (received.method, received.path) == ("GET", "/v1/models"):
            model = {"id": MODEL_NAME, "object": "model", "owned_by": "gradeapp"}
            write_json(writer, 200, {"object": "list", "data": [model]})
        elif (received.method, received.path) == ("POST", "/v1/chat/completions"):
            return await self._chat(received, writer)
        else:
            write_json(writer, 404, _error("There is nothing here", "not_found"))
        return True

    async def _chat(self, received: Received, writer: asyncio.StreamWriter) -> bool:
        prompt = _prompt(received.body)
        if prompt is None:
            write_json(writer, 400, _error("The body is not a chat request", "bad_request"))
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


def completion_of(prompt: str, number: int) -> dict[str, Any]:
    """Return a chat completion in the form of OpenAI's API, with half the characters as tokens."""
    text = answer(prompt)
    read, written = len(prompt) // 2 + 1, len(text) // 2 + 1
    message = {"role": "assistant", "content": text}
    return {
        "id": f"chatcmpl-scripted-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL_NAME,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        },
    }


def _error(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


def _prompt(body: bytes) -> str | None:
    """Return the text of all messages; None if the body is not a chat request."""
    try:
        return "\n".join(str(message["content"]) for message in json.loads(body)["messages"])
    except (ValueError, KeyError, TypeError):
        return None

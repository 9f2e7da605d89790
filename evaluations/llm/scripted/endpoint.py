"""The scripted endpoint: routes, the answer or the fault, and what is remembered of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
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
from evaluations.llm.scripted.ledger import Ledger

MODEL_NAME = "scripted-demo"


class ScriptedEndpoint:
    """Serves ``/v1/models`` and ``/v1/chat/completions`` inside one event loop.

    ``latency`` is in seconds for each answer. With ``api_key`` any other key
    gets a 401. ``keep`` remembers every request and billed prompt, for tests.
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
        """Listen; the port that was taken. Raises OSError where it is in use."""
        self._server = await asyncio.start_server(self._connected, host, port, backlog=1024)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Stop listening and drop every connection."""
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
                await self._converse(reader, writer)
        except (BadRequestError, asyncio.LimitOverrunError):
            reset(writer)
        except asyncio.CancelledError:
            # Only stop() cancels; asyncio's callback would print a trace for it.
            pass
        finally:
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (received := await read_request(reader)) is not None:
            if self._keep:
                self.requests.append(received)
            if not await self._answered(received, writer):
                return
            await writer.drain()

    async def _answered(self, received: Received, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection can carry another request."""
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
            return await self._chat_answered(prompt, writer)
        finally:
            self.in_flight -= 1

    async def _chat_answered(self, prompt: str, writer: asyncio.StreamWriter) -> bool:
        fault = self.faults(prompt) if self.faults else None
        if fault is None or fault.billed:
            self.ledger.bill(prompt)
        number = self.ledger.billed
        delay = self.latency + (fault.delay if fault else 0.0)
        if delay:
            await asyncio.sleep(delay)
        if fault is None:
            write_json(writer, 200, completion_of(prompt, number))
            return True
        return await write_faulty(writer, fault, completion_of(prompt, number))


def completion_of(prompt: str, number: int) -> dict[str, Any]:
    """A chat completion as OpenAI's API words it; tokens are counted as half the characters."""
    text = answer(prompt)
    asked, told = len(prompt) // 2 + 1, len(text) // 2 + 1
    message = {"role": "assistant", "content": text}
    return {
        "id": f"chatcmpl-scripted-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL_NAME,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": asked,
            "completion_tokens": told,
            "total_tokens": asked + told,
        },
    }


def _error(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


def _prompt(body: bytes) -> str | None:
    """The text of all messages, None where the body is not a chat request."""
    try:
        messages = json.loads(body)["messages"]
        return "\n".join(_content(message["content"]) for message in messages)
    except (ValueError, KeyError, TypeError):
        return None


def _content(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content)

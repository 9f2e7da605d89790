"""A scripted endpoint that costs almost nothing, so that a benchmark measures the clients.

It gives the answers of ``evaluations.llm.scripted``, each computed once, by a protocol of asyncio
that knows only what clients of chat completions send: requests with a Content-Length, one at a time
on each connection. ``GET /`` says what happened since it was asked last.

    python -m bench.quick_endpoint [--latency 0.05]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

from evaluations.llm.scripted import completion_of, error_of, prompt_of

ROOT = Path(__file__).resolve().parent.parent
LENGTH = b"\r\ncontent-length:"
END = b"\r\n\r\n"


@dataclass
class Counts:
    """Calls that were answered, how many were in flight at most, and processor time in seconds."""

    calls: int = 0
    in_flight: int = 0
    most: int = 0
    processor: float = 0.0


class Answering(asyncio.Protocol):
    """One connection: each answer is written *latency* seconds after its request has arrived."""

    def __init__(self, latency: float, counts: Counts, answers: dict[str, bytes]) -> None:
        self._latency, self._counts, self._answers = latency, counts, answers
        self._received = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Begin to answer if the request is complete."""
        self._received += data
        head, end, body = self._received.partition(END)
        if not end:
            return
        _before, named, length = head.lower().partition(LENGTH)
        if named and len(body) < int(length.partition(b"\r\n")[0]):
            return
        self._received = b""
        if head.startswith(b"GET"):
            self._transport.write(self._told())
            return
        counts = self._counts
        counts.in_flight += 1
        counts.most = max(counts.most, counts.in_flight)
        loop = asyncio.get_running_loop()
        loop.call_later(self._latency, self._answer, self._answer_to(body))

    def _answer(self, reply: bytes) -> None:
        self._counts.in_flight -= 1
        self._counts.calls += 1
        self._transport.write(reply)

    def _answer_to(self, body: bytes) -> bytes:
        prompt = prompt_of(body)
        if prompt is None:
            return response(error_of("The body is not a chat request", "bad_request"), b"400 No")
        if (known := self._answers.get(prompt)) is None:
            known = self._answers[prompt] = response(completion_of(prompt, len(self._answers)))
        return known

    def _told(self) -> bytes:
        counts, now = self._counts, time.process_time()
        told = {"calls": counts.calls, "most": counts.most, "processor": now - counts.processor}
        counts.calls, counts.most, counts.processor = 0, counts.in_flight, now
        return response(told)


def response(content: object, status: bytes = b"200 OK") -> bytes:
    """Return a whole response with *content* as JSON."""
    body = json.dumps(content).encode()
    head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d" % (
        status,
        len(body),
    )
    return head + END + body


@dataclass(frozen=True)
class QuickEndpoint:
    """A running endpoint; ``base_url`` is that of its API."""

    base_url: str

    def counts(self) -> Counts:
        """Return what happened since this was asked last."""
        root = urlsplit(self.base_url)._replace(path="/").geturl()
        with urlopen(root, timeout=10) as told:
            return Counts(**json.load(told))


@contextmanager
def quick_endpoint(latency: float) -> Iterator[QuickEndpoint]:
    """Run the endpoint in a process of its own."""
    command = [sys.executable, "-m", "bench.quick_endpoint", "--latency", str(latency)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield QuickEndpoint(process.stdout.readline().strip())
    finally:
        process.terminate()
        process.communicate(timeout=10)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the process is ended; print the base URL first."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--latency", type=float, default=0.05, help="seconds for each answer")
    asyncio.run(_serve(parser.parse_args(arguments).latency))


async def _serve(latency: float) -> None:
    counts, answers = Counts(), dict[str, bytes]()
    server = await asyncio.get_running_loop().create_server(
        lambda: Answering(latency, counts, answers), "127.0.0.1", 0, backlog=1024
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    main()

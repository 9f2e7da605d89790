"""HTTP/1.1 for the scripted endpoint, with responses that are faulty on purpose.

A web framework would not send half a body, a wrong length or a reset.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from evaluations.llm.scripted.faults import Fault

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


def write_json(writer: asyncio.StreamWriter, status: int, value: object) -> None:
    """Write a well-formed response."""
    body = json.dumps(value, ensure_ascii=False).encode()
    writer.write(_head(status, len(body), ()) + body)


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
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"Content-Length: {length}"]
    named = {name.lower() for name, _ in headers}
    if "content-type" not in named:
        lines.append("Content-Type: application/json; charset=utf-8")
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

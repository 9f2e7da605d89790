"""Faults of the scripted endpoint, by name or by a function.

A fault script is a JSON list. Each entry applies to ``times`` requests (default 1) in the order of
arrival; after the last entry there are no more faults:

    [{"fault": "ok", "times": 5}, {"fault": "rate_limit", "times": 3, "retry_after": "2"}]
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

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


def _error(status: int, message: str, code: str | None = None, kind: str = "error") -> Fault:
    error = {"error": {"message": message, "type": kind, "code": code}}
    return Fault(status, body=json.dumps(error).encode())


def _rate_limit(retry_after: str | None = None) -> Fault:
    fault = _error(429, "Rate limit reached", "rate_limit_exceeded", "requests")
    named = (("Retry-After", retry_after),) if retry_after is not None else ()
    return replace(fault, headers=named)


def _message(**facts: Any) -> Change:
    def change(completion: Completion) -> Completion:
        completion["choices"][0]["message"].update(facts)
        return completion

    return change


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
    "server_error": lambda status=500: _error(status, "The server had an error"),
    "auth": lambda text="Incorrect API key provided": _error(401, text, "invalid_api_key"),
    "quota": lambda: _error(429, "You exceeded your current quota", "insufficient_quota"),
    "payment": lambda: _error(402, "Insufficient Balance"),
    "not_found": lambda: _error(404, "The model does not exist", "model_not_found"),
    "bad_request": lambda: _error(400, "temperature is not supported"),
    "context_length": lambda: _error(
        400, "the request exceeds the available context size", kind="exceed_context_size_error"
    ),
    "slow": lambda seconds=1.0: Fault(delay=seconds),
    "drip": lambda seconds=0.2: Fault(drip=seconds),
    "reset": lambda after=40: Fault(cut_after=after),
    "hang_up": lambda: Fault(cut_after=-1),
    "short_body": lambda: Fault(claimed_length=100_000, cut_after=10_000),
    "malformed": lambda: Fault(body=b'{"choices": [{"message": {"content": "half'),
    "no_choices": lambda: Fault(body=b'{"choices": []}'),
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

"""What a chat endpoint is asked and what comes back: the words that the whole package shares.

A call ends in exactly one of two ways: a ``ChatReply`` (the endpoint answered,
whatever the answer is worth) or a raised ``ChatFailure`` whose ``kind`` is
stable enough to be stored, counted and decided upon.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

Key = str | int

LONGEST_WAIT = 120.0
"""Seconds. An endpoint that asks for more than this is not waited for: the run pauses."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call to make; ``key`` names it for the caller, ``params`` go into the body."""

    key: Key
    messages: Sequence[Mapping[str, Any]]
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how large one call may be: seconds, and bytes after decoding.

    ``read`` is the longest silence, which without streaming is the time the
    model needs to write its whole answer; ``deadline`` bounds the call as a
    whole, against an endpoint that sends one byte now and then.
    """

    connect: float = 5.0
    read: float = 300.0
    deadline: float = 600.0
    reply_bytes: int = 20_000_000


@dataclass(frozen=True, slots=True)
class ChatReply:
    """One answer with its facts; the caller decides what a cut or empty one is worth.

    ``text`` is "" where the endpoint sent no content. ``finish_reason`` is ""
    and the token counts are None where it said nothing. ``model`` is what the
    endpoint says answered. ``raw`` is the JSON body as received, decoded from
    UTF-8 and otherwise untouched.
    """

    text: str
    reasoning: str
    refusal: str
    tool_calls: int
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    model: str
    request_id: str
    raw: str


class FailureKind(StrEnum):
    """Why a call gave no reply."""

    CONNECT = "connect"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"
    RATE_LIMIT = "rate_limit"
    SERVER = "server"
    AUTH = "auth"
    QUOTA = "quota"
    NOT_FOUND = "not_found"
    BAD_REQUEST = "bad_request"
    CONTEXT_LENGTH = "context_length"
    REDIRECT = "redirect"
    MALFORMED = "malformed"
    OVERSIZE = "oversize"
    CANCELLED = "cancelled"


RETRYABLE = frozenset(
    {
        FailureKind.CONNECT,
        FailureKind.TIMEOUT,
        FailureKind.INTERRUPTED,
        FailureKind.RATE_LIMIT,
        FailureKind.SERVER,
        FailureKind.MALFORMED,
        FailureKind.CANCELLED,
    }
)


class ChatFailure(Exception):
    """A call without a reply.

    ``text`` is what the endpoint said, already scrubbed of keys and cut to
    2 kB. ``retry_after`` is in seconds, None where nothing usable was said.
    ``may_have_been_billed`` is true when the request had gone out and the
    answer is unknown or unusable: the provider does not deduplicate for us.
    """

    def __init__(
        self,
        kind: FailureKind,
        text: str = "",
        *,
        http_status: int | None = None,
        retry_after: float | None = None,
        may_have_been_billed: bool = False,
        request_id: str = "",
    ) -> None:
        super().__init__(f"{kind}: {text}" if text else str(kind))
        self.kind = kind
        self.text = text
        self.http_status = http_status
        self.retry_after = retry_after
        self.may_have_been_billed = may_have_been_billed
        self.request_id = request_id

    @property
    def retryable(self) -> bool:
        """Whether the same call, made again later, may well succeed."""
        return self.kind in RETRYABLE

    @property
    def pauses_run(self) -> bool:
        """Whether every other call would meet the same wall, so that a person has to look first."""
        too_long = self.retry_after is not None and self.retry_after > LONGEST_WAIT
        return self.kind in {FailureKind.AUTH, FailureKind.QUOTA} or too_long

    @property
    def slows_down(self) -> bool:
        """Whether the endpoint asked for fewer calls: 429, or a 5xx that names a wait."""
        waits = self.kind is FailureKind.SERVER and self.retry_after is not None
        return self.kind is FailureKind.RATE_LIMIT or waits


class ChatClient(Protocol):
    """Anything that answers chat requests: the OpenAI client here, another one elsewhere."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer *request* or raise ``ChatFailure``; any other exception is a defect."""
        ...

"""Types shared by the package: requests, replies, failures and the client protocol.

A call ends either with a ``ChatReply`` (the endpoint answered, usefully or not) or with a raised
``ChatFailure``, whose ``kind`` can be stored and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Protocol

from evaluations.llm.rate_headers import RateReport

Key = str | int

LONGEST_WAIT = 120.0
"""Longest Retry-After in seconds that is waited for.

If the endpoint asks for more, the run pauses.
"""


KEPT_BODY = 65_536
"""The most characters that are kept of a body with status 200 that could not be read."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call. ``key`` identifies it for the caller; ``params`` are added to the request body."""

    key: Key
    messages: Sequence[Mapping[str, Any]]
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one call: times in seconds, size in bytes after decompression.

    ``read`` is the longest time without data; without streaming, the model writes its whole answer
    in it. ``deadline`` limits the whole call, in case an endpoint sends one byte at a time.
    """

    connect: float = 5.0
    read: float = 300.0
    deadline: float = 600.0
    reply_bytes: int = 20_000_000


def most_bytes(max_tokens: int) -> int:
    """Return how large a reply may be that was asked for with *max_tokens*, in bytes.

    A token has some four bytes, or twelve in escapes of JSON; a megabyte is for reasoning that is
    not counted, and for what stands around the text. What is longer is shown to people and read
    many times, so it would take the memory and the time of all.
    """
    return min(1_000_000 + 64 * max_tokens, Limits().reply_bytes)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """One answer, which may be truncated or empty.

    Strings are "" and token counts None if the endpoint did not send them. ``model`` is the name
    that the endpoint reports. ``raw`` is the JSON body as received, decoded from UTF-8. ``rate``
    is what its headers say of the limits of the account. ``choices`` is the number of choices, of
    which this is the first. The six fields before it are those of ``usage.Usage``.
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
    rate: RateReport | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    audio_tokens: int | None = None
    total_tokens: int | None = None
    reported_cost: str | None = None
    odd_usage: bool = False
    choices: int = 1


def without_usage(reply: ChatReply) -> ChatReply:
    """Return *reply* as one whose usage cannot be used."""
    return replace(
        reply,
        prompt_tokens=None,
        completion_tokens=None,
        cached_tokens=None,
        reasoning_tokens=None,
        audio_tokens=None,
        total_tokens=None,
        reported_cost=None,
        odd_usage=True,
    )


# What is left of a limit is out of date when a spool is read.
_KEPT = tuple(one.name for one in fields(ChatReply) if one.name != "rate")


class FailureKind(StrEnum):
    """Reason why a call has no reply."""

    ADDRESS = "address"
    CERTIFICATE = "certificate"
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
    NO_IMAGES = "no_images"
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

    ``text`` is the endpoint's message with keys masked, at most 2 kB. ``retry_after`` is in
    seconds, or None. ``may_have_been_billed`` is true if the request was sent and its answer is
    unknown or unusable. ``body`` is the beginning of an unusable answer with status 200, at most
    ``KEPT_BODY`` characters: it was paid for. It may be any page of any service, so it is shown
    only to people who may start runs, and never by the check of an endpoint.
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
        body: str = "",
    ) -> None:
        super().__init__(f"{kind}: {text}" if text else str(kind))
        self.kind = kind
        self.text = text
        self.http_status = http_status
        self.retry_after = retry_after
        self.may_have_been_billed = may_have_been_billed
        self.request_id = request_id
        self.body = body

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in RETRYABLE

    @property
    def pauses_run(self) -> bool:
        """Whether every other call would fail alike, so that a person must act first."""
        too_long = self.retry_after is not None and self.retry_after > LONGEST_WAIT
        return self.kind in {FailureKind.AUTH, FailureKind.QUOTA} or too_long

    @property
    def slows_down(self) -> bool:
        """Whether the endpoint asked for fewer calls: 429, or a 5xx with Retry-After."""
        waits = self.kind is FailureKind.SERVER and self.retry_after is not None
        return self.kind is FailureKind.RATE_LIMIT or waits


@dataclass(frozen=True, slots=True)
class CallResult:
    """How the call ``key`` ended, ``seconds`` after it was sent."""

    key: Key
    result: ChatReply | ChatFailure
    seconds: float

    @property
    def reply(self) -> ChatReply | None:
        """The reply; None if the call failed."""
        return self.result if isinstance(self.result, ChatReply) else None

    @property
    def failure(self) -> ChatFailure | None:
        """The failure; None if the call was answered."""
        return self.result if isinstance(self.result, ChatFailure) else None

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values; ``from_dict`` reads them back."""
        named = {"key": self.key, "seconds": self.seconds}
        if isinstance(self.result, ChatReply):
            return {**named, "reply": {name: getattr(self.result, name) for name in _KEPT}}
        return {**named, "failure": vars(self.result) | {"kind": self.result.kind.value}}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> CallResult:
        """Read what ``as_dict`` wrote. Raises KeyError, TypeError or ValueError on other input."""
        if "reply" in value:
            result: ChatReply | ChatFailure = ChatReply(**value["reply"])
        else:
            fields = dict(value["failure"])
            result = ChatFailure(FailureKind(fields.pop("kind")), fields.pop("text"), **fields)
        return cls(value["key"], result, float(value["seconds"]))


class ChatClient(Protocol):
    """A client that answers chat requests."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer *request* or raise ``ChatFailure``; any other exception is a defect."""
        ...

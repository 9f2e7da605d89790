"""The outcome of one call, and its JSON form for the spool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evaluations.llm.client import ChatFailure, ChatReply, FailureKind, Key


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the call ``key`` ended, ``seconds`` after it was sent."""

    key: Key
    result: ChatReply | ChatFailure
    seconds: float

    @property
    def reply(self) -> ChatReply | None:
        """The reply, None where the call failed."""
        return self.result if isinstance(self.result, ChatReply) else None

    @property
    def failure(self) -> ChatFailure | None:
        """The failure, None where the call was answered."""
        return self.result if isinstance(self.result, ChatFailure) else None

    def as_dict(self) -> dict[str, Any]:
        """Everything, in plain JSON values; ``from_dict`` reads it back."""
        named = {"key": self.key, "seconds": self.seconds}
        if isinstance(self.result, ChatReply):
            return {**named, "reply": asdict(self.result)}
        return {**named, "failure": _failure_dict(self.result)}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Outcome:
        """The outcome that ``as_dict`` wrote; raises KeyError, TypeError or ValueError on junk."""
        if "reply" in value:
            result: ChatReply | ChatFailure = ChatReply(**value["reply"])
        else:
            facts = dict(value["failure"])
            result = ChatFailure(FailureKind(facts.pop("kind")), facts.pop("text"), **facts)
        return cls(value["key"], result, float(value["seconds"]))


def _failure_dict(failure: ChatFailure) -> dict[str, Any]:
    return {
        "kind": failure.kind.value,
        "text": failure.text,
        "http_status": failure.http_status,
        "retry_after": failure.retry_after,
        "may_have_been_billed": failure.may_have_been_billed,
        "request_id": failure.request_id,
    }

"""Read the body of a chat completion: facts out, nothing judged, nothing guessed."""

from __future__ import annotations

import json
import re
from typing import Any

from evaluations.llm.client import ChatFailure, ChatReply, FailureKind

_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")


def read_reply(body: bytes, request_id: str = "") -> ChatReply:
    """The reply in *body*, a JSON chat completion.

    A cut (``length``), filtered, refused or empty answer is a reply with these
    facts. Raises ``ChatFailure`` (malformed, possibly billed) where the body is
    not UTF-8 JSON or has no choice with a message.
    """
    raw, completion = _completion(body, request_id)
    choice = _first_choice(completion, request_id)
    message = choice["message"]
    usage = _mapping(completion.get("usage"))
    return ChatReply(
        text=_text(message.get("content")),
        reasoning=_text(message.get("reasoning_content") or message.get("reasoning")),
        refusal=_text(message.get("refusal")),
        tool_calls=len(_sequence(message.get("tool_calls"))),
        finish_reason=_text(choice.get("finish_reason")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        model=_text(completion.get("model")),
        request_id=request_id or _text(completion.get("id")),
        raw=raw,
    )


def malformed(why: str, request_id: str = "") -> ChatFailure:
    """A 200 that cannot be used: the work behind it was most likely billed."""
    return ChatFailure(
        FailureKind.MALFORMED,
        why,
        http_status=200,
        may_have_been_billed=True,
        request_id=request_id,
    )


def _completion(body: bytes, request_id: str) -> tuple[str, dict[str, Any]]:
    try:
        raw = body.decode("utf-8")
        completion = json.loads(raw)
    # RecursionError: a body of ten thousand opening brackets is bad input, not our defect.
    except (ValueError, RecursionError) as error:
        why = f"the body is not JSON: {type(error).__name__}"
        raise malformed(why, request_id) from None
    if not isinstance(completion, dict):
        raise malformed("the body is JSON, but not an object", request_id)
    return raw, completion


def _first_choice(completion: dict[str, Any], request_id: str) -> dict[str, Any]:
    choices = _sequence(completion.get("choices"))
    first = _mapping(choices[0]) if choices else {}
    if not isinstance(first.get("message"), dict):
        raise malformed("the body has no choice with a message", request_id)
    return first


def _text(value: object) -> str:
    """A string that every database takes; some servers send content as a list of typed parts.

    JSON can spell NUL and half surrogate pairs, which PostgreSQL and UTF-8
    refuse: they become U+FFFD here, and ``raw`` keeps what was sent.
    """
    if not isinstance(value, str):
        parts = [_mapping(part).get("text") for part in _sequence(value)]
        value = "".join(part for part in parts if isinstance(part, str))
    return _NOT_STORABLE.sub("\ufffd", value)


def _count(value: object) -> int | None:
    """A token count; a bool, a float or a negative number is no count."""
    usable = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if usable else None  # type: ignore[return-value]


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: object) -> list[Any]:
    return value if isinstance(value, list) else []

"""Read the body of a chat completion."""

from __future__ import annotations

import json
import re
from typing import Any

from evaluations.llm.classify import NO_SECRET, what_it_is
from evaluations.llm.client import KEPT_BODY, ChatFailure, ChatReply, FailureKind
from evaluations.llm.usage import read_usage
from gradeapp.common.masking import SecretMask
from gradeapp.common.strict_json import check_depth

_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")


def read_reply(body: bytes, request_id: str = "", mask: SecretMask = NO_SECRET) -> ChatReply:
    """Return the reply in *body*, a JSON chat completion.

    *body* is masked already; *mask* masks our key in texts once more, whose parts it may stand in.

    A truncated, filtered, refused or empty answer is a reply too. Raises ``ChatFailure``
    (malformed, possibly billed, with the beginning of the body) if the body is not UTF-8 JSON or
    has no choice with a message.
    """
    kept = kept_part(body)
    try:
        raw = body.decode("utf-8")
        check_depth(raw, "body")
        completion = json.loads(raw)
    except ValueError as error:
        why = f"the body is not JSON: {what_it_is(kept) or type(error).__name__}"
        raise malformed(why, request_id, kept) from None
    if not isinstance(completion, dict):
        raise malformed("the body is JSON, but not an object", request_id, kept)
    choices = _sequence(completion.get("choices"))
    choice = _mapping(choices[0]) if choices else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        raise malformed("the body has no choice with a message", request_id, kept)
    usage = read_usage(completion.get("usage"))

    def text_of(value: object) -> str:
        return mask.text(_text(value))

    text = text_of(message.get("content"))
    reasoning = text_of(message.get("reasoning_content") or message.get("reasoning"))
    return ChatReply(
        text=text,
        reasoning=reasoning,
        refusal=text_of(message.get("refusal")),
        tool_calls=len(_sequence(message.get("tool_calls"))),
        finish_reason=text_of(choice.get("finish_reason")),
        prompt_tokens=usage.prompt,
        completion_tokens=usage.completion,
        model=text_of(completion.get("model")),
        request_id=request_id or text_of(completion.get("id")),
        raw=raw,
        cached_tokens=usage.cached,
        reasoning_tokens=usage.reasoning,
        audio_tokens=usage.audio,
        total_tokens=usage.total,
        reported_cost=usage.cost,
        odd_usage=usage.odd or (usage.completion == 0 and bool(text or reasoning)),
        choices=len(choices),
    )


def kept_part(body: bytes) -> str:
    """Return what is kept of a body that cannot be read, with U+FFFD for what is not UTF-8."""
    return body[: 4 * KEPT_BODY].decode("utf-8", "replace")[:KEPT_BODY]


def malformed(why: str, request_id: str = "", body: str = "") -> ChatFailure:
    """Return the failure for an unusable response with status 200, which was most likely billed."""
    return ChatFailure(
        FailureKind.MALFORMED,
        why,
        http_status=200,
        may_have_been_billed=True,
        request_id=request_id,
        body=body,
    )


def _text(value: object) -> str:
    """Return *value* (a string, or a list of typed parts) as a string that every database stores.

    JSON can contain NUL and half surrogate pairs, which PostgreSQL and UTF-8 do not accept: they
    become U+FFFD. ``raw`` keeps them.
    """
    if not isinstance(value, str):
        parts = [_mapping(part).get("text") for part in _sequence(value)]
        value = "".join(part for part in parts if isinstance(part, str))
    return _NOT_STORABLE.sub("\ufffd", value)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: object) -> list[Any]:
    return value if isinstance(value, list) else []

"""Turn an HTTP error answer into one kind of failure.

Statuses alone do not tell: OpenAI sends 429 both for "too fast" and for "no
money left", llama.cpp sends 400 both for nonsense and for a prompt that is too
long. The error object's ``code`` and ``type`` decide where they speak.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from evaluations.llm.client import ChatFailure, FailureKind
from evaluations.llm.scrub import scrub

_BY_CODE = {
    "insufficient_quota": FailureKind.QUOTA,
    "billing_hard_limit_reached": FailureKind.QUOTA,
    "insufficient_balance": FailureKind.QUOTA,
    "exceeded_current_quota_error": FailureKind.QUOTA,  # Moonshot, with 429
    "arrearage": FailureKind.QUOTA,  # DashScope, with 400
    "context_length_exceeded": FailureKind.CONTEXT_LENGTH,
    "exceed_context_size_error": FailureKind.CONTEXT_LENGTH,
    "invalid_api_key": FailureKind.AUTH,
    "authentication_error": FailureKind.AUTH,
}

_BY_STATUS = {
    401: FailureKind.AUTH,
    402: FailureKind.QUOTA,
    403: FailureKind.AUTH,
    404: FailureKind.NOT_FOUND,
    408: FailureKind.SERVER,
    429: FailureKind.RATE_LIMIT,
}

# vLLM, SGLang and older servers say it only in words.
_TOO_LONG = ("maximum context length", "context length", "context window", "context size")


def failure_of(
    status: int,
    headers: Mapping[str, str],
    body: str,
    *,
    now: datetime,
    secret: str | None = None,
) -> ChatFailure:
    """The failure that an answer with *status* (anything but 2xx) stands for.

    *headers* has lower-case names. *now* (aware) turns a Retry-After date into
    seconds. *secret* is the key that was sent, masked wherever it is echoed.
    """
    error = _error_object(body)
    message = error.get("message")
    text = message if isinstance(message, str) and message else body
    if 300 <= status < 400:
        text = "the endpoint answered with a redirect, which is never followed"
    return ChatFailure(
        _kind(status, error),
        scrub(text, secret),
        http_status=status,
        retry_after=retry_after(headers.get("retry-after"), now),
        request_id=headers.get("x-request-id", ""),
    )


def retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds to wait from a Retry-After header: seconds or an HTTP date.

    None where it is absent, negative, not finite or not readable; a date that
    has passed is 0.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        return _seconds_until(value, now)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _seconds_until(value: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _kind(status: int, error: Mapping[str, Any]) -> FailureKind:
    if 300 <= status < 400:
        return FailureKind.REDIRECT
    for name in ("code", "type"):
        said = error.get(name)
        if isinstance(said, str) and said.lower() in _BY_CODE:
            return _BY_CODE[said.lower()]
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return FailureKind.SERVER
    too_long = any(words in str(error.get("message", "")).lower() for words in _TOO_LONG)
    return FailureKind.CONTEXT_LENGTH if too_long else FailureKind.BAD_REQUEST


def _error_object(body: str) -> dict[str, Any]:
    """The ``error`` of the body, or the body itself, or a bare message; {} for anything else."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    found = parsed.get("error", parsed) if isinstance(parsed, dict) else {}
    if isinstance(found, str):
        return {"message": found}
    return found if isinstance(found, dict) else {}

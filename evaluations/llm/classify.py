"""Classify an HTTP error response as one kind of failure, with keys masked in its text.

The status alone is not enough: OpenAI sends 429 both for "too fast" and for "no money left",
llama.cpp sends 400 both for an invalid request and for a prompt that is too long. If the error
object has a known ``code`` or ``type``, it decides.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from evaluations.llm.client import ChatFailure, FailureKind
from gradeapp.common.masking import SecretMask, mask_keys
from gradeapp.common.strict_json import check_depth

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

# vLLM, SGLang and older servers send no code for this, only a message.
_TOO_LONG = ("maximum context length", "context length", "context window", "context size")

# What endpoints say to a message with images that their model cannot take: OpenAI and DeepSeek
# (a 400 about the type "image_url"), llama.cpp (500: "image input is not supported"), vLLM ("is
# not a multimodal model", "At most 0 image(s) may be provided"), OpenRouter (404: "No endpoints
# found that support image input"), Mistral and Groq (content "must be a string").
_NO_IMAGES = re.compile(
    r"image input|(?:un)?support\w* image|images? (?:is|are) not (?:supported|allowed|enabled)|"
    r"(?:does not|doesn't|do not|cannot|can't|not) (?:\w+ )?(?:support|accept|process|take|handle)"
    r"(?:ing)? (?:\w+ )?(?:images?|vision|multimodal)|not (?:a )?multimodal|at most 0 image|"
    r"image_url.{0,80}(?:unknown|unsupported|(?:not|only) (?:supported|allowed)|expected)|"
    r"(?:unknown|unsupported|expected|invalid (?:content )?type).{0,80}image_url|"
    r"(?:不支持|无法处理|不能处理)(?:图像|图片|视觉|多模态)",
    re.IGNORECASE | re.DOTALL,
)
_MAY_SAY_NO_IMAGES = frozenset({400, 404, 415, 422, 500, 501})

_HTML = re.compile(r"<(?:!doctype html|html|head|body|title|h1)\b")
LONGEST_TEXT = 2048
# Whoever asks to wait longer, in seconds, is asked again after a week. Later times do not fit
# everywhere, and nobody would see the end of the wait.
LONGEST_ASKED = 7 * 86_400.0
NO_MESSAGE = "the endpoint sent no error message in a known format"
# A body may be 20 MB: only its start is read. More is read than is kept, so that a key that this
# limit cuts in half is not kept.
_READ_AT_MOST = 4 * LONGEST_TEXT
NO_SECRET = SecretMask(None)


def failure_of(
    status: int,
    headers: Mapping[str, str],
    body: str,
    *,
    now: datetime,
    mask: SecretMask = NO_SECRET,
) -> ChatFailure:
    """Return the failure for a response with *status* (anything but 2xx).

    *headers* has lower-case names. *now* (aware) turns a Retry-After date into seconds. *mask*
    masks the key that was sent in the text. Of the body only the message of an error object
    becomes the text: the endpoint may be a service whose pages nobody here may read.
    """
    error = _error_object(body)
    message = error.get("message")
    text = message if isinstance(message, str) and message else _no_message(body)
    if 300 <= status < 400:
        text = "the endpoint answered with a redirect, which is never followed"
    return ChatFailure(
        _kind(status, error),
        scrub(text, mask),
        http_status=status,
        retry_after=retry_after(headers.get("retry-after"), now),
        request_id=scrub(headers.get("x-request-id", ""), mask),
    )


def _no_message(body: str) -> str:
    """Return what is said of a body without a message: nothing of what it shows."""
    found = what_it_is(body)
    return f"{NO_MESSAGE}: {found}" if found else NO_MESSAGE


def retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header (seconds or an HTTP date) asks to wait.

    At most ``LONGEST_ASKED``. None if it is absent, negative, not finite or not readable; 0 for a
    date in the past.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            time = parsedate_to_datetime(value)
        except (ValueError, OverflowError):  # a year of 20 digits
            return None
        time = time if time.tzinfo else time.replace(tzinfo=UTC)
        seconds = max(0.0, (time - now).total_seconds())
    return min(seconds, LONGEST_ASKED) if math.isfinite(seconds) and seconds >= 0 else None


def _kind(status: int, error: Mapping[str, Any]) -> FailureKind:
    if 300 <= status < 400:
        return FailureKind.REDIRECT
    for name in ("code", "type"):
        value = error.get(name)
        if isinstance(value, str) and value.lower() in _BY_CODE:
            return _BY_CODE[value.lower()]
    message = str(error.get("message", ""))[:_READ_AT_MOST]
    if status in _MAY_SAY_NO_IMAGES and _NO_IMAGES.search(message):
        return FailureKind.NO_IMAGES
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return FailureKind.SERVER
    too_long = any(words in message.lower() for words in _TOO_LONG)
    return FailureKind.CONTEXT_LENGTH if too_long else FailureKind.BAD_REQUEST


def what_it_is(body: str) -> str:
    """Return what *body* is, which is no reply: empty, or a page of HTML; "" for anything else."""
    start = body[:_READ_AT_MOST].lstrip("\ufeff \t\r\n").lower()
    if not start:
        return "it is empty"
    return "it is a page of HTML" if _HTML.match(start) else ""


def _error_object(body: str) -> dict[str, Any]:
    """Return the error object of the body: ``error``, or the body with its ``message`` and a type.

    A bare string is a message. {} for any other text.
    """
    try:
        check_depth(body, "text")
        parsed = json.loads(body)
    except ValueError:
        return {}
    if not isinstance(parsed, dict):
        return {}
    error = parsed.get("error")
    if isinstance(error, str):
        return {"message": error}
    if isinstance(error, dict):
        return error
    return parsed if {"code", "type", "object"} & parsed.keys() else {}


def scrub(text: str, mask: SecretMask = NO_SECRET) -> str:
    """Return *text* with keys masked and NUL removed, at most 2 kB of UTF-8.

    Providers repeat parts of the key in the body of a 401, and proxies repeat the whole request.
    Masks ``sk-...``, ``Bearer ...``, ``Basic ...``, ``api_key=...``, the user part of a URL, and
    what *mask* masks.
    """
    # The mask comes first: a key at the end of what is read must not leave its beginning.
    text = mask.text(text)[:_READ_AT_MOST].replace("\x00", "")
    return mask_keys(text).encode("utf-8", "replace")[:LONGEST_TEXT].decode("utf-8", "ignore")

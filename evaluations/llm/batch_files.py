"""The lines of OpenAI's batch files: a request each, and a reply each.

https://platform.openai.com/docs/guides/batch: JSON Lines with ``custom_id``, ``method``, ``url``
and ``body``; the file of replies has ``custom_id`` with ``response`` (``status_code``,
``request_id``, ``body``) or ``error`` (``code``, ``message``). Replies come in any order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Final

from evaluations.llm.classify import NO_SECRET, failure_of
from evaluations.llm.client import KEPT_BODY, ChatFailure, ChatReply, FailureKind
from evaluations.llm.replies import read_reply
from gradeapp.common.masking import SecretMask, mask_keys
from gradeapp.common.strict_json import check_depth, holds_more

MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000
ADDRESS: Final = "/v1/chat/completions"
# One reply; a longer line is refused as a reply of that size is.
MOST_LINE = 20_000_000
# Each takes up to 100 bytes of memory. A reply with probabilities of tokens has some 100,000.
MOST_VALUES = 500_000
# The endpoint did not begin these: they were not billed.
NOT_BEGUN = frozenset({"batch_expired", "batch_cancelled"})


@dataclass(frozen=True)
class BatchLine:
    """The reply to one request, or why there is none; *is_answer*: readable or not, it came."""

    custom_id: str
    result: ChatReply | ChatFailure
    is_answer: bool = False


@dataclass(frozen=True)
class BadLine:
    """A line that cannot be read: its *number* (from 1) and one sentence."""

    number: int
    text: str


def request_line(
    custom_id: str, model: str, messages: Sequence[Mapping[str, Any]], params: Mapping[str, Any]
) -> bytes:
    """Return the line of one request, with its line break."""
    body = {**params, "model": model, "messages": list(messages)}
    line = {"custom_id": custom_id, "method": "POST", "url": ADDRESS, "body": body}
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def read_lines(
    lines: Iterable[bytes], now: datetime, mask: SecretMask = NO_SECRET, most: int = MOST_LINE
) -> Iterator[BatchLine | BadLine]:
    """Yield what each line says, with our key masked by *mask*; blank lines are passed over.

    A reply of more than *most* bytes is one that is too large, as with live calls.
    """
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        if len(line) > MOST_LINE:
            yield BadLine(number, "The line is longer than 20 MB.")
            continue
        try:
            yield _read(mask.raw(line), now, mask, most)
        except (ValueError, KeyError, TypeError):
            yield BadLine(number, "The line is not a reply of a batch file.")


def _read(line: bytes, now: datetime, mask: SecretMask, most: int) -> BatchLine:
    """Raise ValueError, KeyError or TypeError if *line* is not a reply."""
    text = line.decode("utf-8")
    check_depth(text, "line")
    if holds_more(text, MOST_VALUES):
        raise ValueError("the line holds too many values")
    said = json.loads(text)
    custom_id = said["custom_id"]
    if not isinstance(custom_id, str):
        raise TypeError("a custom_id is a text")
    if said.get("error"):
        return BatchLine(custom_id, _failure(said["error"], mask))
    answer = said["response"]
    status, request_id = int(str(answer["status_code"])), str(answer.get("request_id") or "")
    if not 100 <= status <= 599:
        raise ValueError("no status of HTTP")
    body = json.dumps(answer["body"], ensure_ascii=False)
    if status != 200:
        return BatchLine(custom_id, failure_of(status, {}, body, now=now, mask=mask))
    return BatchLine(custom_id, _reply(body, request_id, mask, most), is_answer=True)


def _reply(body: str, request_id: str, mask: SecretMask, most: int) -> ChatReply | ChatFailure:
    """Return what the *body* of an answer says; it was paid for, whatever that is."""
    content = body.encode("utf-8", "replace")
    if len(content) > most:
        why = f"the answer is larger than {most:,} bytes"
        failure = ChatFailure(FailureKind.OVERSIZE, why, http_status=200, may_have_been_billed=True)
        failure.body = mask.text(body[:KEPT_BODY])
        return failure
    try:
        return read_reply(content, request_id, mask)
    except ChatFailure as failure:
        return failure


def _failure(error: object, mask: SecretMask) -> ChatFailure:
    if isinstance(error, str):
        error = {"code": "error", "message": error}
    if not isinstance(error, dict):
        raise TypeError("an error is an object or a text")
    code, text = (str(error.get(name) or "") for name in ("code", "message"))
    text = mask_keys(mask.text(text)[:8000])
    if code in NOT_BEGUN:
        return not_begun(text or code)
    return ChatFailure(FailureKind.SERVER, f"{code}: {text}"[:2000], may_have_been_billed=False)


def not_begun(why: str) -> ChatFailure:
    """Return the failure of a request that the endpoint did not begin, so that it cost nothing."""
    return ChatFailure(FailureKind.CANCELLED, why[:2000], may_have_been_billed=False)


def lost(why: str) -> ChatFailure:
    """Return the failure of a request of which nobody knows whether it was answered and billed."""
    return ChatFailure(FailureKind.INTERRUPTED, why[:2000], may_have_been_billed=True)


def bounded_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of *file*; what is longer than ``MOST_LINE`` comes in pieces."""
    while line := file.readline(MOST_LINE + 1):
        yield line

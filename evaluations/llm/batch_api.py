"""The batch API of an endpoint: upload a file, create a batch, look at it, fetch its replies.

https://platform.openai.com/docs/api-reference/batch, by the OpenAI client on the same checked
transport as calls. What comes is read here: the client checks no types. Each method makes one call,
or one for each page of a list, and raises ``ChatFailure``. They are synchronous: every call opens a
client and closes it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import httpx2

from evaluations.llm.batch_files import ADDRESS, MOST_REQUESTS
from evaluations.llm.classify import scrub, what_it_is
from evaluations.llm.client import ChatFailure, FailureKind, Limits
from evaluations.llm.replies import kept_part
from gradeapp.common.masking import SecretMask
from gradeapp.common.strict_json import check_depth

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from evaluations.llm.openai_client import OpenAIChat

OURS = "gradeapp_batch"
# Times of one call, in seconds: what a worker may lose to an endpoint that says nothing, or a byte
# now and then. A call that carries a file may take longer by the length of the file, within LARGE.
SMALL = Limits(read=60.0, deadline=60.0)
LARGE = Limits(read=120.0, deadline=540.0)
# A file of 200 MB is sent at 0.4 MB/s.
SENT_A_SECOND = 400_000
# A reply of 40 kB is fetched at 0.4 MB/s; 50,000 of them at 4 MB/s.
FETCHED_A_SECOND = 10
MOST_FETCHED = 2_000_000_000
PAGE, MOST_PAGES = 100, 100
# No page of a list is asked for after so many seconds.
LISTED_IN = 120.0
# A batch that was created so many seconds before ours, by the endpoint's clock, is not ours.
CLOCKS_DIFFER = 86_400
MOST_SECONDS = 10**12
# An id becomes a part of an address.
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,119}")
COMPLETED, FAILED = "completed", "failed"
OVER = frozenset({COMPLETED, FAILED, "expired", "cancelled"})
CANCELLING = "cancelling"

T = TypeVar("T")
Open = Callable[[Limits], "OpenAIChat"]


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch as the endpoint shows it; a file is "" if there is none, a count None."""

    id: str
    state: str
    input_file: str = ""
    output_file: str = ""
    error_file: str = ""
    ours: str = ""
    created_at: float = 0.0
    answered: int | None = None
    failed: int | None = None
    text: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens to it."""
        return self.state in OVER

    def has_no_files_yet(self, requests: int) -> bool:
        """Whether it is said to be completed before its *requests* are counted or in a file."""
        if self.state != COMPLETED or self.output_file or self.error_file:
            return False
        return (self.answered or 0) + (self.failed or 0) < requests


class BatchAPI:
    """The batch API behind the clients that *opened* returns for the limits it is given."""

    def __init__(self, opened: Open) -> None:
        self._open = opened

    def upload(self, file: BinaryIO, name: str) -> str:
        """Upload *file*, which is read from its present place, and return the endpoint's id."""
        size = os.fstat(file.fileno()).st_size

        async def made(chat: OpenAIChat, client: AsyncOpenAI) -> str:
            sent = await client.post(
                "/files",
                cast_to=httpx2.Response,
                body={"purpose": "batch"},
                files=[("file", (name, file))],
                options={"headers": {"Content-Type": "multipart/form-data"}},
            )
            return _understood(sent, chat.mask, lambda said: _id(said.get("id")))

        return self._call(_longer(size / SENT_A_SECOND), made)

    def create(self, input_file: str, ours: str) -> RemoteBatch:
        """Create a batch of an uploaded file; *ours* is the name by which ``find`` finds it."""

        async def made(chat: OpenAIChat, client: AsyncOpenAI) -> RemoteBatch:
            wanted = {"input_file_id": input_file, "endpoint": ADDRESS, "completion_window": "24h"}
            body = {**wanted, "metadata": {OURS: ours}}
            created = await client.post("/batches", cast_to=httpx2.Response, body=body)
            return _understood(created, chat.mask, lambda said: _read(said, chat.mask))

        return self._call(SMALL, made)

    def find(self, ours: str, input_file: str, since: float) -> RemoteBatch | None:
        """Return the batch that was created as *ours* or of *input_file*; None if there is none.

        The lists of endpoints begin with the newest: those from long before *since* (seconds since
        1970) are not read.
        """

        def matches(one: RemoteBatch) -> bool:
            return one.ours == ours or (bool(input_file) and one.input_file == input_file)

        async def found(chat: OpenAIChat, client: AsyncOpenAI) -> RemoteBatch | None:
            after: dict[str, Any] = {}
            seen: set[str] = set()
            began = time.monotonic()
            for _page in range(MOST_PAGES):
                if time.monotonic() - began > LISTED_IN:
                    raise ChatFailure(FailureKind.TIMEOUT, "the list of batches takes too long")
                page = await client.get(
                    "/batches",
                    cast_to=httpx2.Response,
                    options={"params": {"limit": PAGE, **after}},
                )
                batches, more = _understood(
                    page, chat.mask, lambda said: _read_page(said, chat.mask)
                )
                ours_here = [one for one in batches if matches(one)]
                if ours_here:
                    return min(ours_here, key=lambda one: one.created_at)
                new = {one.id for one in batches} - seen
                old = bool(batches) and batches[-1].created_at < since - CLOCKS_DIFFER
                if not new or not more or old:
                    return None
                seen |= new
                after = {"after": batches[-1].id}
            raise ChatFailure(FailureKind.MALFORMED, "the list of batches has no end")

        return self._call(SMALL, found)

    def state(self, remote_id: str) -> RemoteBatch:
        """Return the batch as it is now."""

        async def read(chat: OpenAIChat, client: AsyncOpenAI) -> RemoteBatch:
            batch = await client.get(f"/batches/{_id(remote_id)}", cast_to=httpx2.Response)
            return _understood(batch, chat.mask, lambda said: _read(said, chat.mask))

        return self._call(SMALL, read)

    def cancel(self, remote_id: str) -> RemoteBatch:
        """Ask the endpoint to end the batch; what is answered by then has to be fetched."""

        async def cancelled(chat: OpenAIChat, client: AsyncOpenAI) -> RemoteBatch:
            address = f"/batches/{_id(remote_id)}/cancel"
            batch = await client.post(address, cast_to=httpx2.Response)
            return _understood(batch, chat.mask, lambda said: _read(said, chat.mask))

        return self._call(SMALL, cancelled)

    def fetch(self, file_id: str, into: BinaryIO, replies: int) -> SecretMask:
        """Write a file of some *replies* *into* a file; return what masks our key in it."""
        limits = replace(_longer(replies / FETCHED_A_SECOND), reply_bytes=MOST_FETCHED)

        async def fetch() -> SecretMask:
            async with self._open(limits) as chat, chat.call() as client:
                content = client.files.with_streaming_response.content(file_id)
                async with content as response:
                    async for chunk in response.iter_bytes(65536):
                        into.write(chunk)
            return chat.mask

        return asyncio.run(fetch())

    def _call(self, limits: Limits, make: Callable[[OpenAIChat, AsyncOpenAI], Awaitable[T]]) -> T:
        async def call() -> T:
            async with self._open(limits) as chat, chat.call() as client:
                return await make(chat, client)

        return asyncio.run(call())


def _longer(seconds: float) -> Limits:
    """Return the limits of a call that carries a file, which takes so many *seconds*."""
    return Limits(
        read=min(SMALL.read + seconds, LARGE.read),
        deadline=min(SMALL.deadline + seconds, LARGE.deadline),
    )


def _understood(
    answer: httpx2.Response, mask: SecretMask, read: Callable[[Mapping[str, Any]], T]
) -> T:
    """Return what *read* makes of the JSON object that came, with our key masked in it.

    Raises ``ChatFailure`` (malformed).
    """
    try:
        text = mask.raw(answer.content).decode("utf-8")
        check_depth(text, "body")
        return read(_object(json.loads(text)))
    except ValueError:
        found = what_it_is(kept_part(answer.content)) or "it is not in its format"
        text = f"not the reply of a batch API: {found}"
        raise ChatFailure(FailureKind.MALFORMED, text, http_status=200) from None


def _object(given: Any) -> Mapping[str, Any]:
    """Raise ValueError if *given* is not an object of JSON."""
    if not isinstance(given, dict):
        raise ValueError("not an object")
    return given


def _id(given: Any) -> str:
    """Raise ValueError if *given* is not an id."""
    if not isinstance(given, str) or not ID.fullmatch(given):
        raise ValueError("not an id")
    return given


def _read_page(page: Mapping[str, Any], mask: SecretMask) -> tuple[list[RemoteBatch], bool]:
    """Return the batches of a page of the list, and whether there are more pages."""
    rows = page.get("data")
    if not isinstance(rows, list):
        raise ValueError("no list of batches")
    return [_read(_object(one), mask) for one in rows], bool(page.get("has_more"))


def _read(batch: Mapping[str, Any], mask: SecretMask) -> RemoteBatch:
    """Return what an endpoint says of a batch, keys masked. Raises ValueError if it is none."""
    state = batch.get("status")
    if not isinstance(state, str) or not state:
        raise ValueError("a batch has a state")
    metadata, created = batch.get("metadata"), batch.get("created_at")
    if not isinstance(created, int | float) or not 0 <= created < MOST_SECONDS:
        created = 0
    output, errors = batch.get("output_file_id"), batch.get("error_file_id")
    counts = batch.get("request_counts")
    answered, failed = (
        counts.get(name) if isinstance(counts, dict) else None for name in ("completed", "failed")
    )
    return RemoteBatch(
        id=_id(batch.get("id")),
        state=scrub(state, mask)[:40],
        input_file=str(batch.get("input_file_id") or ""),
        output_file=_id(output) if output else "",
        error_file=_id(errors) if errors else "",
        ours=str(metadata.get(OURS) or "") if isinstance(metadata, dict) else "",
        created_at=float(created),
        answered=answered if answered in range(MOST_REQUESTS + 1) else None,
        failed=failed if failed in range(MOST_REQUESTS + 1) else None,
        text=scrub(_errors(batch.get("errors")), mask)[:400],
    )


def _errors(said: Any) -> str:
    """Return the messages of a batch that was not taken; "" if there are none."""
    rows = said.get("data") if isinstance(said, dict) else None
    found = [one for one in rows if isinstance(one, dict)] if isinstance(rows, list) else []
    return "; ".join(str(one.get("message") or one.get("code")) for one in found)

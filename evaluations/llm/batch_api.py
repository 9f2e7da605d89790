"""The batch API of an endpoint: upload a file, create a batch, look at it, fetch its replies.

https://platform.openai.com/docs/api-reference/batch, by the ``files`` and ``batches`` of the OpenAI
client, on the same checked transport as calls. Each method makes one call, or one for each page of
a list, and raises ``ChatFailure``. They are synchronous: every call opens a client and closes it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from evaluations.llm.batch_files import ADDRESS, MOST_REQUESTS
from evaluations.llm.client import ChatFailure, FailureKind, Limits

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from evaluations.llm.openai_client import OpenAIChat

logger = logging.getLogger(__name__)

OURS = "gradeapp_batch"
# Times of one call, in seconds. A file of 200 MB is sent within the deadline at 0.4 MB/s.
SMALL = Limits(read=60.0, deadline=60.0)
UPLOAD = Limits(read=120.0, deadline=540.0)
# 50,000 replies of 40 kB.
FETCH = Limits(read=120.0, deadline=540.0, reply_bytes=2_000_000_000)
PAGE, MOST_PAGES = 100, 100
# A batch that was created so many seconds before ours, by the endpoint's clock, is not ours.
CLOCKS_DIFFER = 86_400
# An id becomes a part of an address.
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,119}")
COMPLETED, FAILED = "completed", "failed"
OVER = frozenset({COMPLETED, FAILED, "expired", "cancelled"})
CANCELLING = "cancelling"

T = TypeVar("T")
Open = Callable[[Limits], "OpenAIChat"]


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch as the endpoint shows it; a file is "" if there is none."""

    id: str
    state: str
    input_file: str = ""
    output_file: str = ""
    error_file: str = ""
    ours: str = ""
    created_at: float = 0.0
    answered: int | None = None
    text: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens to it."""
        return self.state in OVER


class BatchAPI:
    """The batch API behind the clients that *opened* returns for the limits it is given."""

    def __init__(self, opened: Open) -> None:
        self._open = opened

    def upload(self, file: BinaryIO, name: str) -> str:
        """Upload *file*, and return the endpoint's id of it."""

        async def made(client: AsyncOpenAI) -> str:
            sent = await client.files.create(file=(name, file), purpose="batch")
            return _id(sent.id)

        return self._call(UPLOAD, made)

    def create(self, input_file: str, ours: str) -> RemoteBatch:
        """Create a batch of an uploaded file; *ours* is the name by which ``find`` finds it."""

        async def made(client: AsyncOpenAI) -> RemoteBatch:
            return _read(
                await client.batches.create(
                    input_file_id=input_file,
                    endpoint=ADDRESS,
                    completion_window="24h",
                    metadata={OURS: ours},
                )
            )

        return self._call(SMALL, made)

    def find(self, ours: str, input_file: str, since: float) -> RemoteBatch | None:
        """Return the batch that was created as *ours* or of *input_file*; None if there is none.

        The lists of endpoints begin with the newest: those from long before *since* (seconds since
        1970) are not read.
        """

        def matches(one: RemoteBatch) -> bool:
            return one.ours == ours or (bool(input_file) and one.input_file == input_file)

        async def found(client: AsyncOpenAI) -> RemoteBatch | None:
            after: dict[str, Any] = {}
            seen: set[str] = set()
            for _page in range(MOST_PAGES):
                page = await client.batches.list(limit=PAGE, **after)
                batches = [_read(one) for one in page.data]
                ours_here = [one for one in batches if matches(one)]
                if ours_here:
                    return min(ours_here, key=lambda one: one.created_at)
                new = {one.id for one in batches} - seen
                old = bool(batches) and batches[-1].created_at < since - CLOCKS_DIFFER
                if not new or not page.has_more or old:
                    return None
                seen |= new
                after = {"after": batches[-1].id}
            raise ChatFailure(FailureKind.MALFORMED, "the list of batches has no end")

        return self._call(SMALL, found)

    def state(self, remote_id: str) -> RemoteBatch:
        """Return the batch as it is now."""

        async def read(client: AsyncOpenAI) -> RemoteBatch:
            return _read(await client.batches.retrieve(remote_id))

        return self._call(SMALL, read)

    def cancel(self, remote_id: str) -> RemoteBatch:
        """Ask the endpoint to end the batch; what is answered by then has to be fetched."""

        async def cancelled(client: AsyncOpenAI) -> RemoteBatch:
            return _read(await client.batches.cancel(remote_id))

        return self._call(SMALL, cancelled)

    def fetch(self, file_id: str, into: BinaryIO) -> Callable[[bytes], bytes]:
        """Write a file of replies *into* a file; return what masks our key in a line of it."""
        masked: list[Callable[[bytes], bytes]] = []

        async def fetch() -> None:
            async with self._open(FETCH) as chat, chat.call() as client:
                masked.append(chat.masked)
                content = client.files.with_streaming_response.content(file_id)
                async with content as response:
                    async for chunk in response.iter_bytes(65536):
                        into.write(chunk)

        asyncio.run(fetch())
        return masked[0]

    def _call(self, limits: Limits, make: Callable[[AsyncOpenAI], Awaitable[T]]) -> T:
        async def call() -> T:
            async with self._open(limits) as chat, chat.call() as client:
                try:
                    return await make(client)
                except (ValueError, TypeError, AttributeError) as error:
                    logger.info("a batch API was not understood", exc_info=True)
                    text = f"not the reply of a batch API: {type(error).__name__}"
                    raise ChatFailure(FailureKind.MALFORMED, text) from None

        return asyncio.run(call())


def _id(given: Any) -> str:
    """Raise ValueError if *given* is not an id."""
    if not isinstance(given, str) or not ID.fullmatch(given):
        raise ValueError("not an id")
    return given


def _read(batch: Any) -> RemoteBatch:
    """Raise ValueError, TypeError or AttributeError if the client did not read a batch.

    The client checks no types of what an endpoint sends.
    """
    if not isinstance(batch.status, str) or not batch.status:
        raise TypeError("a batch has a state")
    counts, metadata = batch.request_counts, batch.metadata
    answered = getattr(counts, "completed", None)
    said = [str(one.message or one.code) for one in (batch.errors and batch.errors.data) or ()]
    created = batch.created_at
    return RemoteBatch(
        id=_id(batch.id),
        state=batch.status[:40],
        input_file=str(batch.input_file_id or ""),
        output_file=_id(batch.output_file_id) if batch.output_file_id else "",
        error_file=_id(batch.error_file_id) if batch.error_file_id else "",
        ours=str(metadata.get(OURS) or "") if isinstance(metadata, dict) else "",
        created_at=float(created) if isinstance(created, int | float) else 0.0,
        answered=answered if answered in range(MOST_REQUESTS + 1) else None,
        text="; ".join(said)[:400],
    )

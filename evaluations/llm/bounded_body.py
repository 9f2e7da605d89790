"""Limit the size of a response body, counted after decompression.

The OpenAI client reads every body into memory, error bodies too, and ten megabytes of gzip may hold
ten gigabytes. So the body is decompressed here in pieces, and reading stops at the limit.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator

import httpx2

from evaluations.llm.client import KEPT_BODY, ChatFailure, FailureKind

_PIECE = 65536
_WINDOW_BITS = {"gzip": 31, "deflate": 15}


class BoundedBody(httpx2.AsyncByteStream):
    """The decompressed bytes of *source*.

    Raises ``ChatFailure`` (oversize, with the beginning) beyond *limit* bytes.
    """

    def __init__(
        self, source: httpx2.AsyncByteStream, encoding: str, limit: int, status: int
    ) -> None:
        self._source = source
        self._limit = limit
        self._left = limit
        self._status = status
        self._beginning = b""
        bits = _WINDOW_BITS.get(encoding)
        self._inflate = zlib.decompressobj(bits) if bits else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._source:
            for piece in self._unpacked(chunk):
                self._left -= len(piece)
                if len(self._beginning) < KEPT_BODY:
                    self._beginning += piece[: KEPT_BODY - len(self._beginning)]
                if self._left < 0:
                    text = f"the answer is larger than {self._limit:,} bytes"
                    raise self._unusable(FailureKind.OVERSIZE, text)
                yield piece

    async def aclose(self) -> None:
        """Release the connection."""
        await self._source.aclose()

    def _unpacked(self, chunk: bytes) -> Iterator[bytes]:
        if self._inflate is None:
            yield chunk
            return
        while chunk:
            try:
                yield self._inflate.decompress(chunk, _PIECE)
            except zlib.error:
                text = "the compressed body is broken"
                raise self._unusable(FailureKind.MALFORMED, text) from None
            chunk = self._inflate.unconsumed_tail

    def _unusable(self, kind: FailureKind, text: str) -> ChatFailure:
        """Return the failure, with the beginning of an answer that was paid for."""
        failure = _unusable(kind, text, self._status)
        if failure.may_have_been_billed:
            failure.body = self._beginning.decode("utf-8", "replace")
        return failure


def bound(response: httpx2.Response, limit: int) -> None:
    """Limit the body of *response*, which was not read yet, to *limit* bytes of UTF-8.

    No other charset is believed: some raise errors, and decoding some takes hours. Requests ask for
    no compression. gzip and deflate are decompressed anyway; raises
    ``ChatFailure`` (malformed) for any other encoding.
    """
    response.encoding = "utf-8"
    encoding = response.headers.pop("content-encoding", "").strip().lower()
    if encoding not in {"", "identity", *_WINDOW_BITS}:
        text = f"the answer came in an encoding that was not asked for: {encoding[:40]}"
        raise _unusable(FailureKind.MALFORMED, text, response.status_code)
    assert isinstance(response.stream, httpx2.AsyncByteStream)  # it was not read yet
    response.stream = BoundedBody(response.stream, encoding, limit, response.status_code)


def _unusable(kind: FailureKind, text: str, status: int) -> ChatFailure:
    billed = 200 <= status < 300
    return ChatFailure(kind, text, http_status=status, may_have_been_billed=billed)

"""Where a request ends and what an answer may carry, as RFC 9112 has it.

waitress leaves the body of an answer to HEAD to the application, which sends it, and reads
requests whose end a proxy may see elsewhere. Either would put a connection out of step: part of one
message would be taken for the next. A request whose end is in doubt is refused and its connection
closed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError, get_header_lines
from waitress.receiver import ChunkedReceiver
from waitress.task import WSGITask
from waitress.utilities import BadRequest

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
VERSIONS = ("1.0", "1.1")
# A request has so many seconds to arrive, and one more for each so many bytes that have come.
# Whoever is sent a long answer has as long to take it while a thread waits for that, but never more
# than MOST_SECONDS from now: what the buffers of two machines take at once is not yet read.
WHOLE_SECONDS = 60
MOST_SECONDS = 120
BYTES_A_SECOND = 16 * 1024
# The most bytes of the line before a chunk, and of the fields after the last one.
LONGEST_CHUNK_LINE = 1024
LONGEST_TRAILER = 8 * 1024


def bodiless_heads(application: Application) -> Application:
    """*application*, whose answers to HEAD have the headers of GET and no body (RFC 9110)."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        body = application(environ, start_response)
        if environ["REQUEST_METHOD"] != "HEAD":
            return body
        close = getattr(body, "close", None)
        if close is not None:
            close()
        return []

    return answer


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Reads one request."""

    def received(self, data: bytes) -> int:
        """Read *data*; refuse a body whose chunk line or trailer does not end.

        waitress keeps such a line, and searches all of it with each piece that comes.
        """
        taken: int = super().received(data)
        body = self.body_rcv
        if self.completed or not isinstance(body, ChunkedReceiver):
            return taken
        if len(body.control_line) > LONGEST_CHUNK_LINE or len(body.trailer) > LONGEST_TRAILER:
            self.error = BadRequest("A chunk line or the trailer is too long")
            self.completed = True
        return taken

    def parse_header(self, header_plus: bytes) -> None:
        """Read the first line and the headers.

        Raises ParsingError where the length of the body is in doubt (RFC 9112, 6.1 and 6.3).
        """
        super().parse_header(header_plus)
        if self.version not in VERSIONS:
            raise ParsingError("The version of HTTP is not supported")
        fields = [line.partition(b":") for line in get_header_lines(header_plus)[1:]]
        codings = [value for name, _, value in fields if name.lower() == b"transfer-encoding"]
        if not codings:
            return
        if self.version == "1.0" or "CONTENT_LENGTH" in self.headers:
            raise ParsingError("The length of the body is ambiguous")
        if len(codings) > 1 or codings[0].strip(b" \t").lower() != b"chunked":
            raise ParsingError("The transfer coding is not supported")


class Task(WSGITask):  # type: ignore[misc]
    """Writes one answer."""

    def write(self, data: bytes) -> None:
        """Write the headers and *data*; to HEAD no end of a body either."""
        super().write(data)
        if self.request.command == "HEAD":
            self.chunked_response = False


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection."""

    parser_class = Parser
    task_class = Task
    # When the request that is being read began, in seconds, and how much of it has come
    began = 0.0
    came = 0
    # Until when a thread waits for the reader, in seconds of the monotonic clock
    waits_until: float | None = None

    def received(self, data: bytes) -> bool:
        """Read *data*; close the connection if its request comes too slowly.

        One that is silent is closed by the server; this is for a byte now and then.
        """
        before = self.request
        taken: bool = super().received(data)
        if self.request is None or self.request is not before:
            self.began, self.came = time.monotonic(), len(data)
            return taken
        self.came += len(data)
        if time.monotonic() - self.began > WHOLE_SECONDS + self.came / BYTES_A_SECOND:
            self.will_close = True
        return taken

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Send *data*, or as much as the reader takes now; return how many bytes those are."""
        sent: int = super().send(data, do_close)
        until = self.waits_until
        if until is not None:
            self.waits_until = min(until + sent / BYTES_A_SECOND, time.monotonic() + MOST_SECONDS)
        return sent

    def readable(self) -> bool:
        """Whether more is to be read. The server asks all the time, also while an answer is sent.

        So this also closes the connection of a reader who takes nothing, or too slowly: waitress
        would have the thread that makes the answer wait for good.
        """
        if self._is_read_too_slowly():
            self.handle_close()
            return False
        return bool(super().readable())

    def _is_read_too_slowly(self) -> bool:
        if not self.requests or self.total_outbufs_len < self.adj.outbuf_high_watermark // 2:
            self.waits_until = None
            return False
        now = time.monotonic()
        if self.waits_until is None:
            self.waits_until = now + WHOLE_SECONDS
        return now > self.waits_until

    def send_continue(self) -> None:
        """Ask for the body, unless the request is refused already."""
        if self.request.error is None:
            super().send_continue()

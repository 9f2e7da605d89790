"""A web process makes few long files at once, so that its other threads answer pages.

A file that is streamed is made as long as its reader takes, and each may ask for several. So may a
script for reports, some of which take seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from weakref import finalize

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.translation import gettext as _

from gradeapp.common.refusals import Busy

# Of the four threads of a process (gradeapp/gunicorn_config.py); others wait so many seconds.
PLACES = BoundedSemaphore(2)
WAIT = 1.0


@contextmanager
def place_for_a_file() -> Iterator[None]:
    """Hold one of the places for files while one is made. Raises Busy if none becomes free."""
    _take()
    try:
        yield
    finally:
        PLACES.release()


class LongFile(Iterator[bytes]):
    """The parts of a file that is streamed; holds one of the places until it is closed.

    Takes the place, and then has *make* return the parts. Raises Busy if no place becomes free, and
    what *make* raises. Django closes what it streams, whether it was sent or not.
    """

    def __init__(self, make: Callable[[], Iterable[bytes]]) -> None:
        _take()
        self._release = finalize(self, PLACES.release)  # once, also if nobody closes it
        try:
            self._parts = iter(make())
        except BaseException:
            self._release()
            raise

    def __next__(self) -> bytes:
        return next(self._parts)

    def close(self) -> None:
        """End the parts, and give back the place."""
        try:
            close = getattr(self._parts, "close", None)
            if close is not None:
                close()
        finally:
            self._release()


def file_answer(
    request: HttpRequest, make: Callable[[], Iterable[bytes]], *, media_type: str, name: str
) -> HttpResponse | StreamingHttpResponse:
    """Return a download called *name*, sent while it is made; nothing is made for HEAD.

    Raises as ``LongFile`` does.
    """
    headers = headers_of(name, media_type)
    if request.method == "HEAD":
        return headers
    return StreamingHttpResponse(LongFile(make), headers=headers.headers)


def headers_of(name: str, media_type: str) -> HttpResponse:
    """The headers of a download called *name*, without its content."""
    return HttpResponse(
        content_type=media_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _take() -> None:
    if not PLACES.acquire(timeout=WAIT):
        raise Busy(_("Several large files or reports are being made. Try again in a minute."))

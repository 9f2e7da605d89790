"""Remembers what takes long to make for each reader by itself.

What one process remembers for all would tell a teacher something about others: a page comes sooner
where somebody else, such as the partner, has opened the same response or question before.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

Given = ParamSpec("Given")
Made_co = TypeVar("Made_co", covariant=True)
_request: ContextVar[Any] = ContextVar("request", default=None)


class Remembered(Protocol, Generic[Given, Made_co]):
    """A function whose results are kept; ``cache_clear`` forgets them."""

    def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Made_co: ...
    def cache_clear(self) -> None:
        """Forget all results."""


def remembered(
    maxsize: int,
) -> Callable[[Callable[Given, Made_co]], Remembered[Given, Made_co]]:
    """Keep up to *maxsize* results of a function of hashable values, each for one reader.

    The reader is the person whose request is being answered; None outside of requests.
    """

    def decorate(function: Callable[Given, Made_co]) -> Remembered[Given, Made_co]:
        @lru_cache(maxsize=maxsize)
        def kept(_reader: object, *args: Given.args, **kwargs: Given.kwargs) -> Made_co:
            return function(*args, **kwargs)

        @wraps(function)
        def answer(*args: Given.args, **kwargs: Given.kwargs) -> Made_co:
            return kept(_reader(), *args, **kwargs)  # type: ignore[arg-type]

        answer.cache_clear = kept.cache_clear  # type: ignore[attr-defined]
        return answer  # type: ignore[return-value]

    return decorate


def reader_middleware(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let ``remembered`` know whose request is answered. It stands behind the authentication."""

    def answer(request: Any) -> Any:
        before = _request.set(request)
        try:
            return get_response(request)
        finally:
            _request.reset(before)

    return answer


def _reader() -> object:
    user = getattr(_request.get(), "user", None)  # the API sets it when it has read the token
    return None if user is None else user.pk

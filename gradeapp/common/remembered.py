"""Remembers what takes long to make for each reader by itself.

What one process remembers for all would tell a teacher something about others: a page comes sooner
where somebody else, such as the partner, has opened the same response or question before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Generic, ParamSpec, Protocol, TypeVar

from gradeapp.common.current_request import current_request

Given = ParamSpec("Given")
Made_co = TypeVar("Made_co", covariant=True)


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


def _reader() -> object:
    user = getattr(current_request(), "user", None)  # the API sets it when it has read the token
    return None if user is None else user.pk

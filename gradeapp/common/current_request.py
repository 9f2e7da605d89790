"""The request that is being answered, for what is done far from its view."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

_current: ContextVar[Any] = ContextVar("current_request", default=None)


def current_request() -> Any:
    """Return the request that is being answered; None outside of requests."""
    return _current.get()


def current_request_middleware(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let ``current_request`` know the request. It stands behind the authentication."""

    def answer(request: Any) -> Any:
        before = _current.set(request)
        try:
            return get_response(request)
        finally:
            _current.reset(before)

    return answer

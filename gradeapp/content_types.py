"""What a request may say of its own encoding: UTF-8, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.utils.http import parse_header_parameters

UTF_8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
REFUSED = b"Send text in UTF-8.\n"
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def utf_8_alone(application: Application) -> Application:
    """Answer 400 to a request in another charset, before *application* (WSGI) reads of it.

    Django decodes fields and addresses by the charset that a request names, of anybody: some of
    Python's take minutes for a megabyte, and some raise errors that are no UnicodeDecodeError.
    """

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if is_utf_8(environ.get("CONTENT_TYPE", "")):
            return application(environ, start_response)
        length = str(len(REFUSED))
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", length)]
        start_response("400 Bad Request", headers)
        return [REFUSED]

    return answer


def is_utf_8(content_type: str) -> bool:
    """Return whether *content_type* names no charset, or UTF-8 or a part of it.

    Parameters with a charset of their own (RFC 2231, ``name*=``) are not taken.
    """
    kind, _semicolon, parameters = content_type.partition(";")
    if "*" in parameters:
        return False
    _kind, given = parse_header_parameters(f"{kind};{parameters}")
    return given.get("charset", "utf-8").lower() in UTF_8

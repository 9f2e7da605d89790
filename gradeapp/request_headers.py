"""What a request may say in its headers, looked at before Django reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.utils.http import parse_header_parameters

UTF_8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
# Django and DRF read these with parameters, in a time that grows with the square of their length.
WITH_PARAMETERS = ("CONTENT_TYPE", "HTTP_ACCEPT")
LONGEST = 1000
REFUSED = b"Send text in UTF-8, and short headers Content-Type and Accept.\n"
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def checked_headers(application: Application) -> Application:
    """Answer 400 to a request with such headers, before *application* (WSGI) reads of it.

    Django decodes fields and addresses by the charset that a request names, of anybody: some of
    Python's take minutes for a megabyte, and some raise errors that are no UnicodeDecodeError.
    Cookies with a backslash are left out: Python before 3.11.10 and 3.12.6 reads one of 30 kB in
    more than a second (CVE-2024-7592), and none of ours has one.
    """

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        long = any(len(environ.get(name, "")) > LONGEST for name in WITH_PARAMETERS)
        if not long and is_utf_8(environ.get("CONTENT_TYPE", "")):
            if "\\" in (cookies := environ.get("HTTP_COOKIE", "")):
                plain = (one for one in cookies.split(";") if "\\" not in one)
                environ["HTTP_COOKIE"] = ";".join(plain)
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

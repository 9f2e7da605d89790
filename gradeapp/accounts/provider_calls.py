"""Calls to the provider of single sign-on: by TLS alone, without redirects, bounded in all.

The ID token is believed because it came straight from the provider by TLS (OpenID Connect Core,
3.1.3.7), so nothing else may answer in its place. And these calls are made in web requests, also
of people without an account, so a provider that hangs must not stop the site.
"""

from __future__ import annotations

import io
import os
from contextlib import suppress
from functools import partial
from socket import SHUT_RDWR, socket
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from requests import PreparedRequest, RequestException, Response, Session
from requests.adapters import HTTPAdapter

from gradeapp.common.bounded_wait import within
from gradeapp.start_rules import is_loopback

# Seconds for one call in all, and bytes of its answer.
LONGEST_CALL = 10.0
MOST_BYTES = 256 * 1024
# So many calls go on at once in a web process; others wait so long.
PLACES = BoundedSemaphore(3)
WAIT = 2.0


class ProviderAdapter(HTTPAdapter):
    """Sends one request; raises RequestException or OSError for what must not, or cannot, be.

    The connection of a call that takes too long is ended: one that drips would hold its place.
    """

    def __init__(self) -> None:
        self.opened: list[socket] = []
        super().__init__()

    def get_connection_with_tls_context(self, *args: Any, **kwargs: Any) -> Any:
        pool = super().get_connection_with_tls_context(*args, **kwargs)
        opened = self.opened

        class Noted(pool.ConnectionCls):  # type: ignore[misc,name-defined]
            def connect(self) -> None:
                super().connect()
                opened.append(self.sock)

        pool.ConnectionCls = Noted
        return pool

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        check_tls(request.url or "")
        if not PLACES.acquire(timeout=WAIT):
            raise RequestException("too many calls to the provider go on at once")
        kwargs |= {"stream": True}
        if trusted := os.environ.get("SSL_CERT_FILE"):
            kwargs["verify"] = trusted  # the session may have been told of others by requests
        ask = partial(super().send, request, *args, **kwargs)
        try:
            return within(LONGEST_CALL, partial(_ask, ask))
        except TimeoutError:
            for connection in self.opened:
                with suppress(OSError):
                    connection.shutdown(SHUT_RDWR)
            raise


def provider_session(timeout: float) -> Session:
    """Return a session for calls to the provider, which reads for *timeout* seconds at most.

    Where ``SSL_CERT_FILE`` names a file, the CA certificates in it are trusted and no others,
    whatever ``REQUESTS_CA_BUNDLE`` and ``CURL_CA_BUNDLE`` say.
    """
    session = Session()
    for scheme in ("https://", "http://"):
        session.mount(scheme, ProviderAdapter())
    session.request = partial(session.request, timeout=timeout)  # type: ignore[method-assign]
    return session


def check_tls(url: str) -> None:
    """Raise RequestException for an address without TLS, unless all is on this machine."""
    parts = urlsplit(url)
    on_this_machine = urlsplit(settings.OIDC_ISSUER).scheme == "http"
    if parts.scheme != "https" and not (on_this_machine and is_loopback(parts.hostname or "")):
        raise RequestException("the provider names an address without TLS")


def _ask(send: Any) -> Response:
    """Return the whole answer to *send*, and give the place back."""
    try:
        found: Response = send()
        with found:
            if found.is_redirect:
                raise RequestException("the provider redirects its own calls")
            body = bytearray()
            for some in found.iter_content(1024):
                body += some
                if len(body) > MOST_BYTES:
                    raise RequestException("the answer of the provider is too long")
    finally:
        PLACES.release()
    answer = Response()
    answer.status_code, answer.reason, answer.url = found.status_code, found.reason, found.url
    answer.request, answer.encoding = found.request, found.encoding
    answer.headers, answer.cookies = found.headers, found.cookies
    answer.raw = io.BytesIO(bytes(body))
    return answer

"""The HTTP transport of the client: aiohttp, which connects to allowed addresses only.

A name may resolve to another address than it did when the endpoint was saved (DNS rebinding). So
the addresses are checked where the connection is made, not where the URL is read.
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

import aiohttp
import httpx2

from evaluations.llm.addresses import ForbiddenAddressError, is_allowed, is_loopback
from evaluations.llm.client import Limits

_SENT = frozenset({b"connection", b"content-type", b"content-length"})


class CheckedResolver(aiohttp.ThreadedResolver):
    """A resolver that raises ``ForbiddenAddressError`` if one address of a name is not allowed."""

    def __init__(self, transport: CheckedTransport) -> None:
        super().__init__()
        self._transport = transport

    async def resolve(self, host: str, *args: Any, **kwargs: Any) -> list[Any]:
        results = await super().resolve(host, *args, **kwargs)
        for result in results:
            self._transport.check(result["host"])
        return results


def trusted_certificates() -> ssl.SSLContext:
    """Return a context that trusts the CA certificates of the machine.

    Where ``SSL_CERT_FILE`` names a file, those in it are trusted instead: a network that inspects
    TLS has its own. A file without certificates means that nobody is trusted.
    """
    file = os.environ.get("SSL_CERT_FILE")
    if not file:
        return httpx2.create_ssl_context(trust_env=False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with contextlib.suppress(OSError):  # an SSLError is one too
        context.load_verify_locations(file)
    return context


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Send requests by aiohttp. Private addresses must be in *networks* (CIDR).

    Of the headers of a request only those of its body and connection are sent, and *headers*.
    Without TLS only this machine is called. Each request has a connection of its own. Raises the
    exceptions of aiohttp.
    """

    def __init__(
        self,
        *,
        scheme: str,
        networks: Iterable[str],
        limits: Limits,
        connections: int,
        headers: Mapping[str, str],
    ) -> None:
        self._encrypted = scheme == "https"
        self._networks = tuple(networks)
        self._limits = limits
        self._connections = connections
        self._headers = dict(headers)
        self._certificates = trusted_certificates()
        self._session: aiohttp.ClientSession | None = None

    def check(self, address: str) -> None:
        """Raise ``ForbiddenAddressError`` unless a connection to *address* is allowed."""
        if not is_allowed(address, self._networks):
            raise ForbiddenAddressError(f"the address {address} is not allowed")
        if not (self._encrypted or is_loopback(address)):
            raise ForbiddenAddressError(f"the address {address} needs HTTPS")

    def trusts_anybody(self) -> bool:
        """Return whether there are trusted CA certificates, so that any server can be verified."""
        return self._certificates.cert_store_stats()["x509_ca"] > 0

    def _socket(self, info: Any) -> socket.socket:
        """Return a socket for *info*; a literal address in a URL is checked only here."""
        family, kind, protocol, _name, address = info
        self.check(str(address[0]))
        return socket.socket(family, kind, protocol)

    def _open(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=CheckedResolver(self),
            socket_factory=self._socket,
            ssl=self._certificates,
            limit=self._connections,
            # What a server sends after its reply would be read as the reply to the next request.
            force_close=True,
        )
        timeout = aiohttp.ClientTimeout(
            connect=30.0, sock_connect=self._limits.connect, sock_read=self._limits.read
        )
        return aiohttp.ClientSession(
            connector=connector,
            timeout=timeout,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._session = self._session or self._open()
        sent = {
            name.decode("ascii"): value.decode("latin-1")
            for name, value in request.headers.raw
            if name.lower() in _SENT
        }
        response = await self._session.request(
            request.method,
            str(request.url),
            headers={**sent, **self._headers},
            data=await _data_of(request),
            allow_redirects=False,
        )
        return httpx2.Response(
            response.status,
            headers=response.raw_headers,
            stream=_Body(response),
            request=request,
        )

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()


async def _data_of(request: httpx2.Request) -> bytes | AsyncIterator[bytes] | None:
    """Return the body of *request*; a file is read while it is sent."""
    stream = request.stream
    if isinstance(stream, httpx2.ByteStream):
        return await request.aread() or None
    assert isinstance(stream, httpx2.AsyncByteStream)
    return aiter(stream)


class _Body(httpx2.AsyncByteStream):
    """The body of a response, in the encoding in which it was sent."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._response.content.iter_chunked(65536):
            yield chunk

    async def aclose(self) -> None:
        self._response.release()

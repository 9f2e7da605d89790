"""The OpenAI client on a transport that checks addresses, without its defaults.

By default the client retries twice, follows redirects, and reads eight environment variables and
answers of any size. Here one call is one request to one address, with our own headers, a deadline
and a size limit; only the caller retries, because every retry may be billed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import aiohttp
import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, RequestOptions, omit

from evaluations.llm.addresses import ForbiddenAddressError
from evaluations.llm.bounded_body import bound
from evaluations.llm.classify import failure_of, scrub
from evaluations.llm.client import ChatFailure, ChatReply, ChatRequest, FailureKind, Limits
from evaluations.llm.rate_headers import rate_report
from evaluations.llm.replies import read_reply
from evaluations.llm.transport import CheckedTransport
from gradeapp.common.masking import SecretMask
from gradeapp.common.strict_json import check_depth

# The longest list of models that is read.
MOST_MODELS = 10_000
# What the client does not add to a request, since its transport would drop it: headers are built
# and copied several times on the way.
_RETRIES_AND_TIMEOUT = ("X-Stainless-Retry-Count", "X-Stainless-Read-Timeout")


class OpenAIChat:
    """One model behind one OpenAI-compatible endpoint.

    ``base_url`` ends before ``/chat/completions``. Without ``api_key`` no Authorization is sent.
    ``networks`` (CIDR) are the private networks that may be called. Use it as an async context
    manager in one event loop.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None,
        *,
        max_in_flight: int = 8,
        limits: Limits | None = None,
        networks: Sequence[str] = (),
    ) -> None:
        self.model = model
        self._limits = limits or Limits()
        # People read what is stored, and a proxy may repeat our key.
        self.mask = SecretMask(api_key)
        self._transport = CheckedTransport(
            scheme=urlsplit(base_url).scheme,
            networks=networks,
            limits=self._limits,
            connections=max_in_flight,
            headers={
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": "gradeapp",
                **({"Authorization": f"Bearer {api_key}"} if api_key else {}),
            },
        )
        # Every argument is given, so that none is looked up in the environment; the headers of the
        # client, and those that OPENAI_CUSTOM_HEADERS adds, are dropped by the transport.
        self._client = AsyncOpenAI(
            api_key="none",
            admin_api_key="none",
            organization="",
            project="",
            webhook_secret="none",
            base_url=base_url,
            max_retries=0,
            http_client=httpx2.AsyncClient(
                transport=self._transport,
                follow_redirects=False,
                trust_env=False,
                event_hooks={"response": [self._bound]},
            ),
        )
        not_sent = {*self._client.default_headers, "Authorization", *_RETRIES_AND_TIMEOUT}
        self._options: RequestOptions = {
            "headers": dict.fromkeys(not_sent - {"Content-Type"}, omit),
            "security": {"bearer_auth": True},
        }
        # In full: the client would parse it, and join it to its base, for each call.
        self._chat_url = f"{self._client.base_url}chat/completions"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()

    @asynccontextmanager
    async def call(self) -> AsyncIterator[AsyncOpenAI]:
        """Give the client for one call within the deadline; raise ``ChatFailure`` if it fails."""
        try:
            async with asyncio.timeout(self._limits.deadline):
                yield self._client
        except APIStatusError as error:
            raise self._refused(error.response) from None
        except ChatFailure as failure:  # of a body that is too large, or badly compressed
            failure.body = self.mask.text(failure.body)
            raise
        except aiohttp.ClientError as error:
            raise self._broken(error) from None
        except APIConnectionError as error:
            # The client wraps what is also an error of the standard library, as of a certificate.
            if isinstance(error.__cause__, aiohttp.ClientError):
                raise self._broken(error.__cause__) from None
            raise self._unknown(FailureKind.INTERRUPTED, str(error)) from None
        except TimeoutError:
            raise self._unknown(FailureKind.TIMEOUT, "the call passed its deadline") from None

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Make one request and return its reply. Raises ``ChatFailure``."""
        body = {**request.params, "model": self.model, "messages": list(request.messages)}
        async with self.call() as client:
            response = await client.post(
                self._chat_url, cast_to=httpx2.Response, body=body, options=self._options
            )
        request_id = self.mask.text(response.headers.get("x-request-id", ""))
        reply = read_reply(self.mask.raw(response.content), request_id, self.mask)
        return replace(reply, rate=rate_report(_lower(response.headers)))

    async def models(self) -> list[str] | None:
        """Return the names of the models that the endpoint lists; None if it lists none."""
        try:
            async with asyncio.timeout(self._limits.deadline):
                response = await self._client.get("/models", cast_to=httpx2.Response)
                text = response.content.decode("utf-8")
                check_depth(text, "list")
                listed = json.loads(text)["data"][:MOST_MODELS]
                return [self.mask.text(str(one["id"])) for one in listed]
        except (APIStatusError, APIConnectionError, aiohttp.ClientError, TimeoutError):
            return None
        except (ChatFailure, ValueError, KeyError, TypeError):
            return None

    async def _bound(self, response: httpx2.Response) -> None:
        # Only a reply that was asked for may be larger than a usual one.
        most = self._limits.reply_bytes
        bound(response, most if response.status_code == 200 else min(most, Limits().reply_bytes))

    def _refused(self, response: httpx2.Response) -> ChatFailure:
        return failure_of(
            response.status_code,
            _lower(response.headers),
            response.text,
            now=datetime.now(UTC),
            mask=self.mask,
        )

    def _broken(self, error: aiohttp.ClientError) -> ChatFailure:
        if isinstance(error.__cause__, ForbiddenAddressError):
            return ChatFailure(FailureKind.ADDRESS, str(error.__cause__))
        if isinstance(error, aiohttp.InvalidURL):
            return ChatFailure(FailureKind.ADDRESS, "the address is not spelled in full")
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            text = str(error.certificate_error)
            if not self._transport.trusts_anybody():
                text = f"there are no trusted CA certificates; {text}"
            return ChatFailure(FailureKind.CERTIFICATE, text)
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            return ChatFailure(FailureKind.CONNECT, scrub(str(error), self.mask))
        if isinstance(error, aiohttp.ServerTimeoutError):
            return self._unknown(FailureKind.TIMEOUT, str(error))
        if isinstance(error, aiohttp.ClientPayloadError):
            return self._unknown(FailureKind.INTERRUPTED, "the reply broke off before its end")
        if isinstance(error, aiohttp.ClientConnectionError):
            return self._unknown(FailureKind.INTERRUPTED, str(error))
        # The text of the error would repeat what the service sent.
        return self._unknown(FailureKind.MALFORMED, f"not valid HTTP: {type(error).__name__}")

    def _unknown(self, kind: FailureKind, text: str) -> ChatFailure:
        return ChatFailure(kind, scrub(text, self.mask), may_have_been_billed=True)


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    """Return *headers* by their names in lower case."""
    return {name.lower(): value for name, value in headers.items()}

"""One tiny call to an endpoint, and one sentence about what happened."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluations.llm.client import ChatFailure, ChatReply, ChatRequest, FailureKind
from evaluations.models import Endpoint
from evaluations.runs.services.endpoints import open_chat
from gradeapp.common.refusals import Refusal

if TYPE_CHECKING:
    from evaluations.llm.openai_client import OpenAIChat

QUESTION = ChatRequest("check", [{"role": "user", "content": "1+1=?"}], {"max_tokens": 8})

K = FailureKind
SENTENCES: Mapping[FailureKind, str | Promise] = {
    K.CONNECT: _("No response from %(url)s."),
    K.TIMEOUT: _("%(url)s accepted the call but did not reply in time."),
    K.INTERRUPTED: _("%(url)s accepted the call but closed the connection without a reply."),
    K.AUTH: _("The endpoint rejects the API key. Check the variable %(variable)s."),
    K.QUOTA: _("The API key is valid, but its account has no credit left."),
    K.NOT_FOUND: _("There is no model %(model)s at %(url)s, or the address lacks /v1."),
    K.RATE_LIMIT: _("The endpoint works but is limiting the rate of calls. Try again in a minute."),
    K.SERVER: _("The endpoint reports an internal error (%(status)s): %(text)s"),
    K.REDIRECT: _(
        "The endpoint redirects to another address. Redirects are not "
        "followed; enter the final address below."
    ),
    K.MALFORMED: _("%(url)s replies, but not in the chat completions format."),
}
OTHERWISE = _("The endpoint works but rejects the call: %(text)s")
WORKS = _("The endpoint works: %(model)s replied.")
NO_KEY = _(
    "The endpoint asks for an API key, and none is set. Enter the variable that holds it below."
)


@dataclass(frozen=True)
class EndpointCheck:
    """Whether the endpoint works, and the sentence that says so or says why not."""

    works: bool
    sentence: str


def check_endpoint(endpoint: Endpoint) -> EndpointCheck:
    """Call *endpoint* once; not at all where its key is missing or its address forbidden."""
    try:
        reply = asyncio.run(_call(open_chat(endpoint)))
    except Refusal as refusal:
        return EndpointCheck(False, str(refusal))
    except ChatFailure as failure:
        return EndpointCheck(False, str(_sentence(endpoint, failure)))
    return EndpointCheck(True, str(WORKS % {"model": reply.model or endpoint.model}))


async def _call(client: OpenAIChat) -> ChatReply:
    async with client:
        return await client.complete(QUESTION)


def _sentence(endpoint: Endpoint, failure: ChatFailure) -> str | Promise:
    if failure.kind is FailureKind.AUTH and not endpoint.key_variable:
        return NO_KEY
    facts = {
        "url": endpoint.base_url,
        "model": endpoint.model,
        "variable": endpoint.key_variable,
        "status": failure.http_status,
        "text": failure.text[:300],
    }
    return SENTENCES.get(failure.kind, OTHERWISE) % facts

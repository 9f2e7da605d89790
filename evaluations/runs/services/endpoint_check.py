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
    K.CONNECT: _("Nobody answers at %(url)s."),
    K.TIMEOUT: _("%(url)s takes the call and gives no answer in time."),
    K.INTERRUPTED: _("%(url)s takes the call and hangs up without an answer."),
    K.AUTH: _("The endpoint refuses the key: look into the variable %(variable)s."),
    K.QUOTA: _("The key is right, and its account has nothing left."),
    K.NOT_FOUND: _("There is no model %(model)s at %(url)s, or the address lacks its /v1."),
    K.RATE_LIMIT: _("The endpoint is there and asks to slow down; try again in a minute."),
    K.SERVER: _("The endpoint has an error of its own (%(status)s): %(text)s"),
    K.REDIRECT: _("The endpoint sends elsewhere, which is never followed: type its own address."),
    K.MALFORMED: _("Something answers at %(url)s, but not as a chat endpoint does."),
}
OTHERWISE = _("The endpoint is there and refuses the call: %(text)s")
WORKS = _("It works: %(model)s answered.")
NO_KEY = _("The endpoint asks for a key, and none is set: name the variable that holds it below.")


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

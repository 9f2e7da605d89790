"""Check endpoints: a few small calls in a web request, which say what works.

An endpoint may answer nothing at all, so a check has short limits of its own, and few go on at
once: the threads of the web server serve everybody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from django.db import IntegrityError, transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluations.llm.client import ChatFailure, ChatReply, ChatRequest, FailureKind, Limits
from evaluations.models import CheckPlace, Endpoint
from evaluations.runs.services.endpoints import open_chat
from evaluations.runs.services.frozen import prices_of
from evaluations.runs.services.spending import check_cap
from gradeapp.accounts.models import User
from gradeapp.accounts.throttle import Limit, fail, reserve
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.bounded_wait import within
from gradeapp.common.database_clock import database_now
from gradeapp.common.leases import Lease
from gradeapp.common.refusals import Conflict, Refusal

CHECK_MESSAGES = ({"role": "user", "content": "1+1=?"},)
CHECK_TOKENS = 8
MOST_CHECKS = 30
# A check is made in a web request: it has limits of its own, in seconds, whatever those of runs
# are. All its calls end within ALL_CALLS, and nobody waits for longer than LONGEST_WAIT, not even
# for the name of the host to be resolved.
CALL = Limits(connect=5.0, read=15.0, deadline=15.0)
ALL_CALLS = 25.0
LONGEST_WAIT = 30.0
# So many checks may go on at once; one that was killed gives its place back after LEASE_FOR.
PLACES = 2
PLACE = Lease("holder", "until", "")
LEASE_FOR = timedelta(seconds=60)
CHECK_JSON = ({"role": "user", "content": 'Reply in JSON: {"sum": 1+1}'},)
# A white PNG of 32 x 32 pixels: some models refuse smaller ones.
CHECK_PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJklEQVR42u3NMQ0AAAwDoPo33arYsQQMkB6LQCAQ"
    "CAQCgUAg+BIMi1X0ptsIcT0AAAAASUVORK5CYII="
)
CHECK_IMAGE = (
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "1+1=?"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{CHECK_PNG}"}},
        ],
    },
)
# Input and output tokens of a usual answer.
USUAL_CALL = (500, 600)

K = FailureKind
SENTENCES: Mapping[FailureKind, str | Promise] = {
    K.ADDRESS: _("%(url)s leads to an address that is not allowed. No call was made."),
    K.CERTIFICATE: _(
        "The certificate of %(url)s is not trusted on this machine. No call was made. Install the "
        "CA certificates of your system or network (%(text)s)."
    ),
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
    K.OVERSIZE: _("%(url)s replies with more than gradeapp reads of one reply: %(most)s bytes."),
    K.MALFORMED: _("%(url)s replies, but not in the chat completions format."),
}
REFUSED = _("The endpoint works but rejects the call: %(text)s")
WORKS = _("The endpoint works: %(model)s replied.")
NO_KEY = _(
    "The endpoint asks for an API key, and none is set. Enter the variable that holds it below."
)
STORED_KEY_REJECTED = _("The endpoint rejects the stored API key. Enter the correct one below.")


@dataclass(frozen=True)
class EndpointCheck:
    """Whether the endpoint works, and a sentence for people; ``findings`` say what works."""

    works: bool
    sentence: str
    findings: tuple[str, ...] = ()


def check_endpoint(endpoint: Endpoint, *, acting_user: User | None = None) -> EndpointCheck:
    """Make one small call to *endpoint*, unless its key is missing or its address forbidden.

    If it is answered, make two more, and ask for the list of models, to say what works. What they
    cost is no part of what was spent; nothing is called where a cap is reached, and at most
    ``MOST_CHECKS`` times an hour. Raises Throttled, and Conflict while another check goes on of
    this endpoint, or ``PLACES`` of others.
    """
    who = uuid4().hex
    _take_place(endpoint, who)
    try:
        limits = [Limit(f"endpoint|{endpoint.pk}", MOST_CHECKS, timedelta(hours=1))]
        reserve(limits)
        fail(limits)
        record(Tag.ENDPOINT_CHECKED, endpoint, actor=acting_user)
        return _check(endpoint)
    finally:
        PLACE.release(CheckPlace.objects.all(), who, endpoint=None)


def _take_place(endpoint: Endpoint, who: str) -> None:
    """Take a free place for a check of *endpoint*. Raises Conflict."""
    now = database_now()
    for number in range(1, PLACES + 1):
        CheckPlace.objects.get_or_create(number=number)
    rows = CheckPlace.objects.all()
    rows.filter(PLACE.ended(now)).update(**PLACE.released(), endpoint=None)
    given = {**PLACE.given(who, now + LEASE_FOR), "endpoint": endpoint}
    with suppress(IntegrityError):  # it has a place already
        for number in range(1, PLACES + 1):
            with transaction.atomic():
                if rows.filter(PLACE.free(now), number=number).update(**given):
                    return
    raise Conflict(
        _("This endpoint, or two others, are being tested just now. Try again in half a minute."),
        code="being_tested",
    )


def _check(endpoint: Endpoint) -> EndpointCheck:
    """Call *endpoint* within ``LONGEST_WAIT`` seconds, and put what it does into words."""
    try:
        check_cap(endpoint, database_now())
        reply, findings = within(LONGEST_WAIT, lambda: asyncio.run(_calls(endpoint)))
    except Refusal as refusal:
        return EndpointCheck(False, str(refusal))
    except TimeoutError:
        return EndpointCheck(False, str(SENTENCES[K.CONNECT] % {"url": endpoint.base_url}))
    except ChatFailure as failure:
        if failure.kind is K.AUTH and not endpoint.key_variable:
            return EndpointCheck(False, str(STORED_KEY_REJECTED if endpoint.has_key else NO_KEY))
        facts = {
            "url": endpoint.base_url,
            "model": endpoint.model,
            "variable": endpoint.key_variable,
            "status": failure.http_status,
            "most": f"{CALL.reply_bytes:,}",
            "text": failure.text[:300],
        }
        return EndpointCheck(False, str(SENTENCES.get(failure.kind, REFUSED) % facts))
    sentence = str(WORKS % {"model": reply.model[:80] or endpoint.model})
    return EndpointCheck(True, sentence, (*findings, *_cost_findings(endpoint, reply)))


async def _calls(endpoint: Endpoint) -> tuple[ChatReply, list[str]]:
    """Return the reply to a small call, and what else works. Raises ChatFailure, BadInput."""
    ends = asyncio.get_running_loop().time() + ALL_CALLS
    name = "max_completion_tokens" if endpoint.max_completion_tokens else "max_tokens"
    small = {name: CHECK_TOKENS}
    structured = {**small, "response_format": {"type": "json_object"}}
    findings = []
    async with open_chat(endpoint, limits=CALL) as client:
        reply = await client.complete(ChatRequest("check", CHECK_MESSAGES, small))
        for what, messages, params in (
            (_("Structured output: %(works)s"), CHECK_JSON, structured),
            (_("Images: %(works)s"), CHECK_IMAGE, small),
        ):
            try:
                async with asyncio.timeout_at(ends):
                    await client.complete(ChatRequest("check", messages, params))
                works = str(_("works"))
            except TimeoutError:
                works = str(_("unknown"))
            except ChatFailure as failure:
                refused = failure.kind in (K.BAD_REQUEST, K.NO_IMAGES, K.NOT_FOUND)
                works = str(_("not supported") if refused else _("unknown"))
            findings.append(str(what) % {"works": works})
        names = None
        with suppress(TimeoutError):
            async with asyncio.timeout_at(ends):
                names = await client.models()
    if names is None:
        findings.append(str(_("Model list: none")))
    else:
        there = _("includes this model") if endpoint.model in names else _("lacks this model")
        words = {"n": len(names), "there": there}
        findings.append(str(_("Model list: %(n)d models, %(there)s")) % words)
    return reply, findings


def _cost_findings(endpoint: Endpoint, reply: ChatReply) -> list[str]:
    """Return whether the reply says its tokens, and what a usual answer costs by the prices."""
    counted = reply.prompt_tokens is not None and reply.completion_tokens is not None
    if reply.odd_usage:
        usage = _("Usage: contradicts itself, so calls cost what is reserved for them")
    elif counted:
        usage = _("Usage: sent")
    else:
        usage = _("Usage: missing, so calls cost what is reserved for them")
    findings = [str(usage)]
    if endpoint.has_prices:
        words = {"cost": f"{prices_of(endpoint).most(*USUAL_CALL):.4f} {endpoint.currency}"}
        words |= dict(zip(("read", "written"), map(str, USUAL_CALL), strict=True))
        sentence = _("An answer of %(read)s + %(written)s tokens costs %(cost)s")
        findings.append(str(sentence) % words)
    return findings

"""What a reply is, apart from its text, and whether another model wrote it."""

from __future__ import annotations

import re

from evaluations.llm.client import ChatReply
from evaluations.statistics.outcomes import ReplyEnding

_SEPARATORS = re.compile(r"[/:@_\-.\s]+")


def ending_of(reply: ChatReply) -> ReplyEnding:
    """Return what *reply* is: a filter and a refusal come before a missing text."""
    if reply.finish_reason == "content_filter":
        return ReplyEnding.FILTERED
    if reply.refusal and not reply.text:
        return ReplyEnding.REFUSED
    if reply.finish_reason == "length":
        return ReplyEnding.CUT_OFF
    if reply.text:
        return ReplyEnding.COMPLETE
    if reply.tool_calls:
        return ReplyEnding.TOOL_CALLS
    return ReplyEnding.REASONING if reply.reasoning else ReplyEnding.EMPTY


def same_model(asked: str, answered: str) -> bool:
    """Return whether *answered*, the name in a reply, can be the model that was *asked*.

    Endpoints add a date or a provider ("gpt-4o-2024-08-06", "openai/gpt-4o") or leave one out.
    """
    first, second = (
        [part for part in _SEPARATORS.split(name.casefold()) if part] for name in (asked, answered)
    )
    shorter, longer = sorted((first, second), key=len)
    places = range(len(longer) - len(shorter) + 1)
    return any(longer[place : place + len(shorter)] == shorter for place in places)

"""Read the ``usage`` of a chat completion, in the forms that providers send.

OpenAI, DeepSeek, Moonshot, DashScope and OpenRouter agree on ``prompt_tokens`` and
``completion_tokens``, and on little else: cached tokens have three places, reasoning is part of the
completion, beside it, or only in the total.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

# What the columns hold: a larger number is an error of the endpoint.
MOST_TOKENS = 2**31 - 1
_MOST_COST = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of a reply; None where the endpoint did not send one that can be used.

    ``completion`` counts everything that was written, also reasoning that the provider counts
    beside the completion. ``cached`` and ``audio`` are part of all, ``reasoning`` of
    ``completion``. ``cost`` is what the provider says the call cost, as a decimal number without
    a currency. ``odd``: the counts contradict each other, are no counts, or say that nothing was
    asked.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    audio: int | None = None
    total: int | None = None
    cost: str | None = None
    odd: bool = False


def read_usage(sent: object) -> Usage:
    """Return the usage in *sent*, the value of the field ``usage``."""
    usage = _mapping(sent)
    read = _mapping(usage.get("prompt_tokens_details"))
    written = _mapping(usage.get("completion_tokens_details"))
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    total = _count(usage.get("total_tokens"))
    cached = _first(
        read.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), usage.get("cached_tokens")
    )
    reasoning = _first(written.get("reasoning_tokens"), usage.get("reasoning_tokens"))
    sounds = [_count(one.get("audio_tokens")) for one in (read, written)]
    audio = _count(sum(one or 0 for one in sounds)) if sounds != [None, None] else None
    names = ("prompt_tokens", "completion_tokens")
    odd = any(usage.get(name) is not None and _count(usage[name]) is None for name in names)
    if prompt is not None and completion is not None:
        if total is not None and total > prompt + completion:
            completion = total - prompt  # reasoning that is counted beside the completion
        elif reasoning is not None and reasoning > completion:
            completion = _count(completion + reasoning)
        together = None if completion is None else prompt + completion
        odd = odd or together is None or (total is not None and total < together)
        # Every call has a prompt.
        odd = odd or prompt == 0 or (cached is not None and cached > prompt)
    return Usage(prompt, completion, cached, reasoning, audio, total, _cost(usage.get("cost")), odd)


def _first(*values: object) -> int | None:
    """Return the first of *values* that is a count."""
    return next((count for count in map(_count, values) if count is not None), None)


def _count(value: object) -> int | None:
    """Return a token count; None for a bool, a float, or a number that no call can have."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_TOKENS:
        return None
    return value


def _cost(value: object) -> str | None:
    """Return a cost of 0 or more, with at most eight decimals; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value < _MOST_COST:  # neither NaN nor infinity
        return None
    rounded = round(Decimal(json.dumps(value)), 8)
    return f"{rounded:.8f}" if rounded < _MOST_COST else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}

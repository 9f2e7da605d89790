"""What the answered calls of an endpoint say about calls that are planned, and their cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Avg, Count, Q, QuerySet, Sum

from evaluations.models import Attempt, Endpoint
from evaluations.models.vocabulary import AttemptStatus, RunPurpose, UsageState
from evaluations.runs.kinds import Cost
from evaluations.runs.services.frozen import prices_of

# From this many earlier calls of an endpoint on, they are used instead of the rule of thumb. A
# trial makes as many, over all tasks: on the sample exam they give tokens and cost within 6 %.
ENOUGH = 10
# The rule of thumb: bytes of text per token, and tokens per answer.
BYTES_A_TOKEN = 3.5
USUAL_ANSWER = 600


@dataclass(frozen=True)
class EarlierCalls:
    """What is known of calls to an endpoint.

    ``n`` is the number of earlier calls that it comes from, 0 for the rule of thumb.
    ``tokens_a_byte`` are the tokens that the endpoint counts for a byte of prompt
    (``Attempt.prompt_bytes``), ``written`` the tokens of a reply. ``cached`` is the share of the
    prompts' tokens that it had cached, 0 to 1. ``seconds`` is how long a call takes, None if that
    is not known.
    """

    n: int = 0
    tokens_a_byte: float = 1 / BYTES_A_TOKEN
    written: float = USUAL_ANSWER
    seconds: float | None = None
    cached: float = 0.0


def earlier_calls(
    endpoint: Endpoint,
    purpose: RunPurpose,
    *,
    alike: Mapping[str, Any] | None = None,
    nearest: Mapping[str, Any] | None = None,
) -> EarlierCalls:
    """Return what the answered calls to *endpoint* in runs of *purpose* say.

    *alike* and *nearest* are filters of attempts: only those of *alike* count. If there are
    ``ENOUGH`` of *nearest* too, only those do; if there are not enough without it, the rule of
    thumb is returned. Of calls from before sizes of prompts were stored, only the replies count.
    Token counts that cannot be right count for nothing.
    """
    answered = Attempt.objects.filter(
        job__run__endpoint=endpoint,
        job__run__purpose=purpose,
        status=AttemptStatus.ANSWERED,
        **(alike or {}),
    )
    found = _known(answered.filter(**nearest)) if nearest else None
    return found or _known(answered) or EarlierCalls()


def _known(answered: QuerySet[Attempt]) -> EarlierCalls | None:
    """Return what the calls in *answered* say, None if there are few or none was counted."""
    believed = ~Q(usage=UsageState.ODD)
    sized = believed & Q(prompt_tokens__isnull=False, prompt_bytes__isnull=False)
    sums = answered.order_by().aggregate(
        n=Count("pk"),
        counted=Count("prompt_tokens", filter=believed),
        read=Sum("prompt_tokens", filter=sized),
        size=Sum("prompt_bytes", filter=sized),
        written=Avg("completion_tokens", filter=believed),
        cached=Sum("cached_tokens", filter=sized),
        seconds=Avg("seconds", filter=Q(job__run__by_batch=False)),
    )
    if sums["n"] < ENOUGH or not sums["counted"]:
        return None
    per_byte = sums["read"] / sums["size"] if sums["size"] else EarlierCalls.tokens_a_byte
    cached = min(1.0, (sums["cached"] or 0) / sums["read"]) if sums["read"] else 0.0
    return EarlierCalls(sums["n"], per_byte, sums["written"] or 0.0, sums["seconds"], cached)


def cost_of(
    endpoint: Endpoint,
    earlier: EarlierCalls,
    calls: int,
    prompt_bytes: int,
    *,
    reply_tokens: int | None = None,
    with_reply: int = 0,
) -> Cost:
    """Estimate the cost of *calls* whose prompts have *prompt_bytes* in all, by *earlier* calls.

    ``reply_tokens`` is the most of one reply, None for the limit of the endpoint. The prompts of
    ``with_reply`` calls also have the reply to another one, which is not in *prompt_bytes*.
    """
    most_tokens = endpoint.max_tokens if reply_tokens is None else reply_tokens
    price = prices_of(endpoint)
    each = min(most_tokens, earlier.written)
    read = round(earlier.tokens_a_byte * prompt_bytes + each * with_reply)
    written = round(each * calls)
    most_read, most_written = prompt_bytes + most_tokens * with_reply, most_tokens * calls
    seconds = earlier.seconds
    return Cost(
        calls=calls,
        expected=price.cost(read, written, round(earlier.cached * read)),
        at_most=price.most(most_read, most_written),
        earlier_calls=earlier.n,
        currency=endpoint.currency,
        tokens=read + written,
        most_tokens=most_read + most_written,
        seconds=None if seconds is None else seconds * calls / endpoint.max_in_flight,
    )

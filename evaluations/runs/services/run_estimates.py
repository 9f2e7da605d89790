"""What a run will ask and about what it will cost, before anything is started."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg, Count

from evaluations.llm.budget import Price, most_prompt_tokens
from evaluations.models import Attempt, Endpoint
from evaluations.models.vocabulary import AttemptStatus, RunPurpose
from evaluations.reading.services.model_reading import WantedReading, answers_to_read
from evaluations.runs.services.calls import answer_call, read_call, suggest_call
from evaluations.runs.services.frozen import freeze_suggesting
from evaluations.runs.services.planning import items_of
from evaluations.suggesting.services.suggesting import Wanted, items_to_ask
from questions.models import Dataset
from questions.rules.vocabulary import Part

# So many earlier calls of an endpoint say more than a rule of thumb.
ENOUGH = 20
# The rule of thumb: bytes of text a token, and the tokens of an answer.
BYTES_A_TOKEN = 3.5
USUAL_ANSWER = 600
# Bytes that a judge reads: question, key, analysis, rubric and response, some of each.
JUDGE_READS = 8000


@dataclass(frozen=True)
class Cost:
    """Money for some calls, each answered once, in the currency of their endpoint.

    ``earlier_calls`` is what ``expected`` is based on; 0 is a rule of thumb.
    ``at_most`` is the cost if every answer were as long as it may be.
    """

    calls: int
    expected: Decimal
    at_most: Decimal
    earlier_calls: int
    currency: str


@dataclass(frozen=True)
class Estimate:
    """What a plan asks and costs; without a judge ``judging`` is None.

    ``note`` is what stands written at the endpoint.
    """

    items: int
    answering: Cost
    judging: Cost | None
    note: str


def estimate(
    *,
    endpoint: Endpoint,
    dataset: Dataset,
    repeats: int,
    limit: int | None = None,
    judge: Endpoint | None = None,
) -> Estimate:
    """The plan of ``start_run`` with the same arguments; refuses an empty dataset."""
    items = items_of(dataset, limit)
    size = sum(most_prompt_tokens(answer_call(q, q.current)) for q in items if q.current)
    calls = len(items) * repeats
    answering = _cost(endpoint, RunPurpose.ANSWER, calls, size * repeats)
    if judge is None:
        return Estimate(len(items), answering, None, endpoint.note)
    judged = repeats * sum(question.part == Part.SUBJECTIVE for question in items)
    judging = _cost(judge, RunPurpose.JUDGE, judged, judged * JUDGE_READS)
    return Estimate(len(items), answering, judging, endpoint.note)


def estimate_suggesting(wanted: Wanted) -> Estimate:
    """The plan of ``start_suggesting``; refuses where there is nothing to ask."""
    items, asks = items_to_ask(wanted), wanted.asks
    settings = freeze_suggesting(wanted.endpoint, asks).settings
    size = sum(
        most_prompt_tokens(suggest_call(settings, one, one.current)) for one in items if one.current
    )
    alike = {"job__run__run_settings__asks": asks.value}
    cost = _cost(wanted.endpoint, RunPurpose.SUGGEST, len(items), size, **alike)
    return Estimate(len(items), cost, None, wanted.endpoint.note)


def estimate_reading(wanted: WantedReading) -> Estimate:
    """The plan of ``start_reading``; refuses where there is nothing to read."""
    responses = answers_to_read(wanted)
    # The fence is of one length, whichever run it is made from.
    size = sum(most_prompt_tokens(read_call(wanted.run, one, one.revision)) for one in responses)
    cost = _cost(wanted.endpoint, RunPurpose.READ, len(responses), size)
    return Estimate(len(responses), cost, None, wanted.endpoint.note)


def _cost(
    endpoint: Endpoint, purpose: RunPurpose, calls: int, prompt_bytes: int, **alike: str
) -> Cost:
    price = Price(endpoint.price_input, endpoint.price_output)
    earlier = Attempt.objects.filter(
        job__run__endpoint=endpoint,
        job__run__purpose=purpose,
        status=AttemptStatus.ANSWERED,
        **alike,
    ).aggregate(n=Count("pk"), read=Avg("prompt_tokens"), written=Avg("completion_tokens"))
    known = earlier["n"] >= ENOUGH and earlier["read"] is not None
    if known:
        read, written = earlier["read"] * calls, (earlier["written"] or 0) * calls
    else:
        read = prompt_bytes / BYTES_A_TOKEN
        written = min(endpoint.max_tokens, USUAL_ANSWER) * calls
    return Cost(
        calls=calls,
        expected=price.cost(round(read), round(written)),
        at_most=price.cost(prompt_bytes, endpoint.max_tokens * calls),
        earlier_calls=earlier["n"] if known else 0,
        currency=endpoint.currency,
    )

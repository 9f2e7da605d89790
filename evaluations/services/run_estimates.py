"""What a run will ask and about what it will cost, before anything is started."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg, Count

from evaluations.llm.budget import Price, most_prompt_tokens
from evaluations.models import Attempt, Endpoint
from evaluations.models.vocabulary import AttemptStatus, RunPurpose
from evaluations.services.calls import answer_call
from evaluations.services.planning import items_of
from questions.models import Dataset
from questions.rules.vocabulary import Part

# So many earlier calls of an endpoint say more than a rule of thumb.
ENOUGH = 20
# The rule of thumb: bytes of text a token, and the tokens of an answer.
BYTES_A_TOKEN = 3.5
USUAL_ANSWER = 600
# What a judge reads beside the question: key, analysis, rubric, response.
JUDGE_READS = 1500


@dataclass(frozen=True)
class Estimate:
    """Calls and money of a plan, each call answered once.

    ``earlier_calls`` is what ``expected`` is based on; 0 is a rule of thumb.
    ``at_most`` is the cost if every answer were as long as it may be.
    """

    items: int
    calls: int
    judge_calls: int
    expected: Decimal
    at_most: Decimal
    earlier_calls: int
    currency: str


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
    sizes = [most_prompt_tokens(answer_call(q, q.current)) for q in items if q.current]
    subjective = sum(question.part == Part.SUBJECTIVE for question in items) if judge else 0
    answers, earlier = _expected(
        endpoint, RunPurpose.ANSWER, sum(sizes) / BYTES_A_TOKEN, len(items)
    )
    most = _price(endpoint).cost(sum(sizes), endpoint.max_tokens * len(items))
    if judge is not None:
        read = (JUDGE_READS + USUAL_ANSWER) * subjective
        judged, _earlier = _expected(judge, RunPurpose.JUDGE, read, subjective)
        answers += judged
        most += _price(judge).cost(read * 4, judge.max_tokens * subjective)
    return Estimate(
        items=len(items),
        calls=len(items) * repeats,
        judge_calls=subjective * repeats,
        expected=answers * repeats,
        at_most=most * repeats,
        earlier_calls=earlier,
        currency=endpoint.currency,
    )


def _price(endpoint: Endpoint) -> Price:
    return Price(endpoint.price_input, endpoint.price_output)


def _expected(
    endpoint: Endpoint, purpose: RunPurpose, prompt_tokens: float, calls: int
) -> tuple[Decimal, int]:
    """The expected cost of *calls*, and how many earlier calls say so."""
    earlier = Attempt.objects.filter(
        job__run__endpoint=endpoint, job__run__purpose=purpose, status=AttemptStatus.ANSWERED
    ).aggregate(n=Count("pk"), read=Avg("prompt_tokens"), written=Avg("completion_tokens"))
    if earlier["n"] >= ENOUGH and earlier["read"] is not None:
        read, written = earlier["read"] * calls, (earlier["written"] or 0) * calls
        return _price(endpoint).cost(round(read), round(written)), earlier["n"]
    written = min(endpoint.max_tokens, USUAL_ANSWER) * calls
    return _price(endpoint).cost(round(prompt_tokens), written), 0

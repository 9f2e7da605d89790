"""Decide whether and when a failed attempt is repeated; every retry may be billed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from evaluations.llm.client import ChatFailure, FailureKind


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits of one job. Waits are in seconds.

    ``attempts`` counts all attempts, the first included; 429s have a limit of their own. After an
    attempt that may have been billed, at most ``after_possible_billing`` more are made.
    """

    attempts: int = 5
    rate_limit_attempts: int = 20
    after_possible_billing: int = 1
    first_wait: float = 1.0
    longest_wait: float = 60.0


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """Whether to repeat after ``wait`` seconds; with ``pauses_run``, after a person has resumed."""

    again: bool
    wait: float
    pauses_run: bool = False


STANDARD = RetryPolicy()


def decide(
    failure: ChatFailure,
    attempt_number: int,
    random: Random,
    policy: RetryPolicy = STANDARD,
) -> RetryDecision:
    """Return what to do after attempt *attempt_number* (from 1), which ended in *failure*.

    A wrong key, an empty account or a Retry-After above 120 s pauses the run and keeps the job. A
    call that was never sent is due again at once. Otherwise the wait doubles with each attempt,
    with jitter: between half and all of it, and never less than Retry-After.
    """
    if attempt_number < 1:
        raise ValueError("attempts are counted from 1")
    if failure.pauses_run:
        return RetryDecision(again=True, wait=0.0, pauses_run=True)
    if failure.kind is FailureKind.CANCELLED and not failure.may_have_been_billed:
        return RetryDecision(again=True, wait=0.0)
    most = policy.attempts
    if failure.may_have_been_billed:
        most = 1 + policy.after_possible_billing
    elif failure.kind is FailureKind.RATE_LIMIT:
        most = policy.rate_limit_attempts
    if not failure.retryable or attempt_number >= most:
        return RetryDecision(again=False, wait=0.0)
    doubled = policy.first_wait * 2.0 ** min(attempt_number - 1, 20)
    backoff = min(policy.longest_wait, doubled) * (0.5 + 0.5 * random.random())
    return RetryDecision(again=True, wait=max(backoff, failure.retry_after or 0.0))

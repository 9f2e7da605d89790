"""Whether a failed attempt is made again, and when. Every retry may be billed, so it is decided."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from evaluations.llm.client import ChatFailure, FailureKind


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits for one job. Waits are in seconds.

    ``attempts`` counts all attempts, the first included. A 429 is not the
    job's fault and has a limit of its own. After an attempt that may have been
    billed, at most ``after_possible_billing`` more are made.
    """

    attempts: int = 5
    rate_limit_attempts: int = 20
    after_possible_billing: int = 1
    first_wait: float = 1.0
    longest_wait: float = 60.0


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """Make it again after ``wait`` seconds; with ``pauses_run``, only once a person has resumed."""

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
    """What follows on attempt *attempt_number* (1 is the first) that ended in *failure*.

    A wrong key, an empty account or an absurd Retry-After (over 120 s) pauses
    the run and keeps the job; a call that never went out is simply due again.
    Otherwise: exponential backoff with jitter, Retry-After where it was said.
    """
    if attempt_number < 1:
        raise ValueError("attempts are counted from 1")
    if failure.pauses_run:
        return RetryDecision(again=True, wait=0.0, pauses_run=True)
    if failure.kind is FailureKind.CANCELLED and not failure.may_have_been_billed:
        return RetryDecision(again=True, wait=0.0)
    if not failure.retryable or attempt_number >= _most_attempts(failure, policy):
        return RetryDecision(again=False, wait=0.0)
    return RetryDecision(again=True, wait=_wait(failure, attempt_number, random, policy))


def _most_attempts(failure: ChatFailure, policy: RetryPolicy) -> int:
    if failure.may_have_been_billed:
        return 1 + policy.after_possible_billing
    if failure.kind is FailureKind.RATE_LIMIT:
        return policy.rate_limit_attempts
    return policy.attempts


def _wait(failure: ChatFailure, attempt_number: int, random: Random, policy: RetryPolicy) -> float:
    """Between half and all of the doubled wait; never less than the endpoint asked for."""
    doubled = policy.first_wait * 2.0 ** min(attempt_number - 1, 20)
    backoff = min(policy.longest_wait, doubled) * (0.5 + 0.5 * random.random())
    return max(backoff, failure.retry_after or 0.0)

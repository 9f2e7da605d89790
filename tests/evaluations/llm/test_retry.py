from __future__ import annotations

from random import Random

import pytest

from evaluations.llm.client import ChatFailure, FailureKind
from evaluations.llm.retry import RetryPolicy, decide

POLICY = RetryPolicy(
    attempts=3, rate_limit_attempts=6, after_possible_billing=1, first_wait=2.0, longest_wait=10.0
)


def failure(kind: str, *, billed: bool = False, after: float | None = None) -> ChatFailure:
    return ChatFailure(FailureKind(kind), retry_after=after, may_have_been_billed=billed)


@pytest.mark.parametrize(
    ("kind", "billed", "attempt", "again"),
    [
        ("connect", False, 1, True),
        ("connect", False, 2, True),
        ("connect", False, 3, False),
        ("server", False, 2, True),
        ("server", False, 3, False),
        ("rate_limit", False, 5, True),
        ("rate_limit", False, 6, False),
        ("timeout", True, 1, True),
        ("timeout", True, 2, False),
        ("interrupted", True, 2, False),
        ("malformed", True, 1, True),
        ("malformed", True, 2, False),
        ("cancelled", True, 1, True),
        ("cancelled", True, 2, False),
        ("cancelled", False, 99, True),
        ("bad_request", False, 1, False),
        ("context_length", False, 1, False),
        ("not_found", False, 1, False),
        ("redirect", False, 1, False),
        ("oversize", True, 1, False),
    ],
)
def test_how_often(kind: str, billed: bool, attempt: int, again: bool) -> None:
    decision = decide(failure(kind, billed=billed), attempt, Random(0), POLICY)
    assert (decision.again, decision.pauses_run) == (again, False)


@pytest.mark.parametrize(
    ("kind", "after"), [("auth", None), ("quota", None), ("rate_limit", 121.0), ("server", 1e6)]
)
def test_a_wall_pauses_the_run_and_keeps_the_job(kind: str, after: float | None) -> None:
    decision = decide(failure(kind, after=after), 99, Random(0), POLICY)
    assert (decision.again, decision.wait, decision.pauses_run) == (True, 0.0, True)


# first_wait 2 s doubled at each attempt, at most 10 s; jitter takes between half and all of it
@pytest.mark.parametrize(
    ("attempt", "low", "high"), [(1, 1.0, 2.0), (2, 2.0, 4.0), (3, 4.0, 8.0), (4, 5.0, 10.0)]
)
def test_backoff_doubles_up_to_a_limit(attempt: int, low: float, high: float) -> None:
    random = Random(7)
    waits = [decide(failure("rate_limit"), attempt, random, POLICY).wait for _ in range(200)]
    assert low <= min(waits) < max(waits) <= high
    assert len(set(waits)) > 100, "jitter spreads the retries"


@pytest.mark.parametrize(("after", "low"), [(7.0, 7.0), (0.0, 1.0), (None, 1.0), (120.0, 120.0)])
def test_retry_after_is_the_least_wait(after: float | None, low: float) -> None:
    wait = decide(failure("rate_limit", after=after), 1, Random(0), POLICY).wait
    assert low <= wait <= max(2.0, low)


def test_a_late_attempt_does_not_overflow() -> None:
    policy = RetryPolicy(attempts=10**6)
    assert decide(failure("server"), 10**5, Random(0), policy).wait <= policy.longest_wait


def test_attempts_are_counted_from_one() -> None:
    with pytest.raises(ValueError, match="from 1"):
        decide(failure("server"), 0, Random(0))

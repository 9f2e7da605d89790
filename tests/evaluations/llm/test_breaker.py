"""The breaker on a clock that the test moves."""

from __future__ import annotations

from random import Random

import pytest

from evaluations.llm.breaker import Breaker
from evaluations.llm.client import ChatFailure, FailureKind

K = FailureKind


def failure(kind: FailureKind) -> ChatFailure:
    billed = kind in (K.MALFORMED, K.TIMEOUT, K.INTERRUPTED)
    return ChatFailure(kind, may_have_been_billed=billed)


def breaker(**options: bool) -> Breaker:
    return Breaker(random=Random(0), **options)


def fail(one: Breaker, keys: range, kind: FailureKind, now: float = 0.0) -> None:
    for key in keys:
        one.sent([key])
        one.failed(key, f"prompt {key}", failure(kind), now)


@pytest.mark.parametrize(
    ("kind", "few"),
    [
        *((kind, 5) for kind in (K.SERVER, K.CONNECT, K.BAD_REQUEST, K.OVERSIZE)),
        *((kind, 3) for kind in (K.MALFORMED, K.TIMEOUT, K.INTERRUPTED)),
    ],
)
def test_a_few_failures_in_a_row_open_it_and_one_probe_goes_through(
    kind: FailureKind, few: int
) -> None:
    one = breaker()
    fail(one, range(few - 1), kind)
    one.answered(100, 0.0)
    fail(one, range(few - 1), kind)
    assert one.capacity(0.0) > 1000, "an answer in between"
    fail(one, range(few - 1, few), kind)
    assert one.is_open
    assert one.cause is not None
    assert one.cause.kind is kind
    assert one.failures == frozenset(range(few))
    assert [one.capacity(now) for now in (0.0, 0.7, 1.0)] == [0, 0, 1]
    one.sent([200])
    assert one.capacity(50.0) == 0, "one at a time"
    one.failed(200, "another prompt", failure(kind), 50.0)
    # the wait has doubled: 1.5 to 2 s
    assert [one.capacity(now) for now in (51.4, 52.0)] == [0, 1]
    assert one.failed_probes == 1
    one.sent([201])
    one.answered(201, 53.0)
    assert not one.is_open
    assert (one.failed_probes, one.failures, one.cause) == (0, frozenset(), None)


def test_an_answer_from_before_allows_a_probe_at_once_and_no_more() -> None:
    one = breaker()
    one.sent([99])
    fail(one, range(5), K.SERVER)
    assert one.capacity(0.1) == 0
    one.answered(99, 0.1)
    assert one.is_open
    assert one.capacity(0.1) == 1


def test_calls_with_one_prompt_are_rejected_for_one_reason() -> None:
    """Twenty repeats of a question that the endpoint refuses say nothing of the others."""
    one = breaker()
    for key in range(20):
        one.failed(key, "the same prompt", failure(K.BAD_REQUEST), 0.0)
    assert not one.is_open


@pytest.mark.parametrize("kind", [K.CONTEXT_LENGTH, K.NO_IMAGES])
def test_a_refusal_of_one_request_is_an_answer(kind: FailureKind) -> None:
    one = breaker()
    for key in range(20):
        fail(one, range(key * 10, key * 10 + 4), K.SERVER)
        one.failed(key * 10 + 9, "", failure(kind), 0.0)
    assert not one.is_open


def test_a_rejected_probe_ends_an_outage_of_another_kind() -> None:
    after_500s = breaker(probing=True)
    fail(after_500s, range(1), K.BAD_REQUEST)
    assert not after_500s.is_open
    after_400s = breaker(probing=True, rejected=True)
    fail(after_400s, range(1), K.BAD_REQUEST)
    assert after_400s.is_open
    assert after_400s.failed_probes == 1


def test_other_failures_neither_open_nor_close_it() -> None:
    one = breaker(probing=True)
    for key, kind in enumerate((K.RATE_LIMIT, K.CANCELLED, K.AUTH)):
        now = 10.0 * key
        assert one.capacity(now) == 1
        fail(one, range(key, key + 1), kind, now)
        assert one.is_open
        assert [one.capacity(now), one.capacity(now + 1.0)] == [0, 1]
    assert one.failed_probes == 0


def test_an_hour_of_failures_costs_few_calls() -> None:
    one, now, calls = breaker(), 0.0, 0
    while now < 3600.0:
        for _ in range(min(64, one.capacity(now))):
            calls += 1
            fail(one, range(calls, calls + 1), K.MALFORMED, now)
        now += 0.5
    # 64 in flight at first, then probes after 1, 2, 4 ... 32 s, and every 45 to 60.5 s
    assert 64 + 6 + 3537 / 60.5 - 1 <= calls <= 64 + 6 + 3537 / 45 + 1


def test_nothing_is_sent_while_another_worker_tries_the_endpoint() -> None:
    one = breaker()
    fail(one, range(2), K.BAD_REQUEST)
    one.tried_elsewhere(True)
    assert (one.is_open, one.cause, one.capacity(1e9)) == (True, None, 0)
    one.failed(2, "in flight before", failure(K.BAD_REQUEST), 0.0)
    one.answered(3, 0.0)
    assert one.failures == frozenset(range(3)), "part of the outage"
    assert one.capacity(1e9) == 0
    one.tried_elsewhere(False)
    assert (one.is_open, one.failures) == (False, frozenset())
    assert one.capacity(0.0) > 1000

"""The shared slow-down on a clock that the test moves."""

from __future__ import annotations

from random import Random

import pytest

from evaluations.llm.rate_limit import SharedSlowdown


def gate(in_flight: int = 8) -> SharedSlowdown:
    return SharedSlowdown(in_flight, random=Random(0), first_wait=1.0, longest_wait=30.0)


def test_without_trouble_all_places_are_open() -> None:
    slowdown = gate(3)
    assert slowdown.capacity(0.0) == 3
    tickets = [slowdown.sent() for _ in range(3)]
    assert slowdown.capacity(0.0) == 0
    slowdown.done(tickets[0], answered=True)
    assert slowdown.capacity(0.0) == 1


def test_one_refusal_closes_the_gate_for_all_and_then_lets_one_through() -> None:
    slowdown = gate()
    tickets = [slowdown.sent() for _ in range(8)]
    slowdown.slowed(tickets[0], now=10.0, retry_after=5.0)
    for ticket in tickets[1:]:
        slowdown.done(ticket, answered=True)
    assert slowdown.capacity(14.9) == 0
    assert slowdown.seconds_until_open(14.0) == pytest.approx(1.0)
    assert slowdown.capacity(15.0) == 1
    assert slowdown.seconds_until_open(15.0) == 0.0


def test_answers_double_the_places_to_half_and_then_add_one_a_round() -> None:
    slowdown = gate()
    slowdown.slowed(slowdown.sent(), now=0.0, retry_after=None)
    capacities = []
    for _ in range(6):
        capacity = slowdown.capacity(100.0)
        capacities.append(capacity)
        for ticket in [slowdown.sent() for _ in range(capacity)]:
            slowdown.done(ticket, answered=True)
    # 1, 2, 4 by slow start up to the threshold 8 / 2; then about one more a round
    assert capacities[:4] == [1, 2, 4, 4]
    assert capacities[-1] in {5, 6}


def test_refusals_of_one_storm_count_once() -> None:
    slowdown = gate()
    tickets = [slowdown.sent() for _ in range(8)]
    for ticket in tickets:
        slowdown.slowed(ticket, now=0.0, retry_after=None)
    assert slowdown.seconds_until_open(0.0) <= 1.0


def test_a_late_refusal_may_lengthen_the_wait() -> None:
    slowdown = gate()
    first, second = slowdown.sent(), slowdown.sent()
    slowdown.slowed(first, now=0.0, retry_after=None)
    slowdown.slowed(second, now=0.5, retry_after=20.0)
    assert slowdown.seconds_until_open(0.5) == pytest.approx(20.0)


def test_an_answer_that_was_already_on_its_way_does_not_open_the_gate() -> None:
    slowdown = gate()
    first, second = slowdown.sent(), slowdown.sent()
    slowdown.slowed(first, now=0.0, retry_after=5.0)
    slowdown.done(second, answered=True)
    assert slowdown.capacity(1.0) == 0
    assert slowdown.capacity(6.0) == 1


def test_a_failure_of_another_kind_neither_opens_nor_closes() -> None:
    slowdown = gate()
    slowdown.slowed(slowdown.sent(), now=0.0, retry_after=None)
    slowdown.done(slowdown.sent(), answered=False)
    assert slowdown.capacity(100.0) == 1


@pytest.mark.parametrize("retry_after", [None, 0.0, 1.0])
def test_a_storm_of_a_minute_costs_few_requests(retry_after: float | None) -> None:
    slowdown, now, requests = gate(8), 0.0, 0
    while now < 60.0:
        for ticket in [slowdown.sent() for _ in range(slowdown.capacity(now))]:
            requests += 1
            slowdown.slowed(ticket, now, retry_after)
        now += 0.05
    # 8 at first, then single probes after about 1, 2, 4, 8, 16 and 30 s
    assert 8 < requests <= 40
    assert slowdown.seconds_until_open(60.0) <= 30.0


def test_after_a_long_storm_the_way_back_is_short() -> None:
    slowdown = gate(8)
    for minute in range(5):
        slowdown.slowed(slowdown.sent(), now=60.0 * minute, retry_after=None)
    for _ in range(3):
        slowdown.done(slowdown.sent(), answered=True)
    assert slowdown.capacity(1000.0) == 4


def test_at_least_one_place() -> None:
    with pytest.raises(ValueError, match="at least one"):
        gate(0)

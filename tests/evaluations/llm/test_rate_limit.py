"""The shared slow-down on a clock that the test moves."""

from __future__ import annotations

from random import Random

import pytest

from evaluations.llm.rate_limit import SharedSlowdown, Ticket


def gate(in_flight: int = 8) -> SharedSlowdown:
    return SharedSlowdown(in_flight, random=Random(0), first_wait=1.0, longest_wait=30.0)


def test_without_trouble_all_places_are_open() -> None:
    slowdown = gate(3)
    assert slowdown.capacity(0.0) == 3
    tickets = [slowdown.sent() for _ in range(3)]
    assert slowdown.capacity(0.0) == 0
    slowdown.done(tickets[0], answered=True)
    assert slowdown.capacity(0.0) == 1


def test_a_refusal_halves_the_places_once_a_round_and_closes_if_asked() -> None:
    slowdown = gate()
    tickets = [slowdown.sent() for _ in range(8)]
    slowdown.slowed(tickets[0], now=10.0, retry_after=5.0)
    slowdown.slowed(tickets[1], now=10.0, retry_after=None)
    for ticket in tickets[2:]:
        slowdown.done(ticket, answered=True)
    assert slowdown.capacity(14.9) == 0
    assert slowdown.seconds_until_open(14.0) == pytest.approx(1.0)
    assert slowdown.capacity(15.0) == 4
    assert slowdown.seconds_until_open(15.0) == 0.0
    assert not slowdown.refuses_all


@pytest.mark.parametrize("latency", [1, 40])
def test_random_refusals_leave_a_quarter_of_the_places(latency: int) -> None:
    """30 % of the calls get a 429 at once, the others an answer after *latency* ticks.

    Counted in calls: an endpoint that always has 64 in flight answers 64 calls per latency.
    """
    slowdown, random = gate(64), Random(3)
    ends: list[tuple[int, Ticket]] = []
    answered = refused = 0
    most = 60 * latency
    for tick in range(most):
        # Ten rounds a tick: what was refused at once is replaced at once.
        for ticket in [one for end, one in ends if end == tick]:
            answered += 1
            slowdown.done(ticket, answered=True)
        ends = [(end, one) for end, one in ends if end > tick]
        for _round in range(10):
            for ticket in [slowdown.sent() for _ in range(slowdown.capacity(float(tick)))]:
                if random.random() < 0.3:
                    refused += 1
                    slowdown.slowed(ticket, float(tick), None)
                else:
                    ends.append((tick + latency, ticket))
        assert not slowdown.refuses_all
    assert answered >= 0.2 * 64 * most / latency, "at least a fifth of the calls without refusals"
    assert refused / (answered + refused + len(ends)) == pytest.approx(0.3, abs=0.05)


def test_a_limit_in_flight_is_found() -> None:
    """64 are allowed and the endpoint takes 4: the refused calls stay few beside the answers."""
    slowdown, now, answered, refused = gate(64), 0.0, 0, 0
    taken: list[tuple[float, Ticket]] = []
    while now < 300.0:
        for one in [one for one in taken if one[0] <= now]:
            taken.remove(one)
            answered += 1
            slowdown.done(one[1], answered=True)
        for ticket in [slowdown.sent() for _ in range(slowdown.capacity(now))]:
            if len(taken) < 4:
                taken.append((now + 1.0, ticket))
            else:
                refused += 1
                slowdown.slowed(ticket, now, None)
        now += 0.05
    # 4 in flight for a second each are 1,200 answers in 300 s.
    assert answered > 600
    assert refused < answered


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
    assert slowdown.capacity(4.9) == 0
    assert slowdown.capacity(5.0) == 4


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

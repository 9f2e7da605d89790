"""Slow down all requests to an endpoint together after a 429.

The rule is that of TCP congestion control (AIMD). A 429 halves the number in flight, once per round
and down to a quarter of the most: an endpoint that refuses some requests at random, however few
there are, must not end at one at a time. While answers arrive, the number grows by one per round.

If most of what was in flight is refused and nothing is answered in between, the endpoint refuses
everything: then nothing is sent until a wait is over, and one request is sent as a probe. After its
answer, the number doubles up to half of what it was, and then grows by one per round.

A state machine without asyncio; the caller passes the time. It belongs to one event loop and is not
thread-safe.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

# A part of the most in flight that random refusals leave: a quarter.
FLOOR = 4
# Everything is refused if, without an answer, so many times more requests were refused than are
# still in flight.
REFUSED = 2


@dataclass(frozen=True, slots=True)
class Ticket:
    """A request that was sent. ``era`` counts the slowdowns before it was sent."""

    era: int


class SharedSlowdown:
    """Limits how many requests may be in flight.

    ``in_flight`` is the limit at any time, ``first`` the limit at the beginning (the same by
    default); waits are in seconds. ``random`` varies the waits, so that several processes do not
    start again at the same time.
    """

    def __init__(
        self,
        in_flight: int,
        *,
        random: Random,
        first: int | None = None,
        first_wait: float = 1.0,
        longest_wait: float = 30.0,
    ) -> None:
        if in_flight < 1:
            raise ValueError("at least one request must be allowed in flight")
        self._most = in_flight
        self._random = random
        self._first_wait = first_wait
        self._longest_wait = longest_wait
        self._floor = max(1.0, in_flight / FLOOR)
        self._allowed = float(first or in_flight)
        self._threshold = float(in_flight)
        self._closed_until = float("-inf")
        self._strikes = 0
        self._refused = 0
        self._before = self._allowed
        self._era = 0
        self._in_flight = 0

    @property
    def refuses_all(self) -> bool:
        """Whether requests were refused, and none was answered since."""
        return self._strikes > 0

    def capacity(self, now: float) -> int:
        """Return how many requests may be sent at *now*, 0 or more."""
        if now < self._closed_until:
            return 0
        return max(0, int(self._allowed) - self._in_flight)

    def seconds_until_open(self, now: float) -> float:
        """Return the seconds until requests may be sent; 0 if they may be sent now."""
        return max(0.0, self._closed_until - now)

    def sent(self) -> Ticket:
        """Count a request as sent. Pass the ticket to ``done`` or ``slowed`` when it has ended."""
        self._in_flight += 1
        return Ticket(self._era)

    def done(self, ticket: Ticket, *, answered: bool) -> None:
        """Count a request as ended; *answered* means that the endpoint accepts requests."""
        self._in_flight -= 1
        if not answered:
            return
        self._refused = 0
        if ticket.era != self._era:
            return
        self._strikes = 0
        step = 1.0 if self._allowed < self._threshold else 1.0 / self._allowed
        self._allowed = min(float(self._most), self._allowed + step)

    def slowed(self, ticket: Ticket, now: float, retry_after: float | None) -> None:
        """Count a request as ended by a 429; wait if *retry_after* asks for it, in seconds.

        Requests that were already in flight at a slowdown may lengthen the wait, but do not slow
        down once more.
        """
        self._in_flight -= 1
        if not self._refused:
            self._before = self._allowed
        self._refused += 1
        wait = retry_after or 0.0
        new = ticket.era == self._era
        if self._refused >= REFUSED * self._in_flight and (new or not self._strikes):
            wait = max(wait, self._probe_after())
        elif new:
            self._allowed = min(self._allowed, max(self._floor, self._allowed / 2))
            self._threshold = self._allowed
            self._era += 1
        self._closed_until = max(self._closed_until, now + wait)

    def _probe_after(self) -> float:
        """Allow one probe only, and return the wait before it in seconds."""
        if not self._strikes:
            self._threshold = max(1.0, self._before / 2)
        self._allowed = 1.0
        self._era += 1
        self._strikes += 1
        doubled = self._first_wait * 2.0 ** min(self._strikes - 1, 20)
        return min(self._longest_wait, doubled) * (0.75 + 0.25 * self._random.random())

"""Slow down all requests to an endpoint together after a 429.

The rule is that of TCP congestion control: after a 429 nothing is sent until the wait is over, then
one request is sent as a probe. While answers arrive, the number in flight doubles up to half of
what it was, and then grows by one per round.

A state machine without asyncio; the caller passes the time. It belongs to one event loop and is not
thread-safe.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Ticket:
    """A request that was sent. ``era`` counts the 429s before it was sent."""

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
        self._allowed = float(first or in_flight)
        self._threshold = float(in_flight)
        self._closed_until = float("-inf")
        self._strikes = 0
        self._era = 0
        self._in_flight = 0

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
        if not answered or ticket.era != self._era:
            return
        self._strikes = 0
        step = 1.0 if self._allowed < self._threshold else 1.0 / self._allowed
        self._allowed = min(float(self._most), self._allowed + step)

    def slowed(self, ticket: Ticket, now: float, retry_after: float | None) -> None:
        """Count a request as ended by a 429 and wait, *retry_after* seconds or more.

        Requests that were already in flight at the first 429 may lengthen the wait, but do not
        double it.
        """
        self._in_flight -= 1
        wait = retry_after or 0.0
        if ticket.era == self._era:
            if self._strikes == 0:
                self._threshold = max(1.0, self._allowed / 2)
            self._allowed = 1.0
            self._era += 1
            self._strikes += 1
            doubled = self._first_wait * 2.0 ** min(self._strikes - 1, 20)
            varied = min(self._longest_wait, doubled) * (0.75 + 0.25 * self._random.random())
            wait = max(wait, varied)
        self._closed_until = max(self._closed_until, now + wait)

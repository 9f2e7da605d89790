"""One slow-down for all requests to an endpoint: a 429 to one is a 429 to all.

Without it each request would find out for itself, and a storm of 429s would
cost as many requests as there are places. The rule is TCP's: after a 429
nobody sends until the wait is over, then one request goes ahead as a probe;
while answers come in, the number in flight doubles up to half of what it was
and then grows by one a round.

A state machine on a clock that the caller reads; no asyncio in it. Belongs to
one event loop: it is not thread-safe.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Ticket:
    """Proof that a request went out, and in which era: before or after the last 429."""

    era: int


class SharedSlowdown:
    """How many more requests may go out now.

    ``in_flight`` is the most at any time, ``first`` the most at the beginning
    (as many by default), waits are in seconds. ``random`` spreads the waits so
    that several processes do not come back together.
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

    def room(self, now: float) -> int:
        """How many requests may be sent at *now*, 0 or more."""
        if now < self._closed_until:
            return 0
        return max(0, int(self._allowed) - self._in_flight)

    def seconds_until_open(self, now: float) -> float:
        """How long nobody may send, 0 where the gate is open."""
        return max(0.0, self._closed_until - now)

    def sent(self) -> Ticket:
        """A request goes out; hand the ticket back with what became of it."""
        self._in_flight += 1
        return Ticket(self._era)

    def done(self, ticket: Ticket, *, answered: bool) -> None:
        """A request is over; *answered* says that the endpoint is willing."""
        self._in_flight -= 1
        if not answered or ticket.era != self._era:
            return
        self._strikes = 0
        step = 1.0 if self._allowed < self._threshold else 1.0 / self._allowed
        self._allowed = min(float(self._most), self._allowed + step)

    def slowed(self, ticket: Ticket, now: float, retry_after: float | None) -> None:
        """A request was told to slow down.

        Requests that were already on their way when the first of them was told
        belong to the same storm: they may lengthen the wait, not double it.
        """
        self._in_flight -= 1
        asked = retry_after or 0.0
        if ticket.era == self._era:
            asked = max(asked, self._strike())
        self._closed_until = max(self._closed_until, now + asked)

    def _strike(self) -> float:
        """Fall back to one probe; the seconds to wait before it."""
        if self._strikes == 0:
            self._threshold = max(1.0, self._allowed / 2)
        self._allowed = 1.0
        self._era += 1
        self._strikes += 1
        doubled = self._first_wait * 2.0 ** min(self._strikes - 1, 20)
        return min(self._longest_wait, doubled) * (0.75 + 0.25 * self._random.random())

"""Share the calls that an account may have in flight, and its limits per minute, among workers.

Values in, values out; times are those of the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

# If there are fewer permits than workers, they take turns of this length.
TURN = timedelta(seconds=5)
# The part of a minute's limit that may be used at once after a pause.
BURST = 0.1


def is_over(closed_until: datetime | None, sent: datetime, now: datetime) -> bool:
    """Return whether the wait that a call was asked for is over at *now*, or was ended by a person.

    This is so if the call was *sent* before: it knows no more than the calls that closed the
    account until *closed_until*.
    """
    return closed_until is not None and sent <= closed_until <= now


@dataclass(frozen=True, slots=True)
class Holder:
    """A worker that holds *permits* for *endpoint* and could use *wanted* of them."""

    name: str
    endpoint: int
    permits: int
    wanted: int


@dataclass(frozen=True, slots=True)
class InFlightLimits:
    """The most calls in flight: of the account (None: no limit), and of each endpoint."""

    account: int | None
    endpoints: Mapping[int, int]


def fair_shares(wants: Mapping[str, int], limit: int, turn: int = 0) -> dict[str, int]:
    """Divide *limit* max-min fairly: nobody gets more than they want, the others the same each.

    What cannot be divided evenly goes to those whose *turn* it is. The sum is at most *limit*.
    """
    shares = dict.fromkeys(wants, 0)
    still = sorted(name for name, want in wants.items() if want > 0)
    left = limit
    while still and left > 0:
        each = left // len(still)
        if each == 0:
            first = turn % len(still)
            for name in (still[first:] + still[:first])[:left]:
                shares[name] += 1
            break
        for name in still:
            more = min(each, wants[name] - shares[name])
            shares[name] += more
            left -= more
        still = [name for name in still if shares[name] < wants[name]]
    return shares


def target_of(name: str, holders: Sequence[Holder], limits: InFlightLimits, now: datetime) -> int:
    """Return how many permits the holder *name* should have at *now*, by fair shares."""
    turn = int(now.timestamp() // TURN.total_seconds())
    wants: dict[str, int] = {}
    for endpoint in {one.endpoint for one in holders}:
        own = {one.name: one.wanted for one in holders if one.endpoint == endpoint}
        wants |= fair_shares(own, limits.endpoints[endpoint], turn)
    if limits.account is not None:
        wants = fair_shares(wants, limits.account, turn)
    return wants[name]


def most_free(name: str, holders: Sequence[Holder], limits: InFlightLimits) -> int:
    """Return how many permits the others leave to the holder *name*, 0 or more."""
    endpoint = next(one.endpoint for one in holders if one.name == name)
    others = [one for one in holders if one.name != name]
    beside = sum(one.permits for one in others if one.endpoint == endpoint)
    free = limits.endpoints[endpoint] - beside
    if limits.account is not None:
        free = min(free, limits.account - sum(one.permits for one in others))
    return max(0, free)


@dataclass(frozen=True, slots=True)
class Bucket:
    """What is left of a limit per minute at a time; below 0 if calls took more than estimated.

    In any minute at most *per_minute* are given out: a tenth at once, the rest evenly.
    """

    per_minute: int
    left: float
    at: datetime

    @property
    def capacity(self) -> float:
        """The most that may be used at once."""
        return max(1.0, self.per_minute * BURST)

    def refilled(self, now: datetime) -> Bucket:
        """Return the bucket at *now*."""
        seconds = max(0.0, (now - self.at).total_seconds())
        rate = max(self.per_minute - self.capacity, 1.0) / 60
        return replace(self, left=min(self.capacity, self.left + seconds * rate), at=now)


@dataclass(frozen=True, slots=True)
class Reported:
    """What the provider said is left until a time; None if it did not."""

    left: float | None = None
    until: datetime | None = None

    def at(self, now: datetime) -> Reported:
        """Return what holds at *now*: nothing after its end."""
        return self if self.until is not None and now < self.until else Reported()


def calls_left(
    wanted: int,
    requests: Sequence[float | None],
    tokens: Sequence[float | None],
    tokens_a_call: float,
) -> int:
    """Return how many of *wanted* calls fit into what is left of *requests* and *tokens*.

    A call is estimated at *tokens_a_call*; while any tokens are left, one call fits.
    """
    fit = float(wanted)
    for left in requests:
        if left is not None:
            fit = min(fit, left)
    for left in tokens:
        if left is not None:
            fit = min(fit, max(1.0, left / max(1.0, tokens_a_call)) if left > 0 else 0.0)
    return max(0, int(fit + 1e-9))

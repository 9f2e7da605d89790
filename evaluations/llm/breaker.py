"""Notice an outage of an endpoint, and try it with one call at a time until it answers again.

A circuit breaker: it opens after a few failures without an answer in between. While it is open, one
probe is sent after a wait, which doubles with each probe that fails; an answer to a probe closes
it. While another worker tries the endpoint (``tried_elsewhere``), no call is sent at all.

A state machine without asyncio, files or a database; the caller passes the time in seconds. It is
not thread-safe.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from evaluations.llm.client import ChatFailure, FailureKind, Key

K = FailureKind
NOT_BILLED = frozenset({K.CONNECT, K.SERVER})
POSSIBLY_BILLED = frozenset({K.MALFORMED, K.TIMEOUT, K.INTERRUPTED})
# Each is the failure of one call, unless calls with different prompts end so.
OF_THE_CALL = frozenset({K.BAD_REQUEST, K.OVERSIZE})
OUTAGE = NOT_BILLED | POSSIBLY_BILLED | OF_THE_CALL
# The endpoint has read the request, and refuses only this one.
REFUSALS = frozenset({K.CONTEXT_LENGTH, K.NO_IMAGES})


@dataclass(frozen=True, slots=True)
class BreakerLimits:
    """When a breaker opens, and how long it waits between two probes, in seconds.

    ``few`` failures without an answer open it; ``few_billed`` are enough if they may have been
    billed.
    """

    few: int = 5
    few_billed: int = 3
    first_wait: float = 1.0
    longest_wait: float = 60.0


STANDARD = BreakerLimits()


class Breaker:
    """Limits calls to one probe at a time after failures in a row.

    ``cause`` is the failure that opened it, or that of the last probe; ``failed_probes`` counts the
    probes in a row that failed. ``elsewhere`` says that another worker tries the endpoint. With
    *probing* it begins open, with a probe at once; *rejected* says that calls with different
    prompts were rejected before (``BAD_REQUEST``).
    """

    def __init__(
        self,
        *,
        random: Random,
        limits: BreakerLimits = STANDARD,
        probing: bool = False,
        rejected: bool = False,
    ) -> None:
        self.is_open = probing
        self.cause: ChatFailure | None = None
        self.failed_probes = 0
        self.elsewhere = False
        self._rejected = rejected
        self._limits = limits
        self._random = random
        self._next_probe = float("-inf")
        self._probes: set[Key] = set()
        self._row: dict[Key, Hashable] = {}
        self._billed_in_row = 0

    @property
    def failures(self) -> frozenset[Key]:
        """The calls that failed since the last answer; those of an outage if it is open."""
        return frozenset(self._row)

    def capacity(self, now: float) -> int:
        """Return how many calls may be sent at *now*: one or none while the breaker is open."""
        if self.elsewhere:
            return 0
        if not self.is_open:
            return sys.maxsize
        return 1 if not self._probes and now >= self._next_probe else 0

    @contextmanager
    def undone_by_an_error(self) -> Iterator[None]:
        """Forget what is noted in the block if it raises: what it stored is rolled back too."""
        before = {**vars(self), "_probes": set(self._probes), "_row": dict(self._row)}
        try:
            yield
        except BaseException:
            vars(self).update(before)
            raise

    def tried_elsewhere(self, tried: bool) -> None:
        """Note whether another worker tries the endpoint now.

        This opens the breaker, so that calls that fail meanwhile are part of the outage. It closes
        when the other worker has an answer.
        """
        if tried != self.elsewhere:
            if not tried:
                self._close()
            self._probes.clear()
            self.is_open = self.elsewhere = tried

    def take_over(self) -> None:
        """Try the endpoint with single calls, because the worker that did so is lost."""
        self.elsewhere, self.is_open = False, True
        self._probes.clear()

    def sent(self, keys: Iterable[Key]) -> None:
        """Note the calls *keys* as sent; while the breaker is open they are probes."""
        if self.is_open:
            self._probes.update(keys)

    def answered(self, key: Key, now: float) -> None:
        """Note an answer to the call *key*.

        An answer to a call from before the outage does not close the breaker, but allows a probe
        at once.
        """
        if not self.is_open or key in self._probes:
            self._close()
        elif not self._probes:
            self._next_probe = now

    def failed(self, key: Key, prompt: Hashable, failure: ChatFailure, now: float) -> None:
        """Note that the call *key* with *prompt* ended in *failure* at *now*."""
        if failure.kind in REFUSALS:
            self.answered(key, now)
            return
        was_probe = key in self._probes
        self._probes.discard(key)
        if failure.kind not in OUTAGE:
            if was_probe:
                self._next_probe = now + self._limits.first_wait
            return
        rejects = failure.kind is K.BAD_REQUEST
        if self.is_open and was_probe and rejects and not self._rejected:
            self._close()  # it reads requests again
        # Several calls with one prompt, such as repeats, are rejected for the same reason.
        self._row[key] = prompt if failure.kind in OF_THE_CALL else key
        self._billed_in_row += failure.kind in POSSIBLY_BILLED
        if not self.is_open:
            self._open_after_a_few(failure, now)
        elif was_probe:
            self.cause = failure
            self.failed_probes += 1
            self._next_probe = now + self._wait()

    def _open_after_a_few(self, failure: ChatFailure, now: float) -> None:
        enough = len(set(self._row.values())) >= self._limits.few
        if enough or self._billed_in_row >= self._limits.few_billed:
            self.is_open = True
            self.cause = failure
            self._rejected = failure.kind is K.BAD_REQUEST
            self._next_probe = now + self._wait()

    def _close(self) -> None:
        self.is_open = self._rejected = False
        self.cause = None
        self.failed_probes = self._billed_in_row = 0
        self._probes.clear()
        self._row.clear()

    def _wait(self) -> float:
        doubled = self._limits.first_wait * 2.0 ** min(self.failed_probes, 20)
        longest = min(self._limits.longest_wait, doubled)
        return longest * (0.75 + 0.25 * self._random.random())

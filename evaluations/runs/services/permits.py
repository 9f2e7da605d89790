"""Permits: how many calls a worker may make now, within the limits of the provider account.

All runs, workers and machines that call an account share its limits in the database. A worker
leases permits in a block and uses them for one call after the other, so that most calls need no
statement. Those of a killed worker come back when its lease ends. A change is one conditional
UPDATE of the account's ``version``, in the transaction that changes the lease; times are those of
the database.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from evaluations.llm.client import CallResult, ChatFailure
from evaluations.llm.rate_headers import RateReport
from evaluations.models import Endpoint, PermitLease, ProviderAccount
from evaluations.runs.rules.permits import (
    Bucket,
    Holder,
    InFlightLimits,
    Reported,
    calls_left,
    is_over,
    most_free,
    target_of,
)
from evaluations.runs.services.worker_names import ended_workers
from gradeapp.common.database_clock import DatabaseClock

# A lease that nobody renews ends after this time: a worker renews it many times in it.
LEASE = timedelta(seconds=60)
# Calls of a process that has ended are no longer in flight at the endpoint after this time.
AFTER_THE_END = timedelta(seconds=1)
# The shares are looked at so often.
LOOK_EVERY = 0.5
# A call whose tokens are not known yet is estimated at the most of its reply and a short prompt.
SHORT_PROMPT = 500
# So many minutes' tokens are believed of one reply.
MOST_MINUTES = 4
TRIES = 20


def account_of(endpoint: Endpoint) -> ProviderAccount:
    """Return the account of *endpoint*; one without gets an account of its own."""
    if endpoint.account_id is None:
        taken = ProviderAccount.objects.filter(name=endpoint.name).exists()
        name = f"{endpoint.name[:40]} ({endpoint.pk})" if taken else endpoint.name
        with transaction.atomic():
            made, _new = ProviderAccount.objects.get_or_create(name=name)
            Endpoint.objects.filter(pk=endpoint.pk, account=None).update(account=made)
        endpoint.refresh_from_db(fields=["account"])
    account = endpoint.account
    assert account is not None
    return account


@dataclass
class _State:
    """The account and all its leases, as one transaction saw them, and the present time."""

    account: ProviderAccount
    leases: list[PermitLease]
    now: datetime


class Permits:
    """The permits of one worker for one endpoint, at most *most*. Used in one thread.

    ``in_flight`` below is the number of the worker's calls in flight.
    """

    def __init__(self, endpoint: Endpoint, holder: str, most: int) -> None:
        self.endpoint, self.holder, self.most = endpoint, holder, most
        self.account = account_of(endpoint)
        self.clock = DatabaseClock()
        self.held = 0  # leased in the database
        self.target = 0  # the worker's share of the limits
        self.looked_at = float("-inf")
        # There was less to do than might be done: the others may have all permits but one.
        self.idle = False
        self.tokens_a_call = float(endpoint.max_tokens + SHORT_PROMPT)
        # What was taken of the limit of tokens for each call in flight, the oldest first.
        self.estimates: deque[float] = deque()
        self.report: tuple[RateReport, datetime] | None = None
        # What calls were asked to wait: when they were sent, and until when to wait.
        self.asked: list[tuple[datetime, datetime]] = []

    def take(self, n: int, in_flight: int) -> int:
        """Return how many of *n* further calls may be made now."""
        self.keep(in_flight)
        free = max(0, min(n, min(self.held, self.target) - in_flight))
        return self._take_from_limits(free) if free and self._has_other_limits() else free

    def one_fits(self) -> bool:
        """Return whether one call may be made now; none is in flight, and none is taken."""
        self.keep(0)
        if min(self.held, self.target) < 1:
            return False
        if not self._has_other_limits():
            return True
        self.account = ProviderAccount.objects.get(pk=self.account.pk)
        return bool(self._fit(self.account, 1, self.clock()))

    def keep(self, in_flight: int) -> None:
        """Renew the lease, and give back what others need; call it at least once a second."""
        if time.monotonic() - self.looked_at >= LOOK_EVERY:
            self._look(in_flight + 1 if self.idle else self.most, in_flight)

    def used(self, taken: int, claimed: int) -> None:
        """Say that *claimed* calls are made of those that were *taken*."""
        if claimed < taken and self._has_other_limits():
            unused = taken - claimed
            tokens = sum(self.estimates.pop() for _call in range(min(unused, len(self.estimates))))
            self._change_limits(requests=unused, tokens=tokens)
        if self.idle and claimed == taken > 0:
            self.looked_at = float("-inf")
        self.idle = claimed < taken if taken else self.idle

    def note(
        self,
        results: Iterable[CallResult],
        failed: Iterable[tuple[ChatFailure, datetime]] = (),
    ) -> None:
        """Learn from *results*: tokens that were used, what is left, and for how long to wait.

        *failed* are the failures among them, with the time at which each call was sent.
        """
        correction = 0.0
        for result in results:
            reply = result.reply
            estimate = self.estimates.popleft() if self.estimates else None
            if reply is not None:
                used = self._believed((reply.prompt_tokens or 0) + (reply.completion_tokens or 0))
                if used:
                    correction += estimate - used if estimate is not None else 0.0
                    self.tokens_a_call += (used - self.tokens_a_call) / 20
                if reply.rate is not None and (self._is_little(reply.rate) or self._has_reports()):
                    self.report = (reply.rate, self.clock())
        for failure, sent in failed:
            if failure.slows_down and failure.retry_after:
                until = self.clock() + timedelta(seconds=failure.retry_after)
                self.asked.append((sent, until))
        if self.report is not None or self.asked or self._has_limits_a_minute():
            self._change_limits(tokens=correction)

    def _believed(self, tokens: int) -> int:
        """Return *tokens* of a reply: one alone does not stop the account for many minutes."""
        a_minute = self.account.tokens_per_minute
        return min(tokens, MOST_MINUTES * a_minute) if a_minute else tokens

    def _is_little(self, rate: RateReport) -> bool:
        """Whether so little is left that it may not be enough until the next report."""
        calls = 2 * self.endpoint.max_in_flight
        few = rate.requests is not None and rate.requests < calls
        return few or (rate.tokens is not None and rate.tokens < calls * self.tokens_a_call)

    def release(self) -> None:
        """Give back all permits: no call is in flight any more."""
        with transaction.atomic():
            PermitLease.objects.filter(holder=self.holder).delete()
        self.held = self.target = 0

    def _has_limits_a_minute(self) -> bool:
        account = self.account
        return bool(account.requests_per_minute or account.tokens_per_minute)

    def _has_other_limits(self) -> bool:
        """Whether calls are limited by more than their number in flight."""
        account = self.account
        closed = account.closed_until is not None and account.closed_until > self.clock()
        return bool(self._has_limits_a_minute() or closed or self._has_reports())

    def _has_reports(self) -> bool:
        """Whether the provider has said what is left; what it says next takes its place."""
        return bool(self.account.reported_until or self.account.reported_tokens_until)

    # ---- permits in flight ----

    def _look(self, wanted: int, in_flight: int) -> None:
        """Lease as many permits as the worker wants and may have, and give back the others."""
        self.looked_at = time.monotonic()
        for _try in range(TRIES):
            state = self._read()
            own = self._own(state)
            own.wanted = min(wanted, self.most)
            self._change_permits(state, own, in_flight)
            if self._store(state, own):
                return

    def _read(self) -> _State:
        # The account first: whoever changes a lease after this raises the version.
        account = ProviderAccount.objects.get(pk=self.account.pk)
        leases = PermitLease.objects.filter(account=account).select_related("endpoint")
        return _State(account, list(leases.order_by("pk")), self.clock())

    def _own(self, state: _State) -> PermitLease:
        for lease in state.leases:
            if lease.holder == self.holder:
                return lease
        own = PermitLease(
            account=state.account,
            endpoint=self.endpoint,
            holder=self.holder,
            until=state.now,
        )
        state.leases.append(own)
        return own

    def _change_permits(self, state: _State, own: PermitLease, in_flight: int) -> None:
        live = [one for one in state.leases if one is own or one.until > state.now]
        holders = [Holder(one.holder, one.endpoint_id, one.permits, one.wanted) for one in live]
        limits = InFlightLimits(
            state.account.max_in_flight,
            {one.endpoint_id: one.endpoint.max_in_flight for one in live},
        )
        self.target = target_of(self.holder, holders, limits, state.now)
        free = most_free(self.holder, holders, limits)
        # Calls in flight keep their permits, also if the share has become smaller.
        own.permits = max(in_flight, min(self.target, free))

    def _store(self, state: _State, own: PermitLease) -> bool:
        """Store the lease unless another worker changed something; return whether it did."""
        others = [one for one in state.leases if one is not own]
        ended = [one.pk for one in others if one.until <= state.now]
        with transaction.atomic():
            row = ProviderAccount.objects.filter(pk=self.account.pk, version=state.account.version)
            if not row.update(version=state.account.version + 1):
                return False
            PermitLease.objects.filter(pk__in=ended).delete()
            own.until = state.now + LEASE
            own.save()
            dead = ended_workers(one.holder for one in others)
            soon = state.now + AFTER_THE_END
            PermitLease.objects.filter(holder__in=dead, until__gt=soon).update(until=soon)
        self.account, self.held = state.account, own.permits
        return True

    # ---- limits per minute, what the provider reports, and waits ----

    def _take_from_limits(self, n: int) -> int:
        """Take up to *n* calls from the limits per minute; return how many there were."""
        for _try in range(TRIES):
            now = self.clock()
            account = ProviderAccount.objects.get(pk=self.account.pk)
            fit = self._fit(account, n, now)
            if not fit:
                self.account = account
                return 0
            if self._update_limits(account, now, requests=-fit, tokens=-fit * self.tokens_a_call):
                self.estimates.extend([self.tokens_a_call] * fit)
                return fit
        return 0

    def _fit(self, account: ProviderAccount, n: int, now: datetime) -> int:
        if account.closed_until is not None and now < account.closed_until:
            return 0
        requests, tokens = _buckets(account, now)
        asked, asked_tokens = _reported(account, now)
        return calls_left(
            n,
            (requests.left if requests else None, asked.left),
            (tokens.left if tokens else None, asked_tokens.left),
            self.tokens_a_call,
        )

    def _change_limits(self, *, requests: float = 0.0, tokens: float = 0.0) -> None:
        """Give back *requests* and *tokens*, and store what the provider reported."""
        for _try in range(TRIES):
            account = ProviderAccount.objects.get(pk=self.account.pk)
            if self._update_limits(account, self.clock(), requests=requests, tokens=tokens):
                self.report, self.asked = None, []
                return

    def _update_limits(
        self, account: ProviderAccount, now: datetime, *, requests: float, tokens: float
    ) -> bool:
        """Store the state of *account* at *now* after a change; False if another was faster."""
        buckets, reports = _buckets(account, now), _reported(account, now)
        state: dict[str, object] = {"refilled_at": now, "version": account.version + 1}
        for name, bucket, change in zip(
            ("requests", "tokens"), buckets, (requests, tokens), strict=True
        ):
            state[f"{name}_left"] = bucket.left + change if bucket else None
        said = self._said(reports, requests, tokens)
        state["reported_requests"], state["reported_until"] = said[0].left, said[0].until
        state["reported_tokens"], state["reported_tokens_until"] = said[1].left, said[1].until
        closed = account.closed_until
        new = [until for sent, until in self.asked if not is_over(closed, sent, now)]
        state["closed_until"] = max([*new, closed] if closed else new, default=None)
        row = ProviderAccount.objects.filter(pk=account.pk, version=account.version)
        if not row.update(**state):
            return False
        for name, value in state.items():
            setattr(account, name, value)
        self.account = account
        return True

    def _said(
        self, before: tuple[Reported, Reported], requests: float, tokens: float
    ) -> tuple[Reported, Reported]:
        """Return what holds of the provider's reports: the last one, less what was taken since."""
        if self.report is None:
            return (
                Reported(_changed(before[0].left, requests), before[0].until),
                Reported(_changed(before[1].left, tokens), before[1].until),
            )
        report, at = self.report
        return (
            _report_of(report.requests, report.requests_reset, at) or before[0],
            _report_of(report.tokens, report.tokens_reset, at) or before[1],
        )


def _changed(left: float | None, change: float) -> int | None:
    return None if left is None else int(left + change)


def _report_of(left: int | None, reset: float | None, at: datetime) -> Reported | None:
    if left is None or reset is None:
        return None
    return Reported(left, at + timedelta(seconds=reset))


def _buckets(account: ProviderAccount, now: datetime) -> tuple[Bucket | None, Bucket | None]:
    """Return what is left of the limits per minute of *account*; None where it has none."""
    return (
        _bucket(account.requests_per_minute, account.requests_left, account, now),
        _bucket(account.tokens_per_minute, account.tokens_left, account, now),
    )


def _bucket(
    limit: int | None, left: float | None, account: ProviderAccount, now: datetime
) -> Bucket | None:
    """Return what is left of a *limit* per minute; it is full at first."""
    if not limit:
        return None
    full = float("inf") if left is None else left
    return Bucket(limit, full, account.refilled_at or now).refilled(now)


def _reported(account: ProviderAccount, now: datetime) -> tuple[Reported, Reported]:
    """Return what the provider has said is left, as far as it still holds."""
    return (
        Reported(account.reported_requests, account.reported_until).at(now),
        Reported(account.reported_tokens, account.reported_tokens_until).at(now),
    )

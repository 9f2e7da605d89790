"""Provider accounts: the limits that all runs, workers and machines keep together."""

from __future__ import annotations

from datetime import datetime

from django.db import models


class ProviderAccount(models.Model):
    """An account with a provider, shared by one or several endpoints.

    ``max_in_flight``, ``requests_per_minute`` and ``tokens_per_minute`` are limits of all its calls
    together, null for none; each endpoint keeps its own limit in flight besides. The other columns
    are its state, by the clock of the database: ``version`` is raised by each change, so that a
    change is one conditional UPDATE. ``requests_left`` and ``tokens_left`` are what was left of
    the limits per minute at ``refilled_at``. No call is made before ``closed_until``, which stays
    when it is past: calls that were sent before it do not close the account again. The provider has
    said that it takes at most ``reported_requests`` calls until ``reported_until``, and
    ``reported_tokens`` tokens until ``reported_tokens_until``.
    """

    name = models.CharField(max_length=60, unique=True)
    max_in_flight = models.PositiveSmallIntegerField(null=True, blank=True)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    tokens_per_minute = models.PositiveIntegerField(null=True, blank=True)
    version = models.BigIntegerField(default=0, editable=False)
    requests_left = models.FloatField(null=True, editable=False)
    tokens_left = models.FloatField(null=True, editable=False)
    refilled_at = models.DateTimeField(null=True, editable=False)
    closed_until = models.DateTimeField(null=True, editable=False)
    reported_requests = models.IntegerField(null=True, editable=False)
    reported_until = models.DateTimeField(null=True, editable=False)
    reported_tokens = models.BigIntegerField(null=True, editable=False)
    reported_tokens_until = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def waits_until(self, now: datetime) -> datetime | None:
        """Return until when no call is made, as the provider has said; None if calls are made."""
        ends = [self.closed_until]
        if self.reported_requests is not None and self.reported_requests < 1:
            ends.append(self.reported_until)
        if self.reported_tokens is not None and self.reported_tokens < 1:
            ends.append(self.reported_tokens_until)
        return max((end for end in ends if end is not None and end > now), default=None)


def making_no_call_until(time: datetime) -> models.Q:
    """Return the condition of accounts that make no call before *time* (see ``waits_until``)."""
    no_requests = models.Q(reported_requests__lt=1, reported_until__gt=time)
    no_tokens = models.Q(reported_tokens__lt=1, reported_tokens_until__gt=time)
    return models.Q(closed_until__gt=time) | no_requests | no_tokens


class CheckPlace(models.Model):
    """One of the few places for checks of endpoints in web requests.

    ``holder`` has it until ``until``, for a check of ``endpoint``, which has one place at most.
    """

    number = models.PositiveSmallIntegerField(unique=True)
    endpoint = models.OneToOneField(
        "Endpoint", null=True, on_delete=models.CASCADE, related_name="check_place"
    )
    holder = models.CharField(max_length=32, blank=True)
    until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"place {self.number} for a check"


class PermitLease(models.Model):
    """So many calls to an endpoint may be in flight in one worker, until the lease ends.

    ``wanted`` is how many it could use now: what is not enough for all is shared by that.
    """

    account = models.ForeignKey(ProviderAccount, on_delete=models.CASCADE, related_name="leases")
    endpoint = models.ForeignKey("Endpoint", on_delete=models.CASCADE, related_name="permit_leases")
    holder = models.CharField(max_length=64, unique=True)
    permits = models.PositiveSmallIntegerField(default=0)
    wanted = models.PositiveSmallIntegerField(default=0)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.account} {self.holder}: {self.permits}"

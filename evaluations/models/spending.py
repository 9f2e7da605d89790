"""What all calls of the installation cost, by currency and month, and the caps on it."""

from __future__ import annotations

from decimal import Decimal

from django.db import models


class SpendingCap(models.Model):
    """The most that all calls in one currency may cost in a calendar month, and altogether.

    Null means no limit. Amounts in several currencies are never added.
    """

    currency = models.CharField(max_length=3, unique=True)
    per_month = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    in_total = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)

    class Meta:
        ordering = ["currency"]

    def __str__(self) -> str:
        return self.currency


class Spending(models.Model):
    """What calls cost, or may cost while their answers are open, in one currency and month.

    ``period`` is the month in UTC in which the calls were sent (``2026-11``).
    ``committed`` is in ``UNIT`` of the currency: a whole number, so that sums and comparisons are
    exact on both databases.
    """

    UNIT = Decimal("0.00000001")

    currency = models.CharField(max_length=3)
    period = models.CharField(max_length=7)
    committed = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["currency", "period"], name="one_spending_per_currency_and_period"
            )
        ]

    def __str__(self) -> str:
        return f"{self.currency} {self.period}"

    @property
    def amount(self) -> Decimal:
        """What the calls cost, or may cost, in ``currency``."""
        return self.committed * self.UNIT

"""Exact sums of money in the database.

SQLite stores decimals as floating point numbers, and a sum of them is not exact. Each amount has
at most eight decimals, so it is an exact number of ``UNIT``, and whole numbers are summed.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

from django.db.models import BigIntegerField, F, Q, Sum, Value
from django.db.models.expressions import ExpressionWrapper
from django.db.models.fields import DecimalField
from django.db.models.functions import Cast, Coalesce, Round

UNIT = Decimal("0.00000001")
_AMOUNT = DecimalField(max_digits=30, decimal_places=8)


def units_of(amount: Decimal) -> int:
    """Return *amount* in ``UNIT``, rounded as the database rounds it."""
    return int((amount / UNIT).to_integral_value(ROUND_HALF_EVEN))


def amount_of(units: int) -> Decimal:
    """Return the amount of so many ``UNIT``."""
    return units * UNIT


def exact_sum(name: str, filter: Q | None = None) -> Coalesce:
    """Return an aggregate: the sum of the column *name* in ``UNIT``, a whole number, 0 of none."""
    units = ExpressionWrapper(F(name) * Value(Decimal(10**8)), output_field=_AMOUNT)
    whole = Cast(Round(units), BigIntegerField())
    return Coalesce(Sum(whole, filter=filter), 0, output_field=BigIntegerField())

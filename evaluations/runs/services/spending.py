"""The caps on what all calls of the installation may cost, by currency: a month, and altogether.

What calls cost, or may cost, is one number for each currency and month. Calls are reserved by one
conditional UPDATE, so that a cap is never exceeded by reservations, whatever the number of runs and
workers. Every change stands in the transaction that stores the attempts it is about. Amounts in
several currencies are never added.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import F, Sum
from django.utils.translation import gettext as _

from evaluations.models import Endpoint, Job, Spending, SpendingCap
from evaluations.models.vocabulary import JobStatus
from evaluations.runs.services.seen_limits import check_seen
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.exact_money import amount_of, units_of
from gradeapp.common.plain_number import plain
from gradeapp.common.refusals import BadInput


@dataclass(frozen=True)
class Spent:
    """What was spent or reserved in one currency, in a month and altogether, and the caps."""

    currency: str
    month: Decimal
    total: Decimal
    per_month: Decimal | None
    in_total: Decimal | None


def month_of(time: datetime) -> str:
    """Return the month of *time* in UTC, as ``2026-11``."""
    return f"{time.astimezone(UTC):%Y-%m}"


def reserve(currency: str, now: datetime, most: int) -> bool:
    """Reserve *most* units at *now* if the caps leave as much; return whether they did."""
    if most == 0:
        return True
    month = month_of(now)
    left = _left_of_month(currency, month)
    row = Spending.objects.filter(currency=currency, period=month)
    if left is not None:
        row = row.filter(committed__lte=left - most)
    Spending.objects.get_or_create(currency=currency, period=month)
    return bool(row.update(committed=F("committed") + most))


def commit(currency: str, month: str, change: int) -> None:
    """Add *change* to what is committed: below 0 where a call cost less than reserved."""
    if change:
        row = Spending.objects.filter(currency=currency, period=month)
        if not row.update(committed=F("committed") + change):
            Spending.objects.get_or_create(currency=currency, period=month)
            row.update(committed=F("committed") + change)


def _left_of_month(currency: str, month: str) -> int | None:
    """Return the most that may be committed in *month*, in units; None without a cap."""
    cap = SpendingCap.objects.filter(currency=currency).first()
    if cap is None:
        return None
    limits = [] if cap.per_month is None else [units_of(cap.per_month)]
    if cap.in_total is not None:
        before = Spending.objects.filter(currency=currency).exclude(period=month)
        sum_before = before.aggregate(n=Sum("committed"))["n"] or 0
        limits.append(units_of(cap.in_total) - sum_before)
    return min(limits, default=None)


def check_cap(endpoint: Endpoint, now: datetime) -> None:
    """Raise BadInput if nothing is left of a cap for calls of *endpoint*."""
    if not endpoint.has_prices:
        return
    month = month_of(now)
    left = _left_of_month(endpoint.currency, month)
    spent = Spending.objects.filter(currency=endpoint.currency, period=month)
    committed = spent.aggregate(n=Sum("committed"))["n"] or 0
    if left is not None and committed >= left:
        raise BadInput(
            _(
                "The spending cap for %(currency)s is reached: no calls are made until an operator "
                "raises it on the page Spending, or a new month begins."
            )
            % {"currency": endpoint.currency},
            code="spending_cap",
        )


def calls_are_open() -> bool:
    """Return whether a call of any run is in flight: a part of its reservation may come back."""
    return Job.objects.filter(run__endpoint__isnull=False, status=JobStatus.LEASED).exists()


def spent(now: datetime) -> list[Spent]:
    """Return what was spent by currency, of all that endpoints, caps or calls name."""
    month = month_of(now)
    sums: dict[str, list[int]] = {}
    for one in Spending.objects.all():
        row = sums.setdefault(one.currency, [0, 0])
        row[0] += one.committed if one.period == month else 0
        row[1] += one.committed
    caps = {cap.currency: cap for cap in SpendingCap.objects.all()}
    named = set(Endpoint.objects.order_by().values_list("currency", flat=True).distinct())
    rows = []
    for currency in sorted(named | set(sums) | set(caps)):
        of_month, of_all = (amount_of(units) for units in sums.get(currency, [0, 0]))
        cap = caps.get(currency) or SpendingCap()
        rows.append(Spent(currency, of_month, of_all, cap.per_month, cap.in_total))
    return rows


def caps_in_words(per_month: Decimal | None, in_total: Decimal | None) -> str:
    """Return both caps as a form names what it shows."""
    return " ".join("none" if one is None else plain(one) for one in (per_month, in_total))


@transaction.atomic
def save_cap(
    *,
    currency: str,
    per_month: Decimal | None,
    in_total: Decimal | None,
    acting_user: User | None,
    seen: str = "",
) -> SpendingCap:
    """Set the caps of *currency*, None for none. Raises BadInput for an amount below zero.

    *seen* are the ``caps_in_words`` that the person had before their eyes; Conflict, if given and
    others count by now.
    """
    for amount in (per_month, in_total):
        if amount is not None and not (amount.is_finite() and 0 <= amount < 10**8):
            raise BadInput(_("A cap must be an amount of zero or more, or empty."))
    SpendingCap.objects.get_or_create(currency=currency)
    cap = SpendingCap.objects.select_for_update().get(currency=currency)
    check_seen(seen, caps_in_words(cap.per_month, cap.in_total))
    cap.per_month, cap.in_total = per_month, in_total
    cap.save(update_fields=["per_month", "in_total"])
    amounts = {"per_month": per_month, "in_total": in_total}
    texts = {name: None if amount is None else str(amount) for name, amount in amounts.items()}
    record(Tag.SPENDING_CAP, cap, actor=acting_user, currency=currency, **texts)
    return cap

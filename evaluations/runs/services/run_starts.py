"""Helpers shared by all services that start a run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from evaluations.models import Endpoint, Run
from evaluations.runs.services.addresses import check_address
from evaluations.runs.services.keys import api_key
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict


def hashed(key: str | None) -> str | None:
    """Return the stored form of an idempotency key; None for none."""
    return hashlib.sha256(key.encode()).hexdigest() if key else None


def planned_once(run: Run, plan: Callable[[], None]) -> Run:
    """Call *plan*, which saves *run* and its jobs, in one transaction; return *run*.

    If there is a run with the same idempotency key, return that one instead.
    """
    try:
        with transaction.atomic():
            if existing := _run_with_key(run.idempotency_key):
                return existing
            plan()
            return run
    except IntegrityError:
        # Another request with the same key committed first.
        if existing := _run_with_key(run.idempotency_key):
            return existing
        raise


def _run_with_key(key: str | None) -> Run | None:
    return Run.objects.filter(idempotency_key=key).first() if key else None


# What the column of a budget holds, rounded down.
MOST_BUDGET = 99_999_999


def check_budget(budget: Decimal) -> None:
    """Raise BadInput unless *budget* is an amount above zero that its column holds."""
    if not (budget.is_finite() and budget > 0):
        raise BadInput(_("A budget must be an amount above zero, or empty."))
    if budget > MOST_BUDGET:
        raise BadInput(_("A budget can be at most %(most)d.") % {"most": MOST_BUDGET})


def check_ready(endpoint: Endpoint, budget: Decimal | None) -> None:
    """Raise BadInput for an invalid budget, or an endpoint that cannot be called."""
    if budget is not None:
        check_budget(budget)
    api_key(endpoint)
    check_address(endpoint.base_url)


def check_call_count(shown: int | None, calls: int) -> None:
    """Raise Conflict if *calls* is not the number *shown* on the page (None: no page)."""
    if shown not in (None, calls):
        raise Conflict(
            _(
                "The page showed %(shown)s calls, but there would be %(calls)s. Check "
                "the estimate again, then start."
            )
            % {"shown": shown, "calls": calls},
            code="other_number",
        )


def record_start(run: Run, planned: int, **detail: object) -> None:
    """Record in the audit trail who started *run*, with its calls and budget."""
    budget = as_text(run.budget)
    record(Tag.RUN_STARTED, run, actor=run.created_by, planned=planned, budget=budget, **detail)


def as_text(amount: Decimal | None) -> str | None:
    """Return *amount*, money, as text for the audit trail; None for none."""
    return None if amount is None else str(amount)

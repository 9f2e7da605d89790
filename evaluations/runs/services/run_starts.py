"""What all starts of runs have in common: ready to be called, once by their key, as was told."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from evaluations.models import Endpoint, Run
from evaluations.runs.services.addresses import check_address
from evaluations.runs.services.endpoints import api_key
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict


def hashed(key: str | None) -> str | None:
    """An idempotency key of any length as the database keeps it; None for none."""
    return hashlib.sha256(key.encode()).hexdigest() if key else None


def planned_once(run: Run, plan: Callable[[], None]) -> Run:
    """*run*, saved and filled by *plan* in one transaction; or the one that has its key already."""
    try:
        with transaction.atomic():
            if there := _of_key(run.idempotency_key):
                return there
            plan()
            return run
    except IntegrityError:
        # The same key at the same moment: the other one was faster.
        if there := _of_key(run.idempotency_key):
            return there
        raise


def _of_key(key: str | None) -> Run | None:
    return Run.objects.filter(idempotency_key=key).first() if key else None


def check_ready(endpoint: Endpoint, budget: Decimal | None) -> None:
    """Refuse a budget that is no amount, and an endpoint that could not be called."""
    if budget is not None and not (budget.is_finite() and budget > 0):
        raise BadInput(_("A budget must be an amount above zero, or empty."))
    api_key(endpoint)
    check_address(endpoint.base_url)


def check_call_count(shown: int | None, calls: int) -> None:
    """Refuse another number of *calls* than somebody was *shown*; None where nobody was."""
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
    """Note who started *run* with so many calls planned, and with which budget."""
    budget = as_text(run.budget)
    record(Tag.RUN_STARTED, run, actor=run.created_by, planned=planned, budget=budget, **detail)


def as_text(amount: Decimal | None) -> str | None:
    """An amount of money as the audit keeps it."""
    return None if amount is None else str(amount)

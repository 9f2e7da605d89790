"""Helpers shared by all services that start a run."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from evaluations.models import Endpoint, Run
from evaluations.models.vocabulary import RunStatus
from evaluations.runs.services.addresses import check_address
from evaluations.runs.services.keys import api_key
from evaluations.runs.services.spending import check_cap
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.database_clock import database_now
from gradeapp.common.locking import hold_key
from gradeapp.common.refusals import BadInput, Conflict, OtherRequest

# A run in one of these states makes calls, or will when it is resumed by itself or by a person.
ACTIVE = (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.STOPPING, RunStatus.PAUSED)


def hashed(key: str | None) -> str | None:
    """Return the stored form of an idempotency key; None for none."""
    return hashlib.sha256(key.encode()).hexdigest() if key else None


def digest(asked: Mapping[str, object]) -> str:
    """Return the SHA-256 of what is asked for, values of JSON and dataclasses of them."""
    text = json.dumps(asked, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def planned_once(run: Run, plan: Callable[[], None], request: Mapping[str, object]) -> Run:
    """Call *plan*, which saves *run* and its jobs, in one transaction; return *run*.

    If there is a run with the same idempotency key, return that one instead; *request* is all that
    was asked for. Without a key the run gets one of its own. Of two requests with a key the second
    waits for the first. Raises OtherRequest if the key came with another request.
    """
    run.request_hash = digest(request)
    with transaction.atomic():
        if run.idempotency_key:
            hold_key(run.idempotency_key)
            if existing := Run.objects.filter(idempotency_key=run.idempotency_key).first():
                return _same_request(existing, run)
        run.idempotency_key = run.idempotency_key or hashed(str(uuid.uuid4()))
        plan()
        return run


def _same_request(existing: Run, run: Run) -> Run:
    """Return *existing*. Raises OtherRequest if *run* was asked for by another request."""
    if existing.request_hash not in ("", run.request_hash):  # older runs have none
        raise other_request(existing)
    return existing


def other_request(existing: Run) -> OtherRequest:
    """Return the refusal of a request whose key started *existing* by another request."""
    return OtherRequest(
        _(
            "Run %(run)d was started with this idempotency key, and with other settings. Use a "
            "new key for another run."
        )
        % {"run": existing.pk}
    )


def check_not_running(run: Run) -> None:
    """Raise Conflict if another run that is not over makes the same calls as *run*, by its plan.

    Two requests that come at once wait for each other. Only runs that answer have a plan.
    """
    if not run.plan_hash:
        return
    assert run.endpoint is not None  # only imported runs have none
    Endpoint.objects.select_for_update().get(pk=run.endpoint.pk)
    others = Run.objects.filter(plan_hash=run.plan_hash, status__in=ACTIVE).exclude(pk=run.pk)
    same = others.order_by("pk").first()
    if same is None:
        return
    words = _(
        "Run %(run)d asks the same questions of the same model in the same way and is not "
        "over. Look at it first, or start another one anyway."
    )
    if run.pk is not None:
        words = _(
            "Run %(run)d asks the same questions of the same model in the same way and is not "
            "over. Look at it first, or go on with this one anyway."
        )
    raise Conflict(words % {"run": same.pk}, code="same_run", run=same.pk)


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
    check_cap(endpoint, database_now())
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

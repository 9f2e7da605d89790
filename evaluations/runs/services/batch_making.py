"""Batches are made: due requests of a run are put into rows, of which a file is written later.

Whoever makes a batch holds it until it is full. It ends earlier where a person stops the run, and
what is in it is free for others when the process that makes it has ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from evaluations.llm.batch_files import MOST_BYTES, MOST_REQUESTS, request_line
from evaluations.llm.budget import Budget
from evaluations.models import Attempt, Batch, Job, Run
from evaluations.models.vocabulary import (
    AttemptStatus,
    BatchState,
    JobStatus,
    PauseReason,
    RunStatus,
)
from evaluations.runs.rules.call_keys import call_key, custom_id
from evaluations.runs.selectors.batches import may_make_batches
from evaluations.runs.selectors.runs import money
from evaluations.runs.services.calls import call_for
from evaluations.runs.services.frozen import take_prices
from evaluations.runs.services.job_queue import Call, Claims, claim_calls, prepare_calls
from evaluations.runs.services.worker_names import ended_workers, new_name
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.database_clock import database_now
from gradeapp.common.leases import Lease
from gradeapp.common.refusals import BadInput, Conflict

# An endpoint has a day; a person who carries files may take longer. Then its calls count as lost.
WAITS = timedelta(days=30)
# Who makes a batch, or does the next step of one by API, and until when: longer than the longest
# call lasts.
HELD = Lease("holder", "held_until", "")
HOLD = timedelta(minutes=15)
# A worker looks at a batch only when it is made: then it has a time to look.
BEING_MADE = ~Q(holder="") & Q(state=BatchState.WAITING, next_at=None)
TOGETHER = 500


def owner_of(batch: Batch) -> str:
    """Return the name by which *batch* holds its jobs."""
    return f"batch-{batch.pk}"


def make_batches(
    run: Run,
    *,
    acting_user: User | None,
    by_api: bool = False,
    most_requests: int = MOST_REQUESTS,
    most_bytes: int = MOST_BYTES,
) -> list[Batch]:
    """Put all due requests of *run* into batches, each within the limits, and return these.

    With *by_api* a worker sends these, and later ones, through the endpoint's batch API. A later
    step of a question becomes due when the reply to the one before is read. Raises BadInput for a
    run that is not by batch, Conflict if it is stopped, or if nothing is due or a budget is used up
    (the code is the ``PauseReason``). The status of the run changes only if there is a batch.
    """
    check_by_batch(run)
    now = database_now()
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run.pk)
        run = Run.objects.select_related("endpoint", "judge", "dataset").get(pk=run.pk)
        # A person may have decided for files since a worker last looked.
        if not may_make_batches(run, by_api=by_api) or (
            by_api and acting_user is None and not run.batch_api
        ):
            raise _not_in_progress()
        take_prices(run)
        Job.objects.filter(run=run, status=JobStatus.PENDING).update(next_at=None)
    made: list[Batch] = []
    filled = Filled(more=True)
    while filled.more:
        batch = Batch.objects.create(
            run=run,
            state=BatchState.WAITING,
            by_api=by_api,
            created_by=acting_user,
            **HELD.given(new_name(), now + HOLD),
        )
        try:
            filled = _fill(run, batch, now, most_requests, most_bytes)
        finally:
            _release(batch)
        if not batch.requests:
            break
        made.append(batch)
    if not made:
        if filled.stopped:
            raise _not_in_progress()
        words = _("No request is due: all wait for replies, or the budget is used up.")
        raise Conflict(words, code=filled.stopped_by)
    return made


def check_by_batch(run: Run) -> None:
    """Raise BadInput if *run* makes its calls one by one."""
    if not run.by_batch:
        raise BadInput(_("Run %(run)d makes its calls one by one, not by batch.") % {"run": run.pk})


def _not_in_progress() -> Conflict:
    return Conflict(_("This run is not in progress. Resume it first."))


@dataclass(frozen=True)
class Filled:
    """Whether there may be more requests for another batch, or why not: a ``PauseReason``.

    ``stopped``: a person has stopped the run meanwhile, or sends it in the other way.
    """

    more: bool
    stopped_by: str = ""
    stopped: bool = False


def _fill(run: Run, batch: Batch, now: datetime, most_requests: int, most_bytes: int) -> Filled:
    """Claim due jobs of *run* for *batch* up to its limits.

    Raises BadInput if one request alone is above the limit of bytes.
    """
    budget = Budget(run.budget, money(run).exposed)
    while batch.requests < most_requests:
        n = min(TOGETHER, most_requests - batch.requests)
        prepared = prepare_calls(run, n, now, prepare=partial(call_for, run))
        fits: dict[int, Call] = {}
        sizes: dict[int, int] = {}
        for key, call in prepared.items():
            # The number of the attempt is not known before the claim; it has 19 digits at most.
            sizes[key] = len(line_of(run, 10**18, call))
            if batch.size + sum(sizes.values()) > most_bytes:
                break
            fits[key] = call
        if not fits:
            if prepared and not batch.requests:
                raise BadInput(_("One request is larger than a batch file may be."))
            return Filled(bool(prepared))
        claims = _claim(run, batch, fits, sizes, now, budget)
        if claims is None:
            return Filled(False, stopped=True)
        if claims.over_cap:  # asked last: what it kept back had passed the budgets
            return Filled(False, PauseReason.SPENDING_CAP)
        if claims.over_budget:
            return Filled(False, PauseReason.STUDY_BUDGET if run.study_id else PauseReason.BUDGET)
        if not claims.calls:
            continue  # others took these meanwhile; there may be more
        if len(fits) < len(prepared):
            break
    return Filled(True)


@transaction.atomic
def _claim(
    run: Run,
    batch: Batch,
    fits: dict[int, Call],
    sizes: dict[int, int],
    now: datetime,
    budget: Budget,
) -> Claims | None:
    """Claim the jobs of *fits* for *batch*, and let *run* be in progress by such batches.

    *sizes* are the bytes of their lines. Return None, with nothing claimed, if a person has changed
    the run since, or *batch* is not held any more.
    """
    claims = claim_calls(run, owner_of(batch), fits, now, budget=budget, until=now + WAITS)
    if not claims.calls:
        return claims
    # Locked after the jobs, as where results are stored; a batch that refers to it is in no way.
    current = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    unchanged = current.batch_api == run.batch_api
    held = Batch.objects.filter(BEING_MADE, pk=batch.pk, holder=batch.holder)
    requests = batch.requests + len(claims.calls)
    size = batch.size + sum(sizes[one.attempt.job_id] for one in claims.calls)
    facts = {"requests": requests, "size": size, "held_until": database_now() + HOLD}
    if not (unchanged and may_make_batches(current, by_api=batch.by_api) and held.update(**facts)):
        transaction.set_rollback(True)
        return None
    Run.objects.filter(pk=run.pk).update(
        batch_api=batch.by_api,
        status=RunStatus.RUNNING,
        pause_reason="",
        started_at=Coalesce(F("started_at"), now),
    )
    run.batch_api, batch.requests, batch.size = batch.by_api, requests, size
    return claims


@transaction.atomic
def _release(batch: Batch) -> None:
    """Let a worker, or who carries files, have *batch* with what is in it; without, delete it."""
    held = Batch.objects.filter(BEING_MADE, pk=batch.pk, holder=batch.holder)
    if not batch.requests:
        held.filter(requests=0).delete()
        return
    full: dict[str, Any] = {"next_at": database_now() if batch.by_api else None}
    if held.update(**full, requests=batch.requests, **HELD.released()):
        facts = {"batch": batch.pk, "requests": batch.requests}
        record(Tag.BATCH_MADE, batch.run, actor=batch.created_by, **facts)
    batch.refresh_from_db()


def release_unfinished() -> None:
    """Release the batches that nobody makes any more: the process has ended, or holds too long."""
    being_made = Batch.objects.filter(BEING_MADE)
    dead = ended_workers(set(being_made.values_list("holder", flat=True)))
    left = being_made.filter(HELD.ended(database_now()) | Q(holder__in=dead))
    for batch in left.select_related("run", "created_by"):
        # Older versions counted the requests when all were in it.
        batch.requests = batch.requests or open_attempts(batch).count()
        _release(batch)


def check_made(batch: Batch) -> None:
    """Raise Conflict while requests are being put into *batch*: there are none for others yet."""
    release_unfinished()
    if Batch.objects.filter(BEING_MADE, pk=batch.pk).exists():
        raise Conflict(_("This batch is still being made. Try again in a moment."))


def open_attempts(batch: Batch) -> Any:
    """Return the attempts of *batch* that have no reply yet."""
    held = Attempt.objects.filter(job__lease_owner=owner_of(batch), status=AttemptStatus.SENT)
    return held.filter(fence=F("job__fence"))


def line_of(run: Run, attempt_id: int, call: Call) -> bytes:
    """Return the line of a file that asks for the *call* of the attempt of this id."""
    key = custom_id(run.public_id, call_key(attempt_id, call.request_hash))
    return request_line(key, run.run_settings["model"], call.messages, call.params)

"""Rescoring in the background: started by a person, batch by batch, stopped, gone on with.

A worker claims it by one conditional update and notes each batch in the transaction
that wrote it. One that dies leaves whole batches; a person lets it go on from there,
and what has its score already is passed over.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluations.models import Rescoring, Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.models.vocabulary import SearchStatus as Is
from evaluations.rules.scoring.policies import Policy
from evaluations.services.scoring import BATCH, score_responses
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.refusals import BadInput, Conflict
from questions.rules.vocabulary import Part

logger = logging.getLogger(__name__)

Clock = Callable[[], datetime]
LIVE = (Is.QUEUED, Is.WORKING)
GOES_ON = (Is.STOPPED, Is.INTERRUPTED, Is.FAILED)


class Stopped(Exception):
    """Somebody asked to stop, or another worker has it."""


def lease() -> timedelta:
    """How long a silent worker is believed to be alive."""
    return timedelta(seconds=settings.RUN_LEASE_SECONDS)


# ---- what people do ----


@transaction.atomic
def start_rescoring(
    run: Run | None, policy: Policy | None, *, acting_user: User | None
) -> Rescoring:
    """Plan to score the objective responses of *run* (None: all) under *policy* (None: both).

    Raises BadInput where there are none, Conflict where a rescoring is under way: two
    would score the same responses.
    """
    total = responses_of(run).count()
    if not total:
        raise BadInput(_("There are no objective responses to score."))
    note_lost_workers(timezone.now())
    if Rescoring.objects.select_for_update().filter(status__in=LIVE).exists():
        raise Conflict(_("A rescoring is under way; wait for it or stop it."))
    made = Rescoring.objects.create(
        run=run, policy=policy or "", responses_total=total, created_by=acting_user
    )
    record(Tag.RESCORING_STARTED, made, actor=acting_user, policy=made.policy, responses=total)
    return made


@transaction.atomic
def stop_rescoring(job: Rescoring, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Stop after the batch that is being scored; at once where no worker has it yet."""
    rows = Rescoring.objects.filter(pk=job.pk)
    waiting = rows.filter(status=Is.QUEUED).update(status=Is.STOPPED, ended_at=clock())
    if not waiting and not rows.filter(status=Is.WORKING).update(stop_asked=True):
        raise Conflict(_("This rescoring is not running."))
    record(Tag.RESCORING_STOPPED, job, actor=acting_user)


@transaction.atomic
def resume_rescoring(job: Rescoring, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Go on with a stopped, interrupted or failed rescoring where it was."""
    note_lost_workers(clock())
    if Rescoring.objects.filter(status__in=LIVE).exists():
        raise Conflict(_("A rescoring is under way; wait for it or stop it."))
    rows = Rescoring.objects.filter(pk=job.pk, status__in=GOES_ON)
    if not rows.update(status=Is.QUEUED, stop_asked=False, error="", worker=""):
        raise Conflict(_("There is nothing to go on with; look at the page again."))
    record(Tag.RESCORING_RESUMED, job, actor=acting_user)


def responses_of(run: Run | None) -> QuerySet[Response]:
    """The objective responses of *run*, or of every run that answers."""
    found = Response.objects.filter(run__purpose=RunPurpose.ANSWER, question__part=Part.OBJECTIVE)
    return found.order_by("pk") if run is None else found.filter(run=run).order_by("pk")


# ---- what a worker does ----


def work_on_rescoring(job_id: int, *, clock: Clock = timezone.now) -> bool:
    """Score to the end; False where it does not wait for a worker."""
    job = claim(job_id, clock())
    if job is None:
        return False
    try:
        _score_all(job, clock)
    except Stopped:
        _end(job, Is.STOPPED, clock())
    except Exception:
        logger.exception("rescoring %s failed", job_id)
        _end(job, Is.FAILED, clock(), error="unexpected")
    else:
        _end(job, Is.DONE, clock())
    return True


def claim(job_id: int, now: datetime) -> Rescoring | None:
    """The rescoring *job_id*, for this process alone; None where it is not waiting."""
    waiting = Rescoring.objects.filter(pk=job_id, status=Is.QUEUED)
    taken = waiting.update(
        status=Is.WORKING,
        worker=uuid.uuid4().hex,
        heartbeat=now,
        started_at=now,
        ended_at=None,
        done_before=F("responses_done"),
    )
    return Rescoring.objects.select_related("run").get(pk=job_id) if taken else None


def _score_all(job: Rescoring, clock: Clock) -> None:
    policies = [Policy(job.policy)] if job.policy else list(Policy)
    waiting = responses_of(job.run)
    last = job.last_response
    while batch := list(waiting.filter(pk__gt=last)[:BATCH]):
        last = batch[-1].pk
        with transaction.atomic():
            added = score_responses(batch, policies=policies).total()
            _note(job, len(batch), added, last, clock())
        if Rescoring.objects.filter(pk=job.pk, stop_asked=True).exists():
            raise Stopped


def _note(job: Rescoring, responses: int, added: int, last: int, now: datetime) -> None:
    """Note a batch, and that the worker is alive; raises Stopped where it is to end.

    A batch that was scored when the stop was asked for is kept; one that another
    worker has taken over is not.
    """
    held = Rescoring.objects.filter(pk=job.pk, worker=job.worker, status=Is.WORKING)
    noted = held.update(
        heartbeat=now,
        last_response=last,
        responses_done=F("responses_done") + responses,
        scores_added=F("scores_added") + added,
    )
    if not noted:
        raise Stopped


def _end(job: Rescoring, status: Is, now: datetime, error: str = "") -> None:
    """Write the end of the work, unless another worker has taken over."""
    held = Rescoring.objects.filter(pk=job.pk, worker=job.worker, status=Is.WORKING)
    if held.update(status=status, ended_at=now, error=error, worker=""):
        ended = Rescoring.objects.get(pk=job.pk)
        added = ended.scores_added
        record(Tag.RESCORED, ended, actor=ended.created_by, scores=added, status=status.value)


# ---- what the clock does ----


def note_lost_workers(now: datetime) -> None:
    """Rescorings whose worker has been silent for too long wait for a person."""
    silent = Q(heartbeat__lt=now - lease()) | Q(heartbeat__isnull=True)
    lost = Rescoring.objects.filter(silent, status=Is.WORKING)
    lost.update(status=Is.INTERRUPTED, ended_at=now, worker="", error="worker_lost")


def look_for_rescorings(clock: Clock = timezone.now) -> list[int]:
    """The ids of rescorings that wait for a worker; notes dead ones. Safe at any time."""
    note_lost_workers(clock())
    return list(
        Rescoring.objects.filter(status=Is.QUEUED).order_by("pk").values_list("pk", flat=True)
    )

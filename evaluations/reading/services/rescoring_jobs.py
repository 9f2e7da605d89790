"""Rescoring in the background: started by a person, batch by batch, stopped, gone on with.

A worker notes each batch in the transaction that wrote it. One that dies leaves whole
batches; a person lets it go on from there, and what has its score already is passed over.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluations.models import Rescoring, Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.reading.services.scoring import BATCH, score_responses
from evaluations.statistics.policies import Policy
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.background_work import services as background_work
from gradeapp.common.background_work.models import LIVE
from gradeapp.common.background_work.services import Clock, Stopped, carry_out, held
from gradeapp.common.named import WorkStatus as Is
from gradeapp.common.refusals import BadInput, Conflict
from questions.rules.vocabulary import Part

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
    _refuse_a_second(timezone.now())
    made = Rescoring.objects.create(
        run=run, policy=policy or "", responses_total=total, created_by=acting_user
    )
    record(Tag.RESCORING_STARTED, made, actor=acting_user, policy=made.policy, responses=total)
    return made


@transaction.atomic
def stop_rescoring(job: Rescoring, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Stop after the batch that is being scored; at once where no worker has it yet."""
    if not background_work.stop(job, clock()):
        raise Conflict(_("This rescoring is not running."))
    record(Tag.RESCORING_STOPPED, job, actor=acting_user)


@transaction.atomic
def resume_rescoring(job: Rescoring, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Go on with a stopped, interrupted or failed rescoring where it was."""
    now = clock()
    _refuse_a_second(now)
    background_work.queue_again(Rescoring.objects.all(), job, now)
    record(Tag.RESCORING_RESUMED, job, actor=acting_user)


def _refuse_a_second(now: datetime) -> None:
    background_work.note_lost_workers(Rescoring, now)
    # Two who start at once wait for each other at a row that is there before the first rescoring.
    first = responses_of(None)[:1].values_list("pk", flat=True)
    list(Response.objects.filter(pk__in=list(first)).select_for_update(no_key=True))
    if Rescoring.objects.filter(status__in=LIVE).exists():
        raise Conflict(_("A rescoring is already running. Wait for it or stop it."))


def responses_of(run: Run | None) -> QuerySet[Response]:
    """Return the objective responses of *run*, or of every run that answers."""
    found = Response.objects.filter(run__purpose=RunPurpose.ANSWER, question__part=Part.OBJECTIVE)
    return found.order_by("pk") if run is None else found.filter(run=run).order_by("pk")


# ---- what a worker does ----


def work_on_rescoring(job_id: int, *, clock: Clock = timezone.now) -> bool:
    """Score to the end; False where it does not wait for a worker."""
    job = claim(job_id, clock())
    if job is None:
        return False
    if status := carry_out(job, lambda: _score_all(job, clock), clock):
        job.refresh_from_db()
        record(Tag.RESCORED, job, actor=job.created_by, scores=job.scores_added, status=status)
    return True


def claim(job_id: int, now: datetime) -> Rescoring | None:
    """Claim the rescoring *job_id* for this process; None if it is not waiting."""
    return background_work.claim(
        Rescoring.objects.all(), job_id, now, done_before=F("responses_done")
    )


def _score_all(job: Rescoring, clock: Clock) -> Is:
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
    return Is.DONE


def _note(job: Rescoring, responses: int, added: int, last: int, now: datetime) -> None:
    """Note a batch, and that the worker is alive; raises Stopped where it is to end.

    A batch that was scored when the stop was asked for is kept; one that another
    worker has taken over is not.
    """
    noted = held(job).update(
        heartbeat=now,
        last_response=last,
        responses_done=F("responses_done") + responses,
        scores_added=F("scores_added") + added,
    )
    if not noted:
        raise Stopped


# ---- what the clock does ----


def look_for_rescorings(clock: Clock = timezone.now) -> list[int]:
    """Return the ids of rescorings that wait for a worker, and note lost workers."""
    return background_work.waiting(Rescoring.objects.all(), clock())

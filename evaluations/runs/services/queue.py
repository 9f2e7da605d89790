"""The queue of record: jobs are claimed, leased and given back in the database, and only there.

A message of the broker is a hint that there is work. What is pending, who has
it, since when, and what may have been billed is read from these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet

from evaluations.llm.budget import Budget
from evaluations.llm.client import ChatRequest
from evaluations.models import Attempt, HouseRuling, Job, Run
from evaluations.models.vocabulary import AttemptStatus, JobStatus, RunStatus
from evaluations.runs.services.worker_names import gone
from gradeapp.common.leases import Lease
from questions.models import Rubric

# Attempts that count: a job that failed so often is failed until a person tries it again.
MOST_ATTEMPTS = 4
WORKER_LOST = "worker_lost"
JOB = Lease("lease_owner", "lease_until", "")
RUN = Lease("worker", "worker_until", "")


@dataclass(frozen=True)
class Call:
    """What a job asks for: the request but for its key, its hash, and the most it can cost.

    ``rubric`` and ``marking_notes`` are what the messages show to a judge.
    """

    messages: Sequence[dict[str, str]]
    params: dict[str, object]
    request_hash: str
    most: Decimal
    rubric: Rubric | None = None
    marking_notes: HouseRuling | None = None


@dataclass(frozen=True)
class Claimed:
    """A job that is ours, its attempt (already stored as sent) and the request to make."""

    attempt: Attempt
    request: ChatRequest


def lease_end(now: datetime) -> datetime:
    """When a claim made at *now* ends unless it is renewed."""
    return now + timedelta(seconds=settings.RUN_LEASE_SECONDS)


def due(run: Run, now: datetime) -> QuerySet[Job]:
    """The jobs of *run* that may be claimed at *now*."""
    waited = Q(next_at__isnull=True) | Q(next_at__lte=now)
    return Job.objects.filter(waited, run=run, status=JobStatus.PENDING)


def claim(
    run: Run,
    owner: str,
    n: int,
    now: datetime,
    *,
    prepare: Callable[[Job], Call],
    budget: Budget,
) -> list[Claimed]:
    """Claim up to *n* due jobs of *run* for *owner* and store their attempts as sent.

    The texts are made first, outside the transaction. The most that each call
    can cost is reserved in *budget*; the first that it cannot bear ends the
    batch. One conditional UPDATE decides which jobs are ours, so that two
    workers never have the same one; its fence is the number of the attempt.
    Everything is committed when this returns: only then may be sent.
    """
    planned: dict[int, Call] = {}
    for job in due(run, now).select_related("revision", "question", "response")[:n]:
        call = prepare(job)
        if not budget.can_reserve(call.most):
            break
        budget.reserve(call.most)
        planned[job.pk] = call
    if not planned:
        return []
    with transaction.atomic():
        jobs = _lease(list(planned), owner, now)
        attempts = [_attempt(job, planned[job.pk], now) for job in jobs]
        Attempt.objects.bulk_create(attempts)
    claimed = [_claimed(attempt, planned.pop(attempt.job_id)) for attempt in attempts]
    for lost in planned.values():
        budget.finalize(lost.most, Decimal(0))
    return claimed


def _lease(ids: Sequence[int], owner: str, now: datetime) -> list[Job]:
    taken = Job.objects.filter(pk__in=ids, status=JobStatus.PENDING).update(
        status=JobStatus.LEASED,
        **JOB.given(owner, lease_end(now)),
        fence=F("fence") + 1,
        attempts_made=F("attempts_made") + 1,
        next_at=None,
    )
    mine = Job.objects.filter(pk__in=ids, status=JobStatus.LEASED, lease_owner=owner)
    return list(mine) if taken else []


def _attempt(job: Job, call: Call, now: datetime) -> Attempt:
    return Attempt(
        job=job,
        number=job.fence,
        fence=job.fence,
        status=AttemptStatus.SENT,
        request_hash=call.request_hash,
        rubric=call.rubric,
        marking_notes=call.marking_notes,
        sent_at=now,
        reserved=call.most,
    )


def _claimed(attempt: Attempt, call: Call) -> Claimed:
    return Claimed(attempt, ChatRequest(attempt.pk, call.messages, call.params))


def hold_run(run: Run, owner: str, now: datetime) -> bool:
    """Take the run for *owner*, or renew the hold; False where another worker has it."""
    row = Run.objects.filter(pk=run.pk)
    return bool(RUN.claim(row, owner, until=lease_end(now), now=now))


def renew(run: Run, owner: str, now: datetime) -> bool:
    """Renew the hold on the run and the leases of its jobs; False where the hold was lost."""
    until = lease_end(now)
    if not RUN.renew(Run.objects.filter(pk=run.pk), owner, until=until):
        return False
    JOB.renew(Job.objects.filter(run=run, status=JobStatus.LEASED), owner, until=until)
    return True


def let_go(run: Run, owner: str) -> None:
    """Give the run back; nothing where somebody else holds it by now."""
    RUN.release(Run.objects.filter(pk=run.pk), owner)


def holders() -> set[str]:
    """The names of all who hold a run, or a job of a run that is not over."""
    runs = Run.objects.exclude(worker="").values_list("worker", flat=True)
    open_runs = Run.objects.exclude(status__in=(RunStatus.FINISHED, RunStatus.IMPORTED))
    leased = Job.objects.filter(run__in=open_runs, status=JobStatus.LEASED)
    return {*runs, *leased.order_by().values_list("lease_owner", flat=True).distinct()}


@transaction.atomic
def reap(now: datetime) -> int:
    """Give back the jobs whose lease ended or whose worker is surely gone; how many.

    Runs that such a worker held are free again at once. The calls may have been
    billed and answered: those attempts are ``unknown``, and the budget goes on
    counting what they could have cost.
    """
    dead = gone(holders())
    Run.objects.filter(worker__in=dead).update(**RUN.released())
    lost = JOB.ended(now) | Q(lease_owner__in=dead)
    late = Job.objects.filter(lost, status=JobStatus.LEASED)
    ids = list(late.select_for_update().values_list("pk", flat=True))
    if not ids:
        return 0
    sent = Attempt.objects.filter(job__in=ids, fence=F("job__fence"), status=AttemptStatus.SENT)
    Attempt.objects.filter(pk__in=list(sent.values_list("pk", flat=True))).update(
        status=AttemptStatus.UNKNOWN, error=WORKER_LOST, finished_at=now
    )
    free = {**JOB.released(), "error": WORKER_LOST}
    tired = Job.objects.filter(pk__in=ids, attempts_made__gte=MOST_ATTEMPTS)
    tired.update(status=JobStatus.FAILED, **free)
    Job.objects.filter(pk__in=ids, status=JobStatus.LEASED).update(status=JobStatus.PENDING, **free)
    return len(ids)

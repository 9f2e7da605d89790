"""The job queue: jobs are claimed, leased and released in the database.

A message of the broker is only a hint that there is work. Which jobs are pending, who holds them
since when, and what may have been billed, is in these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet

from evaluations.llm.budget import Budget
from evaluations.llm.client import ChatRequest
from evaluations.models import Attempt, Job, MarkingNotes, Run, RunWorker
from evaluations.models.vocabulary import AttemptStatus, JobStatus, RunStatus
from evaluations.runs.rules.call_keys import call_key
from evaluations.runs.services import spending
from evaluations.runs.services.attempts_sql import insert_sent
from evaluations.runs.services.frozen import currency_of
from evaluations.runs.services.run_workers import ALONE, PLACE, Part, lease_end, renew_place
from evaluations.runs.services.steps import fail_steps_after
from evaluations.runs.services.study_budgets import (
    commit,
    commit_to_run,
    reserve,
    reserve_in_run,
    units,
)
from evaluations.runs.services.worker_names import ended_workers
from gradeapp.common.leases import Lease
from questions.models import Rubric

# A job that failed this often is failed, until a person retries it.
MOST_ATTEMPTS = 4
WORKER_LOST = "worker_lost"
# A job that lost its worker twice may be what ended it (it took all memory, say). It is called when
# the worker has nothing else in flight, so that no other job fails with it.
SUSPECT = Q(error=WORKER_LOST, attempts_made__gte=2)
# What the messages of a job are made from.
SHOWN = ("revision", "question__task__dataset", "response", "waits_for__step_reply")
JOB = Lease("lease_owner", "lease_until", "")


@dataclass(frozen=True)
class Call:
    """The request of a job without its key, its hash, and its highest possible cost.

    ``rubric`` and ``marking_notes`` are those in the messages to a judge; ``images`` are the
    SHA-256 of those that are sent. ``examples_used``
    counts the worked examples of a few-shot prompt, and ``prompt_bytes`` is the most tokens that
    the messages may have.
    """

    messages: Sequence[Mapping[str, Any]]
    params: dict[str, object]
    request_hash: str
    most: Decimal
    rubric: Rubric | None = None
    marking_notes: MarkingNotes | None = None
    images: Sequence[str] = ()
    images_omitted: int = 0
    option_order: str = ""
    examples_used: int | None = None
    prompt_bytes: int | None = None

    def attempt(self, job: Job, now: datetime) -> Attempt:
        """Return the attempt of this call for the claimed *job*, not saved yet."""
        return Attempt(
            job=job,
            number=job.fence,
            fence=job.fence,
            status=AttemptStatus.SENT,
            request_hash=self.request_hash,
            params=self.params,
            rubric=self.rubric,
            marking_notes=self.marking_notes,
            images=list(self.images),
            images_omitted=self.images_omitted,
            option_order=self.option_order,
            examples_used=self.examples_used,
            prompt_bytes=self.prompt_bytes,
            sent_at=now,
            reserved=self.most,
        )


@dataclass(frozen=True)
class Claimed:
    """The attempt of a claimed job (already stored as sent), and its request."""

    attempt: Attempt
    request: ChatRequest


def due_jobs(run: Run, now: datetime) -> QuerySet[Job]:
    """Return the jobs of *run* that may be claimed at *now*."""
    waited = Q(next_at__isnull=True) | Q(next_at__lte=now)
    return Job.objects.filter(waited, run=run, status=JobStatus.PENDING)


def prepare_calls(
    run: Run,
    n: int,
    now: datetime,
    *,
    prepare: Callable[[Job], Call],
    without: Collection[int] = (),
    part: Part = ALONE,
    least_called: bool = False,
    suspects: bool = False,
) -> dict[int, Call]:
    """Return the calls of up to *n* due jobs of *run*, those *without* left out, by job.

    Nothing is claimed. The workers of a run begin with the jobs of their own *part*, so that they
    seldom prepare the same. With *least_called*, the jobs that were called least come first.
    With *suspects* these are jobs that lost two workers, else the other ones.
    """
    due = due_jobs(run, now).exclude(pk__in=without).select_related(*SHOWN)
    due = due.filter(SUSPECT) if suspects else due.exclude(SUSPECT)
    if least_called:
        due = due.order_by("fence", "pk")
    jobs: list[Job] = []
    if part.workers > 1:
        own = due.annotate(part=F("pk") % part.workers).filter(part=part.index)
        jobs = list(own[:n])
    if len(jobs) < n:
        jobs += due.exclude(pk__in=[job.pk for job in jobs])[: n - len(jobs)]
    return {job.pk: prepare(job) for job in jobs}


@dataclass(frozen=True)
class Claims:
    """The claimed calls; the next one is above the budget, or above a spending cap."""

    calls: list[Claimed]
    over_budget: bool = False
    over_cap: bool = False


def claim_calls(
    run: Run,
    owner: str,
    prepared: Mapping[int, Call],
    now: datetime,
    *,
    budget: Budget,
    until: datetime | None = None,
) -> Claims:
    """Claim the jobs of *prepared* for *owner* and store their attempts as sent.

    The leases end at *until*, by default after the usual time.
    The highest possible cost of each call is reserved in *budget*; the first call above the budget
    ends the batch. One conditional UPDATE claims the jobs, so two workers never have the same one;
    its fence is the number of the attempt. Everything is committed when this returns, before
    anything is sent.
    """
    planned: dict[int, Call] = {}
    for pk, call in prepared.items():
        if not budget.can_reserve(call.most):
            break
        budget.reserve(call.most)
        planned[pk] = call
    over_budget = len(planned) < len(prepared)
    over_cap = False
    attempts: list[Attempt] = []
    if planned:
        with transaction.atomic():
            # In one order with the storing of results: two workers cannot wait for each other.
            rows = Job.objects.filter(pk__in=planned).select_for_update().order_by("pk")
            list(rows.values_list("pk", flat=True))
            reserved, wanted = 0, len(planned)
            if run.study_id is not None:
                reserved = _reserve_in_study(run.study_id, planned, budget)
                over_budget = over_budget or len(planned) < wanted
            wanted = len(planned)
            of_run = _reserve_in_run(run, planned, budget)
            over_budget = over_budget or len(planned) < wanted
            wanted = len(planned)
            under_cap = _reserve_under_cap(currency_of(run), planned, budget, now)
            over_cap = len(planned) < wanted
            attempts = _claim(run, owner, planned, now, until or lease_end(now))
            if run.study_id is not None:
                commit(run.study_id, units(one.reserved for one in attempts) - reserved)
            used = units(one.reserved for one in attempts)
            commit_to_run(run.pk, used - of_run)
            spending.commit(currency_of(run), spending.month_of(now), used - under_cap)
    claimed = []
    for attempt in attempts:
        call = planned.pop(attempt.job_id)
        key = call_key(attempt.pk, attempt.request_hash)
        claimed.append(Claimed(attempt, ChatRequest(key, call.messages, call.params)))
    for lost in planned.values():
        budget.finalize(lost.most, Decimal(0))
    return Claims(claimed, over_budget, over_cap)


def _claim(
    run: Run, owner: str, planned: Mapping[int, Call], now: datetime, until: datetime
) -> list[Attempt]:
    """Claim those of *planned* that are still due, and store their attempts."""
    if not planned:
        return []
    due_jobs(run, now).filter(pk__in=planned).update(
        status=JobStatus.LEASED,
        **JOB.given(owner, until),
        fence=F("fence") + 1,
        attempts_made=F("attempts_made") + 1,
        next_at=None,
    )
    own = Job.objects.filter(pk__in=planned, status=JobStatus.LEASED, lease_owner=owner)
    attempts = [planned[job.pk].attempt(job, now) for job in own]
    insert_sent(attempts)
    return attempts


def claim_jobs(
    run: Run,
    owner: str,
    n: int,
    now: datetime,
    *,
    prepare: Callable[[Job], Call],
    budget: Budget,
) -> list[Claimed]:
    """Prepare and claim up to *n* due jobs of *run* for *owner*, as a work session does."""
    prepared = prepare_calls(run, n, now, prepare=prepare)
    prepared = prepared or prepare_calls(run, 1, now, prepare=prepare, suspects=True)
    return claim_calls(run, owner, prepared, now, budget=budget).calls


def _reserve_in_study(study_id: int, planned: dict[int, Call], budget: Budget) -> int:
    """Reserve the calls of *planned* in the budget of the study, and return their sum in its units.

    Calls above the budget are taken out of *planned*, from the end.
    """
    while planned:
        most = units(call.most for call in planned.values())
        if reserve(study_id, most):
            return most
        _last, call = planned.popitem()
        budget.finalize(call.most, Decimal(0))
    return 0


def _reserve_in_run(run: Run, planned: dict[int, Call], budget: Budget) -> int:
    """Reserve the calls of *planned* in the budget of *run*, and return their sum in units.

    Calls above the budget are taken out of *planned*, from the end: other workers of the run spend
    too, which *budget* does not know.
    """
    while planned:
        most = units(call.most for call in planned.values())
        if reserve_in_run(run, most):
            return most
        _last, call = planned.popitem()
        budget.finalize(call.most, Decimal(0))
    return 0


def _reserve_under_cap(
    currency: str, planned: dict[int, Call], budget: Budget, now: datetime
) -> int:
    """Reserve the calls of *planned* under the spending caps, and return their sum in units.

    Calls above a cap are taken out of *planned*, from the end.
    """
    while planned:
        most = units(call.most for call in planned.values())
        if spending.reserve(currency, now, most):
            return most
        _last, call = planned.popitem()
        budget.finalize(call.most, Decimal(0))
    return 0


def renew_leases(run: Run, owner: str, now: datetime) -> bool:
    """Renew the leases of the place at the run and of the jobs; return False if it was lost."""
    if not renew_place(run, owner, now):
        return False
    jobs = Job.objects.filter(run=run, status=JobStatus.LEASED)
    JOB.renew(jobs, owner, until=lease_end(now))
    return True


@transaction.atomic
def release_lost_jobs(now: datetime) -> int:
    """Release the jobs whose lease or worker has ended; return their number.

    The places of such a worker are freed too. The calls may have been billed and answered: their
    attempts become ``unknown``, and the budget keeps their reserved cost.
    """
    places = RunWorker.objects.exclude(worker="")
    holders = set(places.values_list("worker", flat=True))
    open_runs = Run.objects.exclude(status__in=(RunStatus.FINISHED, RunStatus.IMPORTED))
    leased = Job.objects.filter(run__in=open_runs, status=JobStatus.LEASED).order_by()
    holders |= set(leased.values_list("lease_owner", flat=True).distinct())
    dead = ended_workers(holders)
    places.filter(worker__in=dead).update(**PLACE.released())
    lost = JOB.ended(now) | Q(lease_owner__in=dead)
    # One that is done, by the late reply to an earlier call, has the lease of the later one.
    lost_jobs = Job.objects.filter(lost, status__in=(JobStatus.LEASED, JobStatus.DONE))
    ids = list(lost_jobs.select_for_update().values_list("pk", flat=True))
    if not ids:
        return 0
    sent = Attempt.objects.filter(job__in=ids, fence=F("job__fence"), status=AttemptStatus.SENT)
    Attempt.objects.filter(pk__in=list(sent.values_list("pk", flat=True))).update(
        status=AttemptStatus.UNKNOWN, error=WORKER_LOST, finished_at=now
    )
    free = {**JOB.released(), "error": WORKER_LOST}
    Job.objects.filter(pk__in=ids, status=JobStatus.DONE).update(**JOB.released())
    leased = Job.objects.filter(pk__in=ids, status=JobStatus.LEASED)
    exhausted = leased.filter(attempts_made__gte=MOST_ATTEMPTS)
    failed = list(exhausted.values_list("pk", flat=True))
    Job.objects.filter(pk__in=failed).update(status=JobStatus.FAILED, **free)
    fail_steps_after(failed)
    leased.update(status=JobStatus.PENDING, **free)
    return len(ids)

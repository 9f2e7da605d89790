"""What came of calls, into the database: the answer first, all else after it.

An answer that was paid for is kept whoever brings it: also one that comes after
the lease was lost, or a second time from the spool. There is never a second
response for one job, and the job of another worker is never touched by a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

from django.db import transaction

from evaluations.llm.client import CallResult, ChatFailure, ChatReply, FailureKind
from evaluations.llm.retry import RetryPolicy, decide
from evaluations.models import Attempt, Job, Run
from evaluations.models.vocabulary import AttemptStatus, JobStatus
from evaluations.runs.kinds import Kept, kind_of
from evaluations.runs.services.frozen import price_of
from evaluations.runs.services.queue import JOB, MOST_ATTEMPTS, WORKER_LOST
from gradeapp.common.storable import storable

K = FailureKind
# Nobody's fault here, and surely not billed: waiting for the endpoint uses up no attempt.
WAITING = frozenset({K.CONNECT, K.RATE_LIMIT})
# Beside what ``pauses_run`` names: a wrong model or address meets every call alike.
WALLS = frozenset({K.NOT_FOUND, K.REDIRECT})
COUNTED = RetryPolicy(attempts=MOST_ATTEMPTS)
PATIENT = RetryPolicy(attempts=10**6, rate_limit_attempts=10**6)


@dataclass
class Stored:
    """What a batch came to: what the kind of the run kept, failures, and money settled."""

    kept: Kept = field(default_factory=Kept)
    failures: list[ChatFailure] = field(default_factory=list)
    answered: int = 0
    settled: list[tuple[Decimal, Decimal]] = field(default_factory=list)


@transaction.atomic
def store_results(outcomes: Sequence[CallResult], *, now: datetime, random: Random) -> Stored:
    """Store a batch, all of it or nothing; an outcome that is here already changes nothing.

    ``settled`` pairs what was reserved for a call with what it cost; a call
    whose answer is unknown keeps its whole reservation.
    """
    stored = Stored()
    jobs = _locked_jobs(outcomes)
    attempts = Attempt.objects.in_bulk([int(outcome.key) for outcome in outcomes])
    found = [(outcome, attempts.get(int(outcome.key))) for outcome in outcomes]
    fresh = [(outcome, attempt) for outcome, attempt in found if attempt and _is_open(attempt)]
    for outcome, attempt in fresh:
        attempt.job = jobs[attempt.job_id]
        _note(attempt, outcome, now)
        stored.settled.append((attempt.reserved, _counted(attempt)))
    _save_attempts([attempt for _outcome, attempt in fresh])
    replies = [(attempt, o.reply) for o, attempt in fresh if o.reply is not None]
    failures = [(attempt, o.failure) for o, attempt in fresh if o.failure is not None]
    _keep_replies(replies, stored)
    for attempt, failure in failures:
        _give_back(attempt, failure, now, random)
    stored.answered = len(replies)
    stored.failures = [failure for _attempt, failure in failures]
    return stored


def _locked_jobs(outcomes: Sequence[CallResult]) -> dict[int, Job]:
    """The jobs of the batch, locked in one order so that two workers cannot wait for each other."""
    keys = [int(outcome.key) for outcome in outcomes]
    locked = Job.objects.filter(attempts__in=keys).select_for_update(of=("self",)).order_by("pk")
    jobs = {job.pk: job for job in locked}
    runs = Run.objects.select_related("judge").in_bulk({job.run_id for job in jobs.values()})
    for job in jobs.values():
        job.run = runs[job.run_id]
    return jobs


def _is_open(attempt: Attempt) -> bool:
    return attempt.status in (AttemptStatus.SENT, AttemptStatus.UNKNOWN)


def _note(attempt: Attempt, outcome: CallResult, now: datetime) -> None:
    attempt.finished_at, attempt.seconds = now, outcome.seconds
    if outcome.reply is not None:
        _note_reply(attempt, outcome.reply)
    elif outcome.failure is not None:
        _note_failure(attempt, outcome.failure)


def _note_reply(attempt: Attempt, reply: ChatReply) -> None:
    attempt.status = AttemptStatus.ANSWERED
    attempt.error = attempt.error_text = ""
    attempt.http_status = 200
    attempt.prompt_tokens = reply.prompt_tokens
    attempt.completion_tokens = reply.completion_tokens
    attempt.cost = _cost(attempt, reply)
    attempt.response_model = storable(reply.model, 120)
    attempt.request_id = storable(reply.request_id, 120)
    attempt.body = storable(reply.raw)


def _cost(attempt: Attempt, reply: ChatReply) -> Decimal:
    """By the endpoint's own usage; the most it could cost where the endpoint says nothing."""
    if reply.prompt_tokens is None or reply.completion_tokens is None:
        return attempt.reserved
    return price_of(attempt.job.run).cost(reply.prompt_tokens, reply.completion_tokens)


def _note_failure(attempt: Attempt, failure: ChatFailure) -> None:
    billed = failure.may_have_been_billed
    attempt.status = AttemptStatus.UNKNOWN if billed else AttemptStatus.ERROR
    attempt.error = failure.kind
    attempt.error_text = storable(failure.text)
    attempt.http_status = failure.http_status
    attempt.request_id = storable(failure.request_id, 120)


def _counted(attempt: Attempt) -> Decimal:
    """What the budget has to bear for a finished attempt."""
    return attempt.reserved if attempt.status == AttemptStatus.UNKNOWN else attempt.cost


def _save_attempts(attempts: Sequence[Attempt]) -> None:
    """One statement for the batch: an insert that always meets its own row."""
    fields = ["status", "error", "error_text", "http_status", "prompt_tokens"]
    fields += ["completion_tokens", "cost", "response_model", "request_id", "body"]
    fields += ["finished_at", "seconds"]
    Attempt.objects.bulk_create(
        attempts, update_conflicts=True, unique_fields=["id"], update_fields=fields
    )


def _keep_replies(replies: Iterable[tuple[Attempt, ChatReply]], stored: Stored) -> None:
    """Let the kind of each run keep the replies to jobs that are not done."""
    by_purpose: dict[str, list[tuple[Attempt, ChatReply]]] = {}
    for attempt, reply in replies:
        if attempt.job.status != JobStatus.DONE:
            by_purpose.setdefault(attempt.job.run.purpose, []).append((attempt, reply))
    for pairs in by_purpose.values():
        kind = kind_of(pairs[0][0].job.run)
        if not kind.keeps_every_reply:
            # The first reply to a job is the one that counts; a batch from the spool may hold two.
            first = {attempt.job_id: (attempt, reply) for attempt, reply in reversed(pairs)}
            pairs = list(first.values())
        kept = kind.store_replies(pairs)
        finish(kept.done)
        stored.kept.responses += kept.responses
        stored.kept.done += kept.done


def finish(jobs: Sequence[Job]) -> None:
    """Mark *jobs* as done, in the database and in hand."""
    for job in jobs:
        job.status = JobStatus.DONE
    Job.objects.filter(pk__in=[job.pk for job in jobs]).update(
        status=JobStatus.DONE, next_at=None, error="", **JOB.released()
    )


def is_wall(failure: ChatFailure) -> bool:
    """Whether every other call would fail alike, so that the run waits for a person."""
    return failure.pauses_run or failure.kind in WALLS


def _give_back(attempt: Attempt, failure: ChatFailure, now: datetime, random: Random) -> None:
    """The job after a failure: pending again, later, or failed. Only the holder of the fence."""
    job = attempt.job
    if job.fence != attempt.fence or job.status != JobStatus.LEASED:
        return
    wait = _seconds_to_wait(attempt, failure, random)
    job.status = JobStatus.FAILED if wait is None else JobStatus.PENDING
    job.next_at = now + timedelta(seconds=wait) if wait else None
    job.error, job.lease_owner, job.lease_until = failure.kind, "", None
    job.save(
        update_fields=["status", "next_at", "error", "lease_owner", "lease_until", "attempts_made"]
    )


def _seconds_to_wait(attempt: Attempt, failure: ChatFailure, random: Random) -> float | None:
    """Until the job is due again; None where it is not tried again."""
    job = attempt.job
    never_sent = failure.kind is K.CANCELLED and not failure.may_have_been_billed
    if is_wall(failure) or failure.kind in WAITING or never_sent:
        job.attempts_made -= 1
        return 0.0 if is_wall(failure) else decide(failure, attempt.number, random, PATIENT).wait
    number = _possibly_billed(job) if failure.may_have_been_billed else job.attempts_made
    decision = decide(failure, max(1, number), random, COUNTED)
    again = decision.again and job.attempts_made < MOST_ATTEMPTS
    return decision.wait if again else None


def _possibly_billed(job: Job) -> int:
    """Calls of *job* whose answer is unknown; what a killed worker left is not the endpoint's."""
    unknown = job.attempts.filter(status=AttemptStatus.UNKNOWN).exclude(error=WORKER_LOST)
    return unknown.count()

"""Store the results of calls, and decide which jobs are called again.

A paid answer is stored whoever delivers it, also after the lease was lost or for a second time from
the spool. A job never gets a second response, and a failure never changes a job that another worker
holds.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

from django.db import DataError, transaction
from django.db.models import F

from evaluations.llm.breaker import OF_THE_CALL, Breaker
from evaluations.llm.budget import most_counted
from evaluations.llm.client import (
    KEPT_BODY,
    CallResult,
    ChatFailure,
    ChatReply,
    FailureKind,
    without_usage,
)
from evaluations.llm.replies import malformed
from evaluations.llm.retry import RetryPolicy, decide
from evaluations.models import Attempt, Job, Run
from evaluations.models.vocabulary import AttemptStatus, JobStatus, UsageState
from evaluations.runs.kinds import Kept, kind_of
from evaluations.runs.rules.call_keys import attempt_of, fits
from evaluations.runs.rules.endings import ending_of, same_model
from evaluations.runs.rules.sampling import tokens_asked
from evaluations.runs.services import spending
from evaluations.runs.services.attempts_sql import update_results
from evaluations.runs.services.frozen import cost_in_replies, currency_of, price_of
from evaluations.runs.services.job_queue import JOB, MOST_ATTEMPTS, WORKER_LOST
from evaluations.runs.services.steps import (
    fail_steps_after,
    store_step_replies,
    wait_for_step_again,
)
from evaluations.runs.services.study_budgets import commit, commit_to_run, units
from gradeapp.common.storable import storable

logger = logging.getLogger(__name__)

K = FailureKind
# What the column of a cost does not hold any more; SQLite would store it, and not read it back.
MOST_COST = Decimal(10**6)
MOST_CHOICES = 2**15 - 1
# What a database or the ORM raises for a value that a column does not hold; not for a lost
# connection, a full disk or a broken constraint of another row.
NOT_STORABLE = (DataError, ArithmeticError, ValueError, TypeError)
# Waiting for the endpoint is not billed and uses up no attempt.
WAITING = frozenset({K.CONNECT, K.RATE_LIMIT})
# Like the failures with ``pauses_run``, a wrong model or address makes every call fail.
FAILS_EVERY_CALL = frozenset({K.ADDRESS, K.CERTIFICATE, K.NOT_FOUND, K.REDIRECT})
COUNTED = RetryPolicy(attempts=MOST_ATTEMPTS)
UNLIMITED_RETRIES = RetryPolicy(attempts=10**6, rate_limit_attempts=10**6)
OPEN = (AttemptStatus.SENT, AttemptStatus.UNKNOWN)


@dataclass
class Stored:
    """What was stored of a batch.

    ``costs`` has for each call the amount that was reserved until now, and the amount that the
    budget has to bear, ``failed`` each failure and when its call was sent.
    """

    kept: Kept = field(default_factory=Kept)
    failed: list[tuple[ChatFailure, datetime]] = field(default_factory=list)
    answered: int = 0
    costs: list[tuple[Decimal, Decimal]] = field(default_factory=list)

    def add(self, other: Stored) -> None:
        """Add what was stored of another batch."""
        self.kept.responses += other.kept.responses
        self.kept.done += other.kept.done
        self.failed += other.failed
        self.answered += other.answered
        self.costs += other.costs


def store_results(
    results: Sequence[CallResult],
    *,
    now: datetime,
    random: Random,
    breaker: Breaker | None = None,
) -> Stored:
    """Store a batch, all or nothing; a result that is already stored changes nothing.

    One whose key is of another request (``call_keys``) is not stored. A reply takes the place of a
    failure, also of one that said that the request was not begun.
    A call whose answer is unknown costs its whole reservation. *breaker* is told what came back; a
    failure while it is open counts against no job.
    """
    breaker = breaker or Breaker(random=random)
    with breaker.undone_by_an_error(), transaction.atomic():
        return _store(results, now=now, random=random, breaker=breaker)


def _store(
    results: Sequence[CallResult], *, now: datetime, random: Random, breaker: Breaker
) -> Stored:
    stored = Stored()
    keys = [attempt_of(result.key) for result in results]
    # Locked in one order, so that two workers cannot wait for each other.
    locked = Job.objects.filter(attempts__in=keys).select_for_update(of=("self",)).order_by("pk")
    jobs = {job.pk: job for job in locked}
    runs = Run.objects.select_related("judge").in_bulk({job.run_id for job in jobs.values()})
    attempts = Attempt.objects.exclude(status=AttemptStatus.ANSWERED).in_bulk(keys)
    # A spool may hold a result twice; one statement cannot store it so.
    single: dict[int, CallResult] = {}
    for key, result in zip(keys, results, strict=True):
        attempt = attempts.get(key)
        if attempt is None or not fits(result.key, attempt.request_hash):
            continue
        # A reply is paid, whatever was said of its request before.
        if attempt.status in OPEN or result.reply is not None:
            single.setdefault(key, result)
    fresh = [(one, attempts[key]) for key, one in single.items()]
    for result, attempt in fresh:
        attempt.job = jobs[attempt.job_id]
        attempt.job.run = runs[attempt.job.run_id]
        held = attempt.reserved if attempt.status in OPEN else attempt.cost
        _set_result(attempt, result, now)
        unknown = attempt.status == AttemptStatus.UNKNOWN
        stored.costs.append((held, attempt.reserved if unknown else attempt.cost))
    _commit_to_studies(fresh, stored)
    _commit_to_spending(fresh, stored)
    _tell(breaker, fresh, now)
    update_results([attempt for _result, attempt in fresh])
    _release_done([attempt for _result, attempt in fresh])
    replies = [(attempt, one.reply) for one, attempt in fresh if one.reply is not None]
    failures = [(attempt, one.failure) for one, attempt in fresh if one.failure is not None]
    _keep_replies(replies, stored)
    for attempt, failure in failures:
        _reschedule(attempt, failure, now, random)
    if failures and breaker.is_open:
        forget_failures(breaker)
    stored.answered = len(replies)
    stored.failed = [(failure, attempt.sent_at) for attempt, failure in failures]
    return stored


def store_each(
    results: Sequence[CallResult],
    *,
    now: datetime,
    random: Random,
    breaker: Breaker | None = None,
) -> Stored:
    """Store a batch; a reply that cannot be stored is stored as malformed, the others as they are.

    A number that no column holds must not keep a batch from being stored again and again, and
    costs no answer: a reply whose usage cannot be stored counts as one without.
    """
    try:
        return store_results(results, now=now, random=random, breaker=breaker)
    except NOT_STORABLE as error:
        if len(results) > 1:
            stored = Stored()
            for result in results:
                stored.add(store_each([result], now=now, random=random, breaker=breaker))
            return stored
        (result,) = results
        if result.reply is None:
            raise
        logger.exception("the reply to call %s cannot be stored", result.key)
        if (bare := without_usage(result.reply)) != result.reply:
            kept = [CallResult(result.key, bare, result.seconds)]
            return store_each(kept, now=now, random=random, breaker=breaker)
        why = f"the reply cannot be stored: {type(error).__name__}"
        failure = malformed(why, result.reply.request_id, result.reply.raw[:KEPT_BODY])
        broken = [CallResult(result.key, failure, result.seconds)]
        return store_results(broken, now=now, random=random, breaker=breaker)


def _tell(breaker: Breaker, fresh: Sequence[tuple[CallResult, Attempt]], now: datetime) -> None:
    """Tell *breaker* what came back, and mark the attempts that failed during an outage."""
    seconds = now.timestamp()
    for result, attempt in fresh:
        if result.failure is None or _refused_again(attempt, result.failure):
            breaker.answered(attempt.pk, seconds)
        else:
            prompt = attempt.request_hash
            breaker.failed(attempt.pk, prompt, result.failure, seconds)
    if breaker.is_open:
        for _result, attempt in fresh:
            attempt.during_outage = attempt.pk in breaker.failures


def _refused_again(attempt: Attempt, failure: ChatFailure) -> bool:
    """Return whether this prompt alone is refused: it was before, and others were answered since.

    Only a call that was sent after the first refusal counts: one that was in flight when an outage
    began may be answered later than the outage refused its first call.
    """
    if failure.kind not in OF_THE_CALL:
        return False
    before = Attempt.objects.filter(
        job=attempt.job_id, request_hash=attempt.request_hash, error=failure.kind
    ).exclude(pk=attempt.pk)
    first = before.order_by("number").values_list("finished_at", flat=True).first()
    answered = Attempt.objects.filter(job__run=attempt.job.run_id, status=AttemptStatus.ANSWERED)
    return first is not None and answered.filter(sent_at__gt=first).exists()


@transaction.atomic
def forget_failures(breaker: Breaker) -> None:
    """Mark the failures that came before *breaker* opened; they count against no job.

    A job that failed for good by one of them is called again.
    """
    found = Attempt.objects.filter(pk__in=breaker.failures, during_outage=False)
    attempts = list(found.select_related("job"))
    Attempt.objects.filter(pk__in=[one.pk for one in attempts]).update(during_outage=True)
    for attempt in attempts:
        own = Job.objects.filter(pk=attempt.job_id, fence=attempt.fence)
        own.filter(attempts_made__gt=0).update(attempts_made=F("attempts_made") - 1)
        if own.filter(status=JobStatus.FAILED).update(status=JobStatus.PENDING, next_at=None):
            wait_for_step_again(attempt.job_id)


def _commit_to_studies(fresh: Sequence[tuple[CallResult, Attempt]], stored: Stored) -> None:
    """Replace the reservations of calls of studies by what the calls cost."""
    changes: dict[int, int] = {}
    for (_result, attempt), (reserved, cost) in zip(fresh, stored.costs, strict=True):
        study = attempt.job.run.study_id
        if study is not None:
            changes[study] = changes.get(study, 0) + units([cost]) - units([reserved])
    for study, change in sorted(changes.items()):
        commit(study, change)


def _commit_to_spending(fresh: Sequence[tuple[CallResult, Attempt]], stored: Stored) -> None:
    """Replace the reservations of calls by what they cost, of their runs and their month."""
    changes: dict[tuple[str, str], int] = {}
    of_runs: dict[int, int] = {}
    for (_result, attempt), (reserved, cost) in zip(fresh, stored.costs, strict=True):
        key = (currency_of(attempt.job.run), spending.month_of(attempt.sent_at))
        change = units([cost]) - units([reserved])
        changes[key] = changes.get(key, 0) + change
        of_runs[attempt.job.run_id] = of_runs.get(attempt.job.run_id, 0) + change
    for run_id, change in sorted(of_runs.items()):
        commit_to_run(run_id, change)
    for (currency, month), change in sorted(changes.items()):
        spending.commit(currency, month, change)


def _set_result(attempt: Attempt, result: CallResult, now: datetime) -> None:
    """Set the fields of *attempt* from the reply or the failure."""
    attempt.finished_at, attempt.seconds = now, result.seconds
    if isinstance(result.result, ChatReply):
        reply = result.result
        attempt.status = AttemptStatus.ANSWERED
        attempt.error = attempt.error_text = ""
        attempt.http_status = 200
        attempt.prompt_tokens = reply.prompt_tokens
        attempt.completion_tokens = reply.completion_tokens
        _set_usage(attempt, reply)
        asked = str(attempt.job.run.run_settings.get("model", ""))
        attempt.ending, attempt.choices = ending_of(reply), min(reply.choices, MOST_CHOICES)
        attempt.other_model = bool(asked and reply.model and not same_model(asked, reply.model))
        attempt.response_model = storable(reply.model, 120)
        attempt.request_id = storable(reply.request_id, 120)
        attempt.body = storable(reply.raw)
    else:
        failure = result.result
        billed = failure.may_have_been_billed
        attempt.status = AttemptStatus.UNKNOWN if billed else AttemptStatus.ERROR
        attempt.error = failure.kind
        attempt.error_text = storable(failure.text)
        attempt.body = storable(failure.body)
        attempt.http_status = failure.http_status
        attempt.request_id = storable(failure.request_id, 120)


def _set_usage(attempt: Attempt, reply: ChatReply) -> None:
    """Set the tokens and the cost of *attempt*.

    Without token counts that can be used, the call costs the most it could: its reservation. What
    the provider says it cost counts where it is more, if the endpoint reports costs in its
    currency: a provider that bills another account reports its fee alone, and a reported 0 must not
    pass a budget. What nothing that was sent can reach costs the most that is believed, so that one
    reply does not use up the caps of all runs.
    """
    attempt.cached_tokens, attempt.reasoning_tokens = reply.cached_tokens, reply.reasoning_tokens
    attempt.audio_tokens, attempt.total_tokens = reply.audio_tokens, reply.total_tokens
    attempt.reported_cost = None if reply.reported_cost is None else Decimal(reply.reported_cost)
    price = price_of(attempt.job.run)
    attempt.cost, attempt.usage = attempt.reserved, UsageState.MISSING
    if reply.odd_usage:
        attempt.usage = UsageState.ODD
    elif reply.prompt_tokens is not None and reply.completion_tokens is not None:
        cost = price.cost(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
        attempt.cost, attempt.usage = cost, UsageState.COMPLETE
    reported = attempt.reported_cost if cost_in_replies(attempt.job.run) else None
    if reported is not None and reported > attempt.cost:
        attempt.cost = reported
        if attempt.usage != UsageState.COMPLETE:
            attempt.usage = UsageState.REPORTED
    read = most_counted(attempt.prompt_bytes or 0)
    written = most_counted(tokens_asked(attempt.params))
    most = max(attempt.reserved, price.most(read, written))
    too_many = (reply.prompt_tokens or 0) > read or (reply.completion_tokens or 0) > written
    if too_many or attempt.cost > most:
        attempt.cost, attempt.usage = min(attempt.cost, most), UsageState.ODD
    if attempt.cost >= MOST_COST:
        raise ValueError("the cost of the call is larger than its column")


def _keep_replies(replies: Sequence[tuple[Attempt, ChatReply]], stored: Stored) -> None:
    """Let the kind of each run store the replies to jobs that are not done."""
    by_purpose: dict[str, list[tuple[Attempt, ChatReply]]] = {}
    for attempt, reply in replies:
        if attempt.job.status != JobStatus.DONE:
            by_purpose.setdefault(attempt.job.run.purpose, []).append((attempt, reply))
    for pairs in by_purpose.values():
        kind = kind_of(pairs[0][0].job.run)
        if not kind.keeps_every_reply:
            # Only the first reply to a job counts; a batch from the spool may contain two.
            first = {attempt.job_id: (attempt, reply) for attempt, reply in reversed(pairs)}
            pairs = list(first.values())
        steps_done, last = store_step_replies(pairs)
        kept = kind.store_replies(last) if last else Kept()
        done = [*steps_done, *kept.done]
        for job in done:
            job.status = JobStatus.DONE
        finished = Job.objects.filter(pk__in=[job.pk for job in done])
        finished.update(status=JobStatus.DONE, next_at=None, error="")
        # A later call may be on its way: its lease says whose it is, and when it is lost.
        asked_again = Attempt.objects.filter(
            job__in=finished, fence=F("job__fence"), status=AttemptStatus.SENT
        )
        finished.exclude(pk__in=asked_again.values("job")).update(**JOB.released())
        stored.kept.responses += kept.responses
        stored.kept.done += kept.done


def _release_done(ended: Sequence[Attempt]) -> None:
    """Release jobs that an earlier call has done, and whose later call has *ended* now."""
    over = [one.job_id for one in ended if one.fence == one.job.fence]
    if done := [one.job_id for one in ended if one.job.status == JobStatus.DONE]:
        Job.objects.filter(pk__in=set(over) & set(done)).update(**JOB.released())


def fails_every_call(failure: ChatFailure) -> bool:
    """Return whether every other call would fail alike, so that the run waits for a person."""
    return failure.pauses_run or failure.kind in FAILS_EVERY_CALL


def _reschedule(attempt: Attempt, failure: ChatFailure, now: datetime, random: Random) -> None:
    """Set the job of a failed attempt to pending or failed, unless another worker holds it."""
    job = attempt.job
    if job.fence != attempt.fence or job.status != JobStatus.LEASED:
        return
    wait: float | None = 0.0
    never_sent = failure.kind is K.CANCELLED and not failure.may_have_been_billed
    if attempt.during_outage:
        job.attempts_made -= 1
    elif fails_every_call(failure) or failure.kind in WAITING or never_sent:
        job.attempts_made -= 1
        if not fails_every_call(failure):
            wait = decide(failure, attempt.number, random, UNLIMITED_RETRIES).wait
    else:
        number = job.attempts_made
        if failure.may_have_been_billed:
            # A call that a killed worker left unanswered is not the endpoint's failure.
            unknown = job.attempts.filter(status=AttemptStatus.UNKNOWN, during_outage=False)
            number = unknown.exclude(error=WORKER_LOST).count()
        decision = decide(failure, max(1, number), random, COUNTED)
        wait = decision.wait
        if not (decision.again and job.attempts_made < MOST_ATTEMPTS):
            # Without an answer since its first failure, the endpoint may be at fault: once more.
            own = not failure.retryable or _answers_others(job)
            wait = None if own else decide(failure, 1, random, COUNTED).wait
    job.status = JobStatus.FAILED if wait is None else JobStatus.PENDING
    if job.status == JobStatus.FAILED:
        fail_steps_after([job.pk], failure.kind)
    job.next_at = now + timedelta(seconds=wait) if wait else None
    job.error, job.lease_owner, job.lease_until = failure.kind, "", None
    job.save(
        update_fields=["status", "next_at", "error", "lease_owner", "lease_until", "attempts_made"]
    )


def _answers_others(job: Job) -> bool:
    """Return whether other calls of the run were answered since *job* failed first."""
    failed = job.attempts.exclude(error="").filter(during_outage=False)
    first = failed.order_by("number").values_list("finished_at", flat=True).first()
    answered = Attempt.objects.filter(job__run=job.run_id, status=AttemptStatus.ANSWERED)
    return first is not None and answered.filter(finished_at__gte=first).exists()

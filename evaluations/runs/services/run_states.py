"""State changes of runs by workers and the clock; those by people are in ``runs``."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from evaluations.llm.breaker import OUTAGE, POSSIBLY_BILLED
from evaluations.llm.client import ChatFailure, FailureKind
from evaluations.models import Attempt, Job, ProviderAccount, Run
from evaluations.models.accounts import making_no_call_until
from evaluations.models.vocabulary import (
    PASSING,
    AttemptStatus,
    JobStatus,
    PauseReason,
    RunStatus,
)
from evaluations.runs.kinds import followers, kind_of
from evaluations.runs.rules.permits import is_over
from evaluations.runs.rules.sessions import LONGEST_RETRY_WAIT
from evaluations.runs.services import job_queue
from evaluations.runs.services.frozen import take_prices
from evaluations.runs.services.run_workers import has_worker, join_run, leave_run, workers_of

logger = logging.getLogger(__name__)

WORKABLE = (RunStatus.QUEUED, RunStatus.RUNNING)
OVER = (RunStatus.FINISHED, RunStatus.IMPORTED)
OPEN_JOBS = (JobStatus.PENDING, JobStatus.WAITING, JobStatus.LEASED)
REASON_OF = {
    FailureKind.ADDRESS: PauseReason.ADDRESS,
    FailureKind.CERTIFICATE: PauseReason.ADDRESS,
    FailureKind.AUTH: PauseReason.AUTH,
    FailureKind.QUOTA: PauseReason.QUOTA,
    FailureKind.NOT_FOUND: PauseReason.NOT_FOUND,
    FailureKind.REDIRECT: PauseReason.REDIRECT,
}
OUTAGE_OF = {
    FailureKind.CONNECT: PauseReason.ENDPOINT_DOWN,
    FailureKind.SERVER: PauseReason.ENDPOINT_ERRORS,
    FailureKind.MALFORMED: PauseReason.BROKEN_REPLIES,
    FailureKind.OVERSIZE: PauseReason.BROKEN_REPLIES,
    FailureKind.TIMEOUT: PauseReason.NO_REPLY,
    FailureKind.INTERRUPTED: PauseReason.NO_REPLY,
    FailureKind.BAD_REQUEST: PauseReason.REJECTED,
}

# A run waits for its endpoint after this many 429s in a row, during at least this time.
FEW = 3
AT_LEAST = timedelta(seconds=5)
# Failed probes in a row after which an outage pauses the run, so that it holds no worker.
FAILED_PROBES = 2
# A probe that may be billed waits so long at most, in multiples of the longest wait.
BILLED = 10


def begin(run_id: int, owner: str, now: datetime) -> Run | None:
    """Give *owner* a place at the run and set it running.

    Return None if it is not to be worked on, or has workers enough.
    """
    run = Run.objects.select_related("endpoint").filter(pk=run_id, endpoint__isnull=False).first()
    if run is None or run.by_batch:
        return None
    if workers_of(run, now).exists() and not wants_worker(run, now):
        return None
    if not join_run(run, owner, now):
        return None
    take_prices(run)
    Run.objects.filter(pk=run_id, status=RunStatus.QUEUED).update(
        status=RunStatus.RUNNING, started_at=Coalesce(F("started_at"), now)
    )
    run = Run.objects.select_related("endpoint", "judge", "dataset").get(pk=run_id)
    if run.status == RunStatus.RUNNING:
        return run
    leave_run(run, owner)
    finalize(run.pk, now)
    return None


def wants_worker(run: Run, now: datetime) -> bool:
    """Return whether one more worker at *run* would have calls to send at *now*.

    A run gets no further worker while one tries single calls in an outage, and has only one worker
    while it has a budget of its own, which that worker counts.
    """
    limit = run.endpoint.max_in_flight if run.endpoint else 0
    one_only = run.pause_reason or run.budget is not None
    if run.status not in WORKABLE or one_only or workers_of(run, now).count() >= limit:
        return False
    return bool(job_queue.due_jobs(run, now)[limit : limit + 1])


def pause(run: Run, reason: PauseReason, resume_at: datetime | None = None) -> None:
    """Pause *run*, unless a person has stopped it."""
    Run.objects.filter(pk=run.pk, status__in=WORKABLE).update(
        status=RunStatus.PAUSED, pause_reason=reason, resume_at=resume_at
    )


def pause_for_failure(run: Run, failure: ChatFailure, now: datetime) -> None:
    """Pause *run* because of *failure*, until the time of Retry-After if there is one."""
    reason = REASON_OF.get(failure.kind, PauseReason.ASKED_TO_WAIT)
    wait = failure.retry_after if reason is PauseReason.ASKED_TO_WAIT else None
    pause(run, reason, now + timedelta(seconds=wait) if wait else None)


def without_ended_waits(
    run: Run, failed: Sequence[tuple[ChatFailure, datetime]], now: datetime
) -> list[ChatFailure]:
    """Return the failures of *failed* that may pause *run*; the caller is in a transaction.

    Each comes with the time at which its call was sent. A wait that it was asked for does not count
    if a person has ended it since. The account stays locked, so that a person ends the wait either
    before *run* is paused, or after: then that resumes it.
    """
    if not any(failure.slows_down for failure, _sent in failed):
        return [failure for failure, _sent in failed]
    accounts = ProviderAccount.objects.select_for_update(of=("self",))
    account = accounts.filter(endpoints=run.endpoint_id).first()
    closed_until = account.closed_until if account is not None else None
    return [
        failure
        for failure, sent in failed
        if not (failure.slows_down and is_over(closed_until, sent, now))
    ]


def forget_pause(run: Run) -> None:
    """Clear the reason of the last pause, because the endpoint answers again."""
    Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING).update(pause_reason="")


def show_outage(run: Run, failure: ChatFailure) -> bool:
    """Show the workers of *run* that all calls fail, as by *failure*; the caller tries single ones.

    The reason of a pause says it while the run is running. Return False if another worker was
    first, or if the run is not running any more.
    """
    row = Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING, pause_reason="")
    return bool(row.update(pause_reason=OUTAGE_OF[failure.kind]))


def known_outage(run: Run) -> PauseReason | None:
    """Return the reason for which the last calls of *run* failed, if none is answered since.

    It is None if they were no outage. A person may pause, stop and resume a run meanwhile.
    """
    attempts = Attempt.objects.filter(job__run=run, finished_at__isnull=False)
    failed = attempts.filter(during_outage=True, error__in=OUTAGE_OF).order_by("-finished_at")
    last = failed.values_list("finished_at", "error").first()
    if last is None or run.by_batch:
        return None
    finished_at, error = last
    if attempts.filter(status=AttemptStatus.ANSWERED, finished_at__gt=finished_at).exists():
        return None
    return OUTAGE_OF[FailureKind(error)]


def pause_for_outage(run: Run, failure: ChatFailure | None, now: datetime) -> None:
    """Pause *run* because all calls fail, as the last probe did by *failure*, and try it again.

    It waits for half as long as the outage has lasted, within the limits of the settings. Without
    a failure (there was no probe since the last pause), the reason stays.
    """
    kind = failure.kind if failure is not None else None
    known = PauseReason(run.pause_reason) if run.pause_reason else PauseReason.ENDPOINT_ERRORS
    reason = known if kind is None else OUTAGE_OF[kind]
    _n, since = _in_a_row(run, OUTAGE, now)
    pause(run, reason, resume_at=now + _wait((now - since) / 2, kind in POSSIBLY_BILLED))


def pause_if_limited(run: Run, failures: Sequence[ChatFailure], now: datetime) -> None:
    """Pause *run* for some time if the endpoint has answered all recent calls with a 429.

    Refused calls are not billed and fail no job. But a run whose calls are all refused must not
    look like one that works, nor keep a worker from other runs.
    """
    if all(failure.kind is not FailureKind.RATE_LIMIT for failure in failures):
        return
    n, since = _in_a_row(run, [FailureKind.RATE_LIMIT], now)
    if n >= FEW and now - since >= AT_LEAST:
        asked = timedelta(seconds=max(failure.retry_after or 0.0 for failure in failures))
        pause(run, PauseReason.ASKED_TO_WAIT, resume_at=now + max(_wait(now - since), asked))


def _wait(wanted: timedelta, billed: bool = False) -> timedelta:
    """Return *wanted* within the limits of a wait; a probe that may be billed may wait longer."""
    longest = settings.RUN_OUTAGE_LONGEST_WAIT * (BILLED if billed else 1)
    shortest = timedelta(seconds=settings.RUN_OUTAGE_WAIT)
    return max(shortest, min(wanted, timedelta(seconds=longest)))


def _in_a_row(run: Run, kinds: Collection[FailureKind], now: datetime) -> tuple[int, datetime]:
    """Return how many attempts of *run* failed by *kinds* since its last answer, and since when.

    It is counted in the database, because a small run has only a few calls in each work session.
    """
    attempts = Attempt.objects.filter(job__run=run)
    answered = attempts.filter(status=AttemptStatus.ANSWERED)
    last = answered.aggregate(last=Max("finished_at"))["last"]
    refused = attempts.filter(error__in=kinds)
    if last is not None:
        refused = refused.filter(finished_at__gt=last)
    counts = refused.aggregate(n=Count("pk"), since=Min("finished_at"))
    return counts["n"], counts["since"] or now


def resume_waiting(now: datetime) -> None:
    """Resume runs whose wait is over, with their pending jobs.

    The reason stays where it says that single calls are tried first.
    """
    waited = list(Run.objects.filter(status=RunStatus.PAUSED, resume_at__lte=now))
    Job.objects.filter(run__in=waited, status=JobStatus.PENDING).update(next_at=None)
    keys = [run.pk for run in waited]
    due = Run.objects.filter(pk__in=keys, status=RunStatus.PAUSED, resume_at__lte=now)
    queued: dict[str, Any] = {"status": RunStatus.QUEUED, "resume_at": None}
    due.exclude(pause_reason__in=PASSING).update(**queued, pause_reason="")
    due.update(**queued)


@transaction.atomic
def finalize(run_id: int, now: datetime) -> None:
    """Set the run to stopped or finished if its jobs allow it and no worker holds it."""
    run = Run.objects.select_for_update().get(pk=run_id)
    if workers_of(run, now).exists():
        return
    jobs = Job.objects.filter(run=run)
    if run.status == RunStatus.STOPPING and not jobs.filter(status=JobStatus.LEASED).exists():
        Run.objects.filter(pk=run.pk).update(status=RunStatus.STOPPED)
    elif run.status in WORKABLE and not jobs.filter(status__in=OPEN_JOBS).exists():
        if not kind_of(run).may_finish(run):
            return
        # Process the responses that a killed worker stored and did not process.
        for follower in followers():
            follower.catch_up(run)
        try:
            with transaction.atomic():
                kind_of(run).catch_up(run)
        except Exception:
            logger.exception("responses of %s stay unread; the command score reads answers", run)
        done = {"status": RunStatus.FINISHED, "finished_at": now, "pause_reason": ""}
        Run.objects.filter(pk=run.pk).update(**done)


def finalize_all(now: datetime) -> None:
    """Call ``finalize`` for every run that no worker holds."""
    live = Run.objects.filter(~has_worker(now), status__in=[*WORKABLE, RunStatus.STOPPING])
    for run_id in live.values_list("pk", flat=True):
        finalize(run_id, now)


def waiting_runs(now: datetime, among: Sequence[int] | None = None) -> list[int]:
    """Return the ids of runs (*among* the given ones) that want a worker at *now*.

    These are the runs with a due job and no worker, then those that want one more.
    """
    runs = _runs_with_due_jobs(now)
    if among is not None:
        runs = runs.filter(pk__in=among)
    without = list(runs.filter(~has_worker(now)).order_by("pk").values_list("pk", flat=True))
    others = runs.filter(has_worker(now)).select_related("endpoint").order_by("pk")
    return without + [run.pk for run in others if wants_worker(run, now)]


def runs_without_worker(now: datetime) -> list[int]:
    """Return the ids of runs with a due job and no worker at *now*, the oldest first."""
    runs = _runs_with_due_jobs(now).filter(~has_worker(now))
    return list(runs.order_by("pk").values_list("pk", flat=True))


def _runs_with_due_jobs(now: datetime) -> QuerySet[Run]:
    """Return the runs with a due job whose account takes calls now or in a moment."""
    due = Job.objects.filter(run=OuterRef("pk"), status=JobStatus.PENDING)
    due = due.filter(Q(next_at__isnull=True) | Q(next_at__lte=now))
    live = Run.objects.filter(status__in=WORKABLE, endpoint__isnull=False, by_batch=False)
    waiting = ProviderAccount.objects.filter(making_no_call_until(now + LONGEST_RETRY_WAIT))
    return live.filter(Exists(due)).exclude(endpoint__account__in=waiting)

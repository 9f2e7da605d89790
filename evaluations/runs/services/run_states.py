"""The states that a run goes through by itself; what people do to it stands in ``runs``."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from evaluations.llm.client import ChatFailure, FailureKind
from evaluations.models import Job, Run
from evaluations.models.vocabulary import JobStatus, PauseReason, RunStatus
from evaluations.runs.kinds import followers, kind_of
from evaluations.runs.services import queue

logger = logging.getLogger(__name__)

WORKABLE = (RunStatus.QUEUED, RunStatus.RUNNING)
OVER = (RunStatus.FINISHED, RunStatus.IMPORTED)
OPEN_JOBS = (JobStatus.PENDING, JobStatus.LEASED)
REASON_OF = {
    FailureKind.AUTH: PauseReason.AUTH,
    FailureKind.QUOTA: PauseReason.QUOTA,
    FailureKind.NOT_FOUND: PauseReason.NOT_FOUND,
    FailureKind.REDIRECT: PauseReason.REDIRECT,
}


def begin(run_id: int, owner: str, now: datetime) -> Run | None:
    """Take the run for *owner* and set it running; None where it is not to be worked on."""
    run = Run.objects.filter(pk=run_id, endpoint__isnull=False).first()
    if run is None or not queue.hold_run(run, owner, now):
        return None
    Run.objects.filter(pk=run_id, status=RunStatus.QUEUED).update(
        status=RunStatus.RUNNING, started_at=Coalesce(F("started_at"), now)
    )
    run = Run.objects.select_related("endpoint", "judge", "dataset").get(pk=run_id)
    if run.status == RunStatus.RUNNING:
        return run
    queue.let_go(run, owner)
    finalize(run.pk, now)
    return None


def pause(run: Run, reason: PauseReason, resume_at: datetime | None = None) -> None:
    """Let no further call of *run* be made. A stop that a person asked for stays a stop."""
    Run.objects.filter(pk=run.pk, status__in=WORKABLE).update(
        status=RunStatus.PAUSED, pause_reason=reason, resume_at=resume_at
    )


def pause_for_failure(run: Run, failure: ChatFailure, now: datetime) -> None:
    """Pause because of *failure*, until the time that the endpoint named, if it named one."""
    reason = REASON_OF.get(failure.kind, PauseReason.ASKED_TO_WAIT)
    wait = failure.retry_after if reason is PauseReason.ASKED_TO_WAIT else None
    pause(run, reason, now + timedelta(seconds=wait) if wait else None)


def forget_pause(run: Run) -> None:
    """The endpoint answers again: the reason of the last pause is over."""
    Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING).update(pause_reason="")


def resume_waiting(now: datetime) -> None:
    """Let runs go on that waited for a time that has come; their calls have waited with them."""
    waited = list(Run.objects.filter(status=RunStatus.PAUSED, resume_at__lte=now))
    Job.objects.filter(run__in=waited, status=JobStatus.PENDING).update(next_at=None)
    Run.objects.filter(
        pk__in=[run.pk for run in waited], status=RunStatus.PAUSED, resume_at__lte=now
    ).update(status=RunStatus.QUEUED, resume_at=None)


def without_worker(now: datetime) -> Q:
    """Runs that nobody holds at *now*."""
    return Q(worker="") | Q(worker_until__lt=now)


@transaction.atomic
def finalize(run_id: int, now: datetime) -> None:
    """Set *run* to stopped or finished where that is what its jobs say by now."""
    run = Run.objects.select_for_update().get(pk=run_id)
    if run.worker and run.worker_until and run.worker_until >= now:
        return
    jobs = Job.objects.filter(run=run)
    if run.status == RunStatus.STOPPING and not jobs.filter(status=JobStatus.LEASED).exists():
        Run.objects.filter(pk=run.pk).update(status=RunStatus.STOPPED)
    elif run.status in WORKABLE and not jobs.filter(status__in=OPEN_JOBS).exists():
        finish(run, now)


def finish(run: Run, now: datetime) -> None:
    """Finish *run* if its kind says that it is over."""
    if not kind_of(run).may_finish(run):
        return
    catch_up(run)
    Run.objects.filter(pk=run.pk).update(
        status=RunStatus.FINISHED, finished_at=now, pause_reason="", worker="", worker_until=None
    )


def catch_up(run: Run) -> None:
    """Make of the responses what a killed worker had stored and not got round to."""
    for follower in followers():
        follower.catch_up(run)
    try:
        with transaction.atomic():
            kind_of(run).catch_up(run)
    except Exception:
        logger.exception("responses of %s stay unread; the command score reads answers", run)


def finalize_all(now: datetime) -> None:
    """Settle every run that nobody works on."""
    live = Run.objects.filter(without_worker(now), status__in=[*WORKABLE, RunStatus.STOPPING])
    for run_id in live.values_list("pk", flat=True):
        finalize(run_id, now)


def waiting_runs(now: datetime, among: Sequence[int] | None = None) -> list[int]:
    """The runs, or those *among* the named ones, with a job due at *now* and no worker."""
    due = Job.objects.filter(run=OuterRef("pk"), status=JobStatus.PENDING)
    found: QuerySet[Run] = Run.objects.filter(
        without_worker(now),
        Exists(due.filter(Q(next_at__isnull=True) | Q(next_at__lte=now))),
        status__in=WORKABLE,
        endpoint__isnull=False,
    )
    if among is not None:
        found = found.filter(pk__in=among)
    return list(found.order_by("pk").values_list("pk", flat=True))

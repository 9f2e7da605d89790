"""What the pages, the API and the command line show of runs: read, never written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Any

from django.db.models import Count, Max, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from evaluations.models import Attempt, Job, Response, Run
from evaluations.models.vocabulary import AttemptStatus, JobStatus, PauseReason, RunStatus
from evaluations.runs.kinds import ReadCounts, kind_of
from gradeapp.common.refusals import NotFound

# What is called "now" in "calls per second now".
RECENT = timedelta(seconds=30)
WORKED_ON = frozenset({RunStatus.QUEUED, RunStatus.RUNNING})
LIVE = frozenset({RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.STOPPING})
# A call whose answer is awaited or will never come may still be billed at what was reserved.
OPEN = Q(status__in=[AttemptStatus.SENT, AttemptStatus.UNKNOWN])
NOTHING = Decimal(0)


@dataclass(frozen=True)
class Money:
    """What the calls of a run cost: known, and possible on top (answers that never came)."""

    spent: Decimal
    possible: Decimal
    possibly_billed: int

    @property
    def exposed(self) -> Decimal:
        """What the budget has to bear."""
        return self.spent + self.possible


@dataclass(frozen=True)
class Progress:
    """How far a run is: counts of jobs, speeds in answers per second, seconds left.

    ``waits_since`` is when the oldest call was sent that is still awaited.
    """

    planned: int
    done: int
    failed: int
    in_flight: int
    waiting: int
    money: Money
    per_second_now: float | None
    per_second: float | None
    seconds_left: float | None
    ends_at: datetime | None
    seconds: float | None
    live: bool
    waits: bool
    waits_since: datetime | None

    @property
    def percent(self) -> int:
        """Share of the jobs that are over, rounded down, so that 100 means all."""
        return 100 * (self.done + self.failed) // self.planned if self.planned else 0


@dataclass(frozen=True)
class TaskProgress:
    """How far a run is with one task.

    ``read`` of ``readable`` answers (or judges' replies) were read by rule;
    ``median`` is the usual time of an answered call in seconds.
    """

    slug: str
    part: str
    planned: int
    done: int
    failed: int
    in_flight: int
    read: int
    readable: int
    median: float | None


@dataclass(frozen=True)
class ErrorRow:
    """One kind of failed attempt, how often, and what those may still have cost."""

    kind: str
    attempts: int
    jobs: int
    still_failed: int
    possibly_billed: int
    possible: Decimal
    last_text: str


def runs() -> QuerySet[Run]:
    """All runs, newest first, with what a list shows of them: counts of jobs and responses."""
    jobs = Job.objects.filter(run=OuterRef("pk"))
    related = ("language_model", "endpoint", "dataset", "created_by", "judge", "judged_run")
    return Run.objects.select_related(*related).annotate(
        planned=_counted(jobs),
        done=_counted(jobs.filter(status=JobStatus.DONE)),
        failed=_counted(jobs.filter(status=JobStatus.FAILED)),
        response_count=_counted(Response.objects.filter(run=OuterRef("pk"))),
    )


def get_run(pk: int) -> Run:
    """Return the run *pk* from ``runs()``. Raises NotFound if there is none."""
    run = runs().filter(pk=pk).first()
    if run is None:
        raise NotFound(_("There is no such run."))
    return run


def _counted(rows: QuerySet[Any]) -> Coalesce:
    """A count as a subquery: only the rows of one page are counted, not the whole table."""
    counted = rows.order_by().values("run").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)


def money(run: Run) -> Money:
    """The sum over the attempts of *run*."""
    sums = Attempt.objects.filter(job__run=run).aggregate(
        spent=Coalesce(Sum("cost"), NOTHING),
        possible=Coalesce(Sum("reserved", filter=OPEN), NOTHING),
        unknown=Count("pk", filter=Q(status=AttemptStatus.UNKNOWN)),
    )
    return Money(sums["spent"], sums["possible"], sums["unknown"])


def is_live(run: Run) -> bool:
    """Whether *run* still moves by itself."""
    return run.status in LIVE or waits_for_endpoint(run)


def progress(run: Run, now: datetime) -> Progress:
    """How far *run* is at *now*."""
    counts = _job_counts(run)
    done, failed = counts[JobStatus.DONE], counts[JobStatus.FAILED]
    waiting = counts[JobStatus.PENDING]
    in_flight = counts[JobStatus.LEASED]
    answered = Attempt.objects.filter(job__run=run, status=AttemptStatus.ANSWERED)
    times = answered.aggregate(
        first=Min("sent_at"),
        last=Max("finished_at"),
        n=Count("pk"),
        recent=Count("pk", filter=Q(finished_at__gt=now - RECENT)),
    )
    waits = waits_for_endpoint(run)
    live = is_live(run)
    seconds = _seconds(times["first"], now if live else times["last"])
    overall = times["n"] / seconds if seconds else None
    recent = times["recent"] / min(RECENT.total_seconds(), seconds) if seconds and live else None
    speed = recent or overall
    left = (waiting + in_flight) / speed if live and speed and not waits else None
    return Progress(
        planned=sum(counts.values()),
        done=done,
        failed=failed,
        in_flight=in_flight,
        waiting=waiting,
        money=money(run),
        per_second_now=recent,
        per_second=overall,
        seconds_left=left,
        ends_at=None if left is None else now + timedelta(seconds=left),
        seconds=seconds,
        live=live,
        waits=waits,
        waits_since=_oldest_call(run) if in_flight else None,
    )


def _oldest_call(run: Run) -> datetime | None:
    """When the oldest call of *run* was sent whose answer is awaited."""
    awaited = Attempt.objects.filter(
        job__run=run, job__status=JobStatus.LEASED, status=AttemptStatus.SENT
    )
    return awaited.order_by("sent_at").values_list("sent_at", flat=True).first()


def waits_for_endpoint(run: Run) -> bool:
    """Whether *run* waits for an endpoint that turns calls away, and goes on by itself.

    Also while one call is tried to see: until it is answered nothing has changed.
    """
    if not run.pause_reason or not PauseReason(run.pause_reason).passes:
        return False
    return run.status in WORKED_ON or (run.status == RunStatus.PAUSED and run.resume_at is not None)


def _job_counts(run: Run) -> dict[str, int]:
    counted = Job.objects.filter(run=run).order_by().values_list("status").annotate(n=Count("pk"))
    return {status.value: 0 for status in JobStatus} | dict(counted)


def _seconds(first: datetime | None, last: datetime | None) -> float | None:
    if first is None or last is None or last <= first:
        return None
    return (last - first).total_seconds()


def by_task(run: Run) -> list[TaskProgress]:
    """Progress of *run* per task, by the task's name."""
    rows: Iterable[tuple[Any, ...]] = (
        Job.objects.filter(run=run)
        .order_by("question__task__slug")
        .values_list("question__task__slug", "question__task__part")
        .annotate(
            planned=Count("pk"),
            done=Count("pk", filter=Q(status=JobStatus.DONE)),
            failed=Count("pk", filter=Q(status=JobStatus.FAILED)),
            in_flight=Count("pk", filter=Q(status=JobStatus.LEASED)),
        )
    )
    read, medians = kind_of(run).read_counts(run), _medians(run)
    return [
        TaskProgress(
            slug, part, planned, done, failed, flying, *read.get(slug, (0, 0)), medians.get(slug)
        )
        for slug, part, planned, done, failed, flying in rows
    ]


def read_counts(found: QuerySet[Any], readable: Q) -> ReadCounts:
    """Return by task slug how many responses have a *readable* row in *found*, of how many."""
    n = Count("response", distinct=True)
    rows = (
        found.order_by()
        .values_list("response__question__task__slug")
        .annotate(read=Count("response", filter=readable, distinct=True), n=n)
    )
    return {slug: (read, of) for slug, read, of in rows}


def _medians(run: Run) -> dict[str, float]:
    """Per task: the median seconds of the answered calls."""
    answered = Attempt.objects.filter(job__run=run, status=AttemptStatus.ANSWERED)
    seconds: dict[str, list[float]] = {}
    for slug, one in answered.order_by().values_list("job__question__task__slug", "seconds"):
        seconds.setdefault(slug, []).append(one or 0.0)
    return {slug: median(values) for slug, values in seconds.items()}


def errors(run: Run) -> list[ErrorRow]:
    """The failed attempts of *run* by kind, the most frequent first."""
    failed = Attempt.objects.filter(job__run=run).exclude(error="")
    unknown = Q(status=AttemptStatus.UNKNOWN)
    rows = (
        failed.order_by()
        .values("error")
        .annotate(
            attempts=Count("pk"),
            jobs=Count("job", distinct=True),
            still_failed=Count("job", filter=Q(job__status=JobStatus.FAILED), distinct=True),
            billed=Count("pk", filter=unknown),
            possible=Coalesce(Sum("reserved", filter=unknown), NOTHING),
            last=Max("pk"),
        )
    )
    ordered = sorted(rows, key=lambda row: (-row["attempts"], row["error"]))
    last = Attempt.objects.filter(pk__in=[row["last"] for row in ordered])
    texts = dict(last.values_list("pk", "error_text"))
    return [
        ErrorRow(
            kind=row["error"],
            attempts=row["attempts"],
            jobs=row["jobs"],
            still_failed=row["still_failed"],
            possibly_billed=row["billed"],
            possible=row["possible"],
            last_text=texts.get(row["last"], ""),
        )
        for row in ordered
    ]

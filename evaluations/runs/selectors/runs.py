"""Queries of runs for the pages, the API and the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Any

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Left
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from evaluations.llm.client import FailureKind
from evaluations.models import Attempt, Job, Run
from evaluations.models.vocabulary import AttemptStatus, JobStatus, PauseReason, RunStatus
from evaluations.runs.kinds import ReadCounts, kind_of
from evaluations.runs.selectors.run_counts import (
    RECENT,
    STATES,
    RunSums,
    answered_recently,
    counted,
    sums_by_task,
    sums_of,
    working_speed,
)
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.common.exact_money import amount_of, exact_sum
from gradeapp.common.refusals import NotFound
from gradeapp.waiting import Waiting

# Of a task: replies that could be read, of how many, and the median time of a call in seconds.
Measured = tuple[int, int, float | None]
WORKED_ON = frozenset({RunStatus.QUEUED, RunStatus.RUNNING})
LIVE = frozenset({RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.STOPPING})
# So many characters of a reply that could not be read are shown.
SHOWN_BODY = 4_000
# Questions with images that an endpoint does not take are refused: no call of the run went wrong.
FAILED = Q(status=JobStatus.FAILED) & ~Q(error=FailureKind.NO_IMAGES)


@dataclass(frozen=True)
class Money:
    """The cost of the calls of a run: known, and possible (calls without an answer)."""

    spent: Decimal
    possible: Decimal
    possibly_billed: int

    @property
    def exposed(self) -> Decimal:
        """The amount that counts against the budget."""
        return self.spent + self.possible


@dataclass(frozen=True)
class Progress:
    """Progress of a run: counts of jobs, speeds in answers per second, seconds left.

    ``refused`` counts the jobs whose images the endpoint did not take; they are not ``failed``.
    ``per_second`` is the speed since the first call, ``per_second_working`` the one of the last
    calls without the time in which the run was paused or waited, which gives ``seconds_left``.
    ``waits_since`` is the time at which the oldest unanswered call was sent.
    """

    planned: int
    done: int
    failed: int
    refused: int
    in_flight: int
    waiting: int
    money: Money
    per_second_now: float | None
    per_second: float | None
    per_second_working: float | None
    seconds_left: float | None
    ends_at: datetime | None
    seconds: float | None
    live: bool
    waits: bool
    waits_since: datetime | None

    @property
    def percent(self) -> int:
        """The percentage of jobs that are done, failed or refused, rounded down."""
        over = self.done + self.failed + self.refused
        return 100 * over // self.planned if self.planned else 0


@dataclass(frozen=True)
class TaskProgress:
    """Progress of one task of a run.

    ``read`` of ``readable`` answers (or judges' replies) could be read; ``median`` is the median
    time of an answered call in seconds.
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
    """One kind of failed attempts, their number and possible cost.

    ``still_failed`` are the jobs that failed for good by an error of this kind; ``none_lost`` that
    no job with such an error did, by whatever.
    ``last_body`` is the beginning of the last reply that could not be read: for people who may
    start runs, because it may be a page of any service.
    """

    kind: str
    attempts: int
    jobs: int
    still_failed: int
    none_lost: bool
    possibly_billed: int
    possible: Decimal
    last_text: str
    last_body: str


def runs() -> QuerySet[Run]:
    """Return all runs, annotated with their numbers of jobs and responses."""
    return _runs().annotate(
        planned=counted(*STATES),
        done=counted("done"),
        failed=counted("failed"),
        response_count=counted("responses"),
    )


def _runs() -> QuerySet[Run]:
    related = (
        "language_model",
        "condition__prompts__prompt_set",
        "endpoint",
        "dataset",
        "created_by",
        "judge",
        "judged_run",
    )
    return Run.objects.select_related(*related)


def get_run(pk: int, *, counted: bool = True) -> Run:
    """Return the run *pk* from ``runs()``, without the numbers unless *counted*.

    Raises NotFound if there is none.
    """
    run = (runs() if counted else _runs()).filter(pk=pk).first()
    if run is None:
        raise NotFound(_("There is no such run."))
    return run


def may_extend(run: Run) -> bool:
    """Return whether *run* is a trial that is over, and can go on with all its questions."""
    over = (RunStatus.FINISHED, RunStatus.STOPPED, RunStatus.PAUSED)
    return "trial_of" in run.run_settings and run.status in over


def money(run: Run) -> Money:
    """Return the cost of the attempts of *run*."""
    return _money(sums_of(run))


def _money(sums: RunSums) -> Money:
    return Money(amount_of(sums.spent_units), amount_of(sums.open_units), sums.unknown)


def is_live(run: Run) -> bool:
    """Return whether *run* will continue without a person."""
    return run.status in LIVE or waits_for_endpoint(run)


def progress(run: Run, now: datetime) -> Progress:
    """Return the progress of *run* at *now*."""
    sums = sums_of(run)
    waiting, in_flight = sums.pending + sums.waiting, sums.leased
    attempts = Attempt.objects.filter(job__run=run)
    awaited = attempts.filter(job__status=JobStatus.LEASED, status=AttemptStatus.SENT)
    waits = waits_for_endpoint(run)
    live = is_live(run)
    first, end = sums.first_sent, now if live else sums.last_finished
    seconds = None
    if first is not None and end is not None and end > first:
        seconds = (end - first).total_seconds()
    overall = sums.answered / seconds if seconds else None
    recent = None
    if seconds and live:
        recent = answered_recently(run, now) / min(RECENT.total_seconds(), seconds)
    waits_since = awaited.aggregate(first=Min("sent_at"))["first"] if in_flight else None
    speed = left = None
    if live and not waits and sums.answered:
        speed = working_speed(run, now, waits_since)
        left = (waiting + in_flight) / speed if speed else None
    return Progress(
        planned=sums.planned,
        done=sums.done,
        failed=sums.failed,
        refused=sums.refused,
        in_flight=in_flight,
        waiting=waiting,
        money=_money(sums),
        per_second_now=recent,
        per_second=overall,
        per_second_working=speed,
        seconds_left=left,
        ends_at=None if left is None else now + timedelta(seconds=left),
        seconds=seconds,
        live=live,
        waits=waits,
        waits_since=waits_since,
    )


def may_resume(run: Run) -> bool:
    """Return whether a person may let *run* go on, which does not so by itself.

    One by batch may be stopping for as long as people carry its files.
    """
    stopping_by_batch = run.status == RunStatus.STOPPING and run.by_batch
    return run.status in (RunStatus.STOPPED, RunStatus.PAUSED) or stopping_by_batch


def waits_for_endpoint(run: Run) -> bool:
    """Return whether *run* waits for an endpoint that refuses calls, and will continue by itself.

    This is so also while a single call is tried, until it is answered.
    """
    if not run.pause_reason or not PauseReason(run.pause_reason).passes:
        return False
    return run.status in WORKED_ON or (run.status == RunStatus.PAUSED and run.resume_at is not None)


def by_task(run: Run, measured: Mapping[str, Measured] | None = None) -> list[TaskProgress]:
    """Return the progress of *run* per task, by the name of the task.

    *measured* may be from some time before.
    """
    known = measured_by_task(run) if measured is None else measured
    return [
        TaskProgress(
            *(slug, part, one.planned, one.done, one.failed, one.leased),
            *known.get(slug, (0, 0, None)),
        )
        for (slug, part), one in sums_by_task(run).items()
    ]


def measured_by_task(run: Run) -> dict[str, Measured]:
    """Return by task slug how many replies could be read, of how many, and the median seconds.

    With 100,000 calls this takes half a second.
    """
    answered = Attempt.objects.filter(job__run=run, status=AttemptStatus.ANSWERED)
    seconds: dict[str, list[float]] = {}
    for slug, one in answered.order_by().values_list("job__question__task__slug", "seconds"):
        seconds.setdefault(slug, []).append(one or 0.0)
    read = kind_of(run).read_counts(run)
    return {
        slug: (*read.get(slug, (0, 0)), median(seconds[slug]) if slug in seconds else None)
        for slug in {*seconds, *read}
    }


def read_counts(found: QuerySet[Any], readable: Q) -> ReadCounts:
    """Return by task slug how many responses have a *readable* row in *found*, of how many."""
    n = Count("response", distinct=True)
    rows = (
        found.order_by()
        .values_list("response__question__task__slug")
        .annotate(read=Count("response", filter=readable, distinct=True), n=n)
    )
    return {slug: (read, of) for slug, read, of in rows}


def errors(run: Run) -> list[ErrorRow]:
    """Return the failed attempts of *run* by kind, the most frequent first."""
    failed = Attempt.objects.filter(job__run=run).exclude(error="")
    unknown = Q(status=AttemptStatus.UNKNOWN)
    lost = Q(job__status=JobStatus.FAILED, job__error=F("error"))
    rows = (
        failed.order_by()
        .values("error")
        .annotate(
            attempts=Count("pk"),
            jobs=Count("job", distinct=True),
            still_failed=Count("job", filter=lost, distinct=True),
            ended=Count("job", filter=Q(job__status=JobStatus.FAILED), distinct=True),
            billed=Count("pk", filter=unknown),
            possible=exact_sum("reserved", filter=unknown),
            last=Max("pk"),
        )
    )
    ordered = sorted(rows, key=lambda row: (-row["attempts"], row["error"]))
    last = Attempt.objects.filter(pk__in=[row["last"] for row in ordered])
    texts = {pk: two for pk, *two in last.values_list("pk", "error_text", Left("body", SHOWN_BODY))}
    return [
        ErrorRow(
            kind=row["error"],
            attempts=row["attempts"],
            jobs=row["jobs"],
            still_failed=row["still_failed"],
            none_lost=row["ended"] == 0,
            possibly_billed=row["billed"],
            possible=amount_of(row["possible"]),
            last_text=texts[row["last"]][0],
            last_body=texts[row["last"]][1],
        )
        for row in ordered
    ]


def runs_waiting(user: User) -> Iterator[Waiting]:
    """Yield for the home page the numbers of paused runs and of runs with failed calls."""
    if not user.may(Capability.START_RUNS):
        return
    listed = reverse("runs:list")
    paused = Run.objects.filter(status=RunStatus.PAUSED).order_by()
    by_reason = dict(paused.values_list("pause_reason").annotate(n=Count("pk")))
    spent = by_reason.pop(PauseReason.BUDGET, 0)
    yield Waiting(_("Runs with no budget left"), spent, listed)
    yield Waiting(_("Paused runs"), sum(by_reason.values()), listed)
    jobs = Job.objects.filter(FAILED, run=OuterRef("pk"))
    failed = Run.objects.filter(Exists(jobs)).count()
    yield Waiting(_("Runs with failed calls"), failed, listed)


def run_addresses(keys: Sequence[int]) -> dict[int, str]:
    """Return the address of the page of each run of *keys*."""
    return {key: reverse("runs:run", args=[key]) for key in keys}

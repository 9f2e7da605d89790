"""Queries of runs for the pages, the API and the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Any

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from evaluations.llm.client import FailureKind
from evaluations.models import Attempt, Job, Response, Run
from evaluations.models.vocabulary import AttemptStatus, JobStatus, PauseReason, RunStatus
from evaluations.runs.kinds import ReadCounts, kind_of
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.common.exact_money import amount_of, exact_sum
from gradeapp.common.refusals import NotFound
from gradeapp.waiting import Waiting

# The period of ``per_second_now``.
RECENT = timedelta(seconds=30)
WORKED_ON = frozenset({RunStatus.QUEUED, RunStatus.RUNNING})
LIVE = frozenset({RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.STOPPING})
# Calls without an answer may be billed up to the reserved amount.
OPEN = Q(status__in=[AttemptStatus.SENT, AttemptStatus.UNKNOWN])
# Questions with images that an endpoint does not take are refused: no call of the run went wrong.
REFUSED = Q(status=JobStatus.FAILED, error=FailureKind.NO_IMAGES)
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
    """One kind of failed attempts, their number and possible cost."""

    kind: str
    attempts: int
    jobs: int
    still_failed: int
    possibly_billed: int
    possible: Decimal
    last_text: str


def runs() -> QuerySet[Run]:
    """Return all runs, annotated with their numbers of jobs and responses."""
    jobs = Job.objects.filter(run=OuterRef("pk"), canary=None)
    return _runs().annotate(
        planned=_counted(jobs),
        done=_counted(jobs.filter(status=JobStatus.DONE)),
        failed=_counted(jobs.filter(FAILED)),
        response_count=_counted(Response.objects.filter(run=OuterRef("pk"))),
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


def _counted(rows: QuerySet[Any]) -> Coalesce:
    """Return a count as a subquery, so that only the rows of one page are counted."""
    counted = rows.order_by().values("run").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)


def money(run: Run) -> Money:
    """Return the cost of the attempts of *run*."""
    sums = Attempt.objects.filter(job__run=run).aggregate(
        spent=exact_sum("cost"),
        possible=exact_sum("reserved", filter=OPEN),
        unknown=Count("pk", filter=Q(status=AttemptStatus.UNKNOWN)),
    )
    return Money(amount_of(sums["spent"]), amount_of(sums["possible"]), sums["unknown"])


def is_live(run: Run) -> bool:
    """Return whether *run* will continue without a person."""
    return run.status in LIVE or waits_for_endpoint(run)


@dataclass(frozen=True)
class CallSums:
    """The cost of the calls of a run, and when they were made: ``recent`` in the last 30 s."""

    money: Money
    first: datetime | None
    last: datetime | None
    answered: int
    recent: int


def call_sums(run: Run, now: datetime) -> CallSums:
    """Return sums over all calls of *run* at *now*; with 100,000 calls this takes a second."""
    attempts = Attempt.objects.filter(job__run=run)
    times = attempts.filter(status=AttemptStatus.ANSWERED).aggregate(
        first=Min("sent_at"),
        last=Max("finished_at"),
        answered=Count("pk"),
        recent=Count("pk", filter=Q(finished_at__gt=now - RECENT)),
    )
    return CallSums(money(run), **times)


def progress(run: Run, now: datetime, sums: CallSums | None = None) -> Progress:
    """Return the progress of *run* at *now*; *sums* may be from some time before."""
    sums = sums or call_sums(run, now)
    jobs = Job.objects.filter(run=run, canary=None).order_by()
    counts = Counter(dict(jobs.values_list("status").annotate(n=Count("pk"))))
    waiting = counts[JobStatus.PENDING] + counts[JobStatus.WAITING]
    in_flight = counts[JobStatus.LEASED]
    refused = jobs.filter(REFUSED).count() if counts[JobStatus.FAILED] else 0
    attempts = Attempt.objects.filter(job__run=run)
    awaited = attempts.filter(job__status=JobStatus.LEASED, status=AttemptStatus.SENT)
    waits = waits_for_endpoint(run)
    live = is_live(run)
    end = now if live else sums.last
    seconds = None
    if sums.first is not None and end is not None and end > sums.first:
        seconds = (end - sums.first).total_seconds()
    overall = sums.answered / seconds if seconds else None
    recent = sums.recent / min(RECENT.total_seconds(), seconds) if seconds and live else None
    speed = recent or overall
    left = (waiting + in_flight) / speed if live and speed and not waits else None
    return Progress(
        planned=counts.total(),
        done=counts[JobStatus.DONE],
        failed=counts[JobStatus.FAILED] - refused,
        refused=refused,
        in_flight=in_flight,
        waiting=waiting,
        money=sums.money,
        per_second_now=recent,
        per_second=overall,
        seconds_left=left,
        ends_at=None if left is None else now + timedelta(seconds=left),
        seconds=seconds,
        live=live,
        waits=waits,
        waits_since=awaited.aggregate(first=Min("sent_at"))["first"] if in_flight else None,
    )


def waits_for_endpoint(run: Run) -> bool:
    """Return whether *run* waits for an endpoint that refuses calls, and will continue by itself.

    This is so also while a single call is tried, until it is answered.
    """
    if not run.pause_reason or not PauseReason(run.pause_reason).passes:
        return False
    return run.status in WORKED_ON or (run.status == RunStatus.PAUSED and run.resume_at is not None)


def by_task(run: Run) -> list[TaskProgress]:
    """Return the progress of *run* per task, by the name of the task."""
    answered = Attempt.objects.filter(job__run=run, status=AttemptStatus.ANSWERED)
    seconds: dict[str, list[float]] = {}
    for slug, one in answered.order_by().values_list("job__question__task__slug", "seconds"):
        seconds.setdefault(slug, []).append(one or 0.0)
    medians = {slug: median(values) for slug, values in seconds.items()}
    read = kind_of(run).read_counts(run)
    rows: Iterable[tuple[Any, ...]] = (
        Job.objects.filter(run=run, canary=None)
        .order_by("question__task__slug")
        .values_list("question__task__slug", "question__task__part")
        .annotate(
            planned=Count("pk"),
            done=Count("pk", filter=Q(status=JobStatus.DONE)),
            failed=Count("pk", filter=FAILED),
            in_flight=Count("pk", filter=Q(status=JobStatus.LEASED)),
        )
    )
    return [
        TaskProgress(
            slug, part, planned, done, failed, in_flight, *read.get(slug, (0, 0)), medians.get(slug)
        )
        for slug, part, planned, done, failed, in_flight in rows
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


def errors(run: Run) -> list[ErrorRow]:
    """Return the failed attempts of *run* by kind, the most frequent first."""
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
            possible=exact_sum("reserved", filter=unknown),
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
            possible=amount_of(row["possible"]),
            last_text=texts.get(row["last"], ""),
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

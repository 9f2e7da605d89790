"""Sums of the jobs, calls and responses of runs, from the counts that the database keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Max, Min, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from evaluations.models import Attempt, Run, RunCount
from evaluations.models.vocabulary import AttemptStatus
from evaluations.runs.rules.sessions import seconds_worked

# The period of ``answered_recently``.
RECENT = timedelta(seconds=30)
# Among so many calls of all runs, the last ones of a run say how fast it works.
LAST_CALLS = 1000
STATES = ("pending", "waiting", "leased", "done", "failed", "refused")
CALLS = ("answered", "unknown", "spent_units", "open_units", "responses")


@dataclass(frozen=True)
class RunSums:
    """Jobs of a run by state, its calls and their cost, as ``RunCount`` says."""

    pending: int = 0
    waiting: int = 0
    leased: int = 0
    done: int = 0
    failed: int = 0
    refused: int = 0
    answered: int = 0
    unknown: int = 0
    spent_units: int = 0
    open_units: int = 0
    responses: int = 0
    first_sent: datetime | None = field(default=None)
    last_finished: datetime | None = field(default=None)

    @property
    def planned(self) -> int:
        """The number of jobs."""
        return sum(getattr(self, state) for state in STATES)


def sums_of(run: Run) -> RunSums:
    """Return the sums of all tasks of *run*."""
    counts = RunCount.objects.filter(run=run)
    sums = {name: Coalesce(Sum(name), 0) for name in (*STATES, *CALLS)}
    times = {"first_sent": Min("first_sent"), "last_finished": Max("last_finished")}
    return RunSums(**counts.aggregate(**sums, **times))


def sums_by_task(run: Run) -> dict[tuple[str, str], RunSums]:
    """Return the jobs of *run* by state for each task, by its slug and part."""
    counts = RunCount.objects.filter(run=run).order_by("task__slug")
    sums = [Sum(state) for state in STATES]
    found = {}
    for slug, part, *numbers in counts.values_list("task__slug", "task__part").annotate(*sums):
        one = RunSums(**dict(zip(STATES, numbers, strict=True)))
        if one.planned:
            found[slug, part] = one
    return found


def counted(*columns: str) -> Coalesce:
    """Return for a query of runs the sum of *columns*, as an annotation."""
    added: Any = F(columns[0])
    for column in columns[1:]:
        added = added + F(column)
    counts = RunCount.objects.filter(run=OuterRef("pk")).order_by().values("run")
    return Coalesce(Subquery(counts.annotate(n=Sum(added)).values("n")), 0)


def answered_recently(run: Run, now: datetime) -> int:
    """Return how many calls of *run* were answered in the last 30 seconds before *now*."""
    recent = Attempt.objects.filter(finished_at__gt=now - RECENT, status=AttemptStatus.ANSWERED)
    # Counted here: a filter by run would make SQLite look at every job of the run.
    runs = recent.order_by().values_list("job__run", flat=True)
    return sum(one == run.pk for one in runs)


def working_speed(run: Run, now: datetime, waits_since: datetime | None) -> float | None:
    """Return how many calls of *run* are answered per second while it works; None if unknown.

    It is that of the last answered calls, without the time in which the run was paused or stopped
    or waited. *waits_since* is when the oldest call in flight was sent.
    """
    answered = Attempt.objects.filter(status=AttemptStatus.ANSWERED, finished_at__isnull=False)
    times = answered.order_by("-finished_at").values_list("job__run", "sent_at", "finished_at")
    calls = [(sent, end) for one, sent, end in times[:LAST_CALLS] if end and one == run.pk]
    if not calls:  # other runs worked meanwhile
        own = times.filter(job__run=run)[:LAST_CALLS]
        calls = [(sent, end) for _run, sent, end in own if end]
    open_calls = [(waits_since, now)] if waits_since else []
    seconds = seconds_worked(calls + open_calls)
    return len(calls) / seconds if calls and seconds else None

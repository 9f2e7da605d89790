"""The workers of runs: each holds a place at its run, by a lease that it renews."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, Max, OuterRef, QuerySet

from evaluations.models import Run, RunWorker
from evaluations.runs.services.worker_names import ended_workers
from gradeapp.common.leases import Lease

PLACE = Lease("worker", "worker_until", "")
# The most workers of one run.
MOST_WORKERS = 32


def lease_end(now: datetime) -> datetime:
    """Return when a lease that is claimed at *now* ends, unless it is renewed."""
    return now + timedelta(seconds=settings.RUN_LEASE_SECONDS)


def workers_of(run: Run, now: datetime) -> QuerySet[RunWorker]:
    """Return the places at *run* that a worker holds at *now*."""
    return RunWorker.objects.filter(PLACE.running(now), run=run)


def has_worker(now: datetime) -> Exists:
    """Return the filter on runs at which a worker holds a place at *now*."""
    return Exists(RunWorker.objects.filter(PLACE.running(now), run=OuterRef("pk")))


def join_run(run: Run, owner: str, now: datetime) -> bool:
    """Give *owner* a place at *run*, or renew the lease; return False if all places are held."""
    places = RunWorker.objects.filter(run=run)
    until = lease_end(now)
    if PLACE.renew(places, owner, until=until):
        return True
    for place in places.filter(PLACE.free(now)).order_by("number").values_list("pk", flat=True):
        if PLACE.claim(places.filter(pk=place), owner, until=until, now=now):
            places.filter(pk=place).update(since=now, tries=False)
            return True
    number = 1 + (places.aggregate(last=Max("number"))["last"] or 0)
    if number > MOST_WORKERS:
        return False
    try:
        with transaction.atomic():
            RunWorker.objects.create(
                run=run, number=number, worker=owner, worker_until=until, since=now
            )
    except IntegrityError:  # another worker made this place at the same time
        return join_run(run, owner, now)
    return True


def renew_place(run: Run, owner: str, now: datetime) -> bool:
    """Renew the lease of the place of *owner* at *run*; return False if it was lost."""
    places = RunWorker.objects.filter(run=run)
    return bool(PLACE.renew(places, owner, until=lease_end(now)))


def leave_run(run: Run, owner: str) -> None:
    """Free the place of *owner* at *run*, if it still holds one."""
    PLACE.release(RunWorker.objects.filter(run=run), owner, waiting=0, tries=False)


def note_trying(run: Run, owner: str, tries: bool) -> None:
    """Store whether *owner* tries the endpoint of *run* for all its workers."""
    RunWorker.objects.filter(run=run, worker=owner).exclude(tries=tries).update(tries=tries)


@transaction.atomic
def take_over_trying(run: Run, owner: str, now: datetime) -> bool:
    """Let *owner* try the endpoint of *run* if no worker does that; return whether it tries now.

    One whose lease or process has ended tries no more.
    """
    list(Run.objects.select_for_update().filter(pk=run.pk).values_list("pk"))
    trying = set(workers_of(run, now).filter(tries=True).values_list("worker", flat=True))
    if trying - set(ended_workers(trying)):
        return False
    return bool(RunWorker.objects.filter(run=run, worker=owner).update(tries=True))


def show_waiting(run: Run, owner: str, waiting: int) -> None:
    """Store how many replies that *owner* stored wait to be read and scored."""
    RunWorker.objects.filter(run=run, worker=owner).update(waiting=waiting)


@dataclass(frozen=True, slots=True)
class Part:
    """The part of one worker in the jobs of a run: it is number *index* (from 0) of *workers*."""

    index: int = 0
    workers: int = 1


ALONE = Part()


def part_of(run: Run, owner: str, now: datetime) -> Part:
    """Return the part of *owner* in the jobs of *run*."""
    places = workers_of(run, now).order_by("number").values_list("worker", flat=True)
    workers = list(places)
    return Part(workers.index(owner), len(workers)) if owner in workers else ALONE

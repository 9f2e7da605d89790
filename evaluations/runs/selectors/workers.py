"""Queries of workers: which are running, and what they work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluations.models import Run, RunWorker, Worker
from evaluations.runs.rules.sessions import MOST_OTHERS, SESSION_SECONDS, seconds_until_begun
from evaluations.runs.selectors.runs import WORKED_ON, progress, waits_for_endpoint

# A worker that has not reported for so long is not running.
SILENT = timedelta(seconds=9)
START_A_WORKER = "celery -A gradeapp worker --beat"


@dataclass(frozen=True)
class Workers:
    """The workers that are running, and the runs at which a worker holds a place, by their ids."""

    running: Sequence[Worker]
    runs: Sequence[int]


def workers_at(now: datetime) -> Workers:
    """Return the workers that are running at *now*."""
    places = RunWorker.objects.exclude(worker="").filter(worker_until__gt=now)
    runs = places.order_by("run_id").values_list("run_id", flat=True).distinct()
    return Workers(list(Worker.objects.filter(seen_at__gt=now - SILENT)), list(runs))


def worker_sentence(run: Run, now: datetime) -> str:
    """Return why no worker works on *run*, which has work; "" if one does or will at once.

    A run by batch files needs none: it waits for people. One by batch API needs a worker from time
    to time. One that waits for its endpoint needs one when its time of waiting is over.
    """
    by_files = run.by_batch and not run.batch_api
    waits = waits_for_endpoint(run)
    waited = waits and (run.resume_at is None or run.resume_at <= now)
    if by_files or not (waited or run.status in WORKED_ON):
        return ""
    workers = workers_at(now)
    if run.pk in workers.runs:
        return ""
    if not workers.running:
        return _(
            "No worker is running, so this run does not go on. Start one with: %(command)s"
        ) % {"command": START_A_WORKER}
    if run.by_batch or not (others := len(workers.runs)):
        return ""
    if waits:
        busy = ngettext(
            "The workers are busy with %(n)d other run. The next attempt is in about %(time)s.",
            "The workers are busy with %(n)d other runs. The next attempt is in about %(time)s.",
            others,
        )
    else:
        busy = ngettext(
            "The workers are busy with %(n)d other run. This run begins in about %(time)s.",
            "The workers are busy with %(n)d other runs. This run begins in about %(time)s.",
            others,
        )
    return busy % {"n": others, "time": _about(seconds_until_worked_on(run, workers, now))}


def seconds_until_worked_on(run: Run, workers: Workers, now: datetime) -> float:
    """Return in how many seconds a worker begins with *run*, which has none.

    A place at another run becomes free when that run ends, at its present speed, or at the end of
    the worker's session.
    """
    places = RunWorker.objects.exclude(worker="").filter(worker_until__gt=now)
    held = []
    left: dict[int, float | None] = {}
    for place in places.select_related("run__endpoint"):
        if place.run_id not in left:
            left[place.run_id] = progress(place.run, now).seconds_left
        ends = SESSION_SECONDS - (now - (place.since or now)).total_seconds()
        known = left[place.run_id]
        held.append(max(0.0, ends if known is None else min(ends, known)))
    processes = sum(worker.processes for worker in workers.running)
    waiting = Run.objects.filter(status__in=WORKED_ON, endpoint__isnull=False, pk__lt=run.pk)
    before = waiting.exclude(pk__in=workers.runs).count()
    return seconds_until_begun(before, processes * (1 + MOST_OTHERS), held)


def _about(seconds: float) -> str:
    """Return *seconds* rounded up to 10 s or to minutes, so that a notice seldom changes."""
    if seconds <= 50:
        return _("%(n)d s") % {"n": 10 * max(1, ceil(seconds / 10))}
    return _("%(n)d min") % {"n": ceil(seconds / 60)}


def replies_waiting(run: Run) -> int:
    """Return how many stored replies of *run* are not read and scored yet."""
    return sum(run.workers.values_list("waiting", flat=True))

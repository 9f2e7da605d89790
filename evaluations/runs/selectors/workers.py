"""Queries of workers: which are running, and what they work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluations.models import Run, RunWorker, Worker
from evaluations.models.vocabulary import RunStatus

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
    """Return why no worker works on *run*, which has work; "" if one does or will at once."""
    if run.status not in (RunStatus.QUEUED, RunStatus.RUNNING):
        return ""
    workers = workers_at(now)
    if run.pk in workers.runs:
        return ""
    if not workers.running:
        return _(
            "No worker is running, so this run does not go on. Start one with: %(command)s"
        ) % {"command": START_A_WORKER}
    if not (others := len(workers.runs)):
        return ""
    busy = ngettext(
        "The workers are busy with %(n)d other run. This run is next, in about ten seconds.",
        "The workers are busy with %(n)d other runs. This run is next, in about ten seconds.",
        others,
    )
    return busy % {"n": others}


def replies_waiting(run: Run) -> int:
    """Return how many stored replies of *run* are not read and scored yet."""
    return sum(run.workers.values_list("waiting", flat=True))

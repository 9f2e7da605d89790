"""Reading rescorings: the list, and how far one is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from evaluations.models import Rescoring
from evaluations.models.vocabulary import SearchStatus

# Too little was done before to say how long the rest takes.
LEAST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class RescoringProgress:
    """Responses looked at of all, seconds since the worker began, and those left if known."""

    done: int
    total: int
    seconds: float
    seconds_left: float | None
    live: bool


def rescorings() -> QuerySet[Rescoring]:
    """Every rescoring with its run and who asked, the newest first."""
    related = ("run__language_model", "run__dataset", "created_by")
    return Rescoring.objects.select_related(*related).order_by("-pk")


def progress(job: Rescoring, now: datetime) -> RescoringProgress:
    """How far *job* is at *now*; what is left is told from the share that is done."""
    live = job.status in (SearchStatus.QUEUED, SearchStatus.WORKING)
    ends = now if live else job.ended_at or now
    seconds = (ends - job.started_at).total_seconds() if job.started_at else 0.0
    total = max(job.responses_total, job.responses_done)
    left = None
    done_now = job.responses_done - job.done_before
    if live and done_now > 0 and seconds >= LEAST_SECONDS:
        left = seconds * (total - job.responses_done) / done_now
    return RescoringProgress(job.responses_done, total, seconds, left, live)

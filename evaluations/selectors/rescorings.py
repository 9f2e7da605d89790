"""Reading rescorings: the list, and how far one is."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from evaluations.models import Rescoring
from questions.selectors import background_work
from questions.selectors.background_work import Progress


def rescorings() -> QuerySet[Rescoring]:
    """Every rescoring with its run and who asked, the newest first."""
    related = ("run__language_model", "run__dataset", "created_by")
    return Rescoring.objects.select_related(*related).order_by("-pk")


def progress(job: Rescoring, now: datetime) -> Progress:
    """How far *job* is at *now*, in responses looked at; time by those of this worker."""
    done, total = job.responses_done, job.responses_total
    own = done - job.done_before
    return background_work.progress(job, now, done, total, measured=own, rest=total - done)

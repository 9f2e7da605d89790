"""Rescorings: the list, the progress, and outdated scores."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db.models import Q, QuerySet

from evaluations.models import Rescoring, Response
from evaluations.statistics.policies import SCORER_VERSION, Policy
from gradeapp.common.background_work import selectors as background_work
from gradeapp.common.background_work.selectors import Progress


def rescorings() -> QuerySet[Rescoring]:
    """Return every rescoring with its run and its starter, the newest first."""
    related = ("run__language_model", "run__dataset", "created_by")
    return Rescoring.objects.select_related(*related).order_by("-pk")


def scored_by_earlier_readers(present: Collection[str], error_texts: str) -> QuerySet[Response]:
    """Return the responses whose score under some policy was not made by a reader of today.

    *present* are the versions of today's readers. *error_texts* is that of a program's
    message; where one was imported, only its own score is of today.
    """
    outdated = Q()
    for policy in Policy:
        score = Response.score_field(policy)
        scored = Q(**{f"{score}__isnull": False})
        outdated |= scored & ~Q(
            **{f"{score}__reader_version__in": present, f"{score}__scorer_version": SCORER_VERSION}
        )
        outdated |= scored & Q(is_error_text=True) & ~Q(**{f"{score}__reader_version": error_texts})
    return Response.objects.filter(outdated)


def progress(job: Rescoring, now: datetime) -> Progress:
    """Return the progress of *job* at *now*, in responses; its speed is that of this worker."""
    done, total = job.responses_done, job.responses_total
    own = done - job.done_before
    return background_work.progress(job, now, done, total, measured=own, rest=total - done)

"""Reading rescorings: the list, and how far one is."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluations.models import ObjectiveScore, Rescoring, Response
from evaluations.rules.scoring.policies import Policy
from questions.selectors import background_work
from questions.selectors.background_work import Progress


def rescorings() -> QuerySet[Rescoring]:
    """Every rescoring with its run and who asked, the newest first."""
    related = ("run__language_model", "run__dataset", "created_by")
    return Rescoring.objects.select_related(*related).order_by("-pk")


def scored_by_earlier_readers(present: Collection[str], error_texts: str) -> QuerySet[Response]:
    """The responses with a score under a policy, but none there by the readers of today.

    *present* are how the versions of today's scores begin. *error_texts* is that of a
    program's message; where one was imported, only its own score is of today.
    """
    by_present = Q()
    for version in present:
        by_present |= Q(version__startswith=version)
    outdated = Q()
    for policy in Policy:
        scores = ObjectiveScore.objects.filter(response=OuterRef("pk"), policy=policy)
        of_message = scores.filter(version__startswith=error_texts)
        outdated |= Exists(scores) & ~Exists(scores.filter(by_present))
        outdated |= Q(Exists(scores), ~Exists(of_message), is_error_text=True)
    return Response.objects.filter(outdated)


def progress(job: Rescoring, now: datetime) -> Progress:
    """How far *job* is at *now*, in responses looked at; time by those of this worker."""
    done, total = job.responses_done, job.responses_total
    own = done - job.done_before
    return background_work.progress(job, now, done, total, measured=own, rest=total - done)

"""The versions of a round's marking notes, and what a judge is told of them."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from evaluations.models import MarkingNotes, MarkingRound, Response
from evaluations.models.vocabulary import AnswerRole, RoundStatus


def versions_of(marking_round: MarkingRound) -> QuerySet[MarkingNotes]:
    """Every version with its author, the newest first."""
    return marking_round.notes_versions.select_related("author").order_by("-number")


def notes_for_judge(response: Response, at: datetime) -> MarkingNotes | None:
    """Return the marking notes that a judge of *response* is shown at *at*; None without any.

    They are those of the newest round that has begun, holds the response to be marked and
    gives its notes to the judge; of its versions the newest then.
    """
    rounds = MarkingRound.objects.filter(
        answers__response=response,
        answers__role__in=(AnswerRole.ANSWER.value, AnswerRole.SEED.value),
        notes_to_judge=True,
    ).exclude(status=RoundStatus.PLANNED)
    newest_round = rounds.order_by("-pk").values("pk")[:1]
    versions = MarkingNotes.objects.filter(round__in=newest_round, created_at__lte=at)
    newest = versions.order_by("-number").first()
    return newest if newest and newest.text else None

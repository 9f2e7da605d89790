"""Whether a lead who marks first may have seen marks of the response before."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Max, Q

from evaluations.facts.looks import PLAN
from evaluations.models import BlindAnswer, FinalMark, Look, Mark
from gradeapp.accounts.models import User


def may_have_seen(answer: BlindAnswer, lead: User, at: datetime | None = None) -> bool:
    """Whether *lead* may have seen marks of *answer* before *at*; None: until now.

    Pages and files show the marks of a response while it has a final mark; it waits for a lead
    again when some of them are returned, and the others still count. Looks are kept of the first
    time and not of every response, so each look from before the marks were given again counts.
    Where the response waits without a new mark, every look does.
    """
    until = Q() if at is None else Q(created_at__lt=at)
    final_at = FinalMark.objects.filter(until, answer=answer).aggregate(at=Max("created_at"))["at"]
    if final_at is None:
        return False
    again = Mark.objects.filter(until, slot__answer=answer, created_at__gt=final_at)
    before = again.aggregate(at=Max("created_at"))["at"] or at
    looks = Look.objects.filter(
        Q(round=answer.round_id) | Q(response=answer.response_id) | Q(run=answer.response.run_id),
        person=lead,
    ).exclude(page=PLAN)
    return (looks.filter(at__lt=before) if before else looks).exists()

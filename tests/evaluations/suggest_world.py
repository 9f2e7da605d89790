"""A run that suggests, with replies of every kind, without a model behind it."""

from __future__ import annotations

from typing import Any

from evaluations.models import Endpoint, Response, Run
from evaluations.models.vocabulary import Asks, JobStatus, RunStatus
from evaluations.suggesting.services.suggested import keep_suggested
from evaluations.suggesting.services.suggesting import Wanted, start_suggesting
from gradeapp.accounts.models import User
from questions.models import Dataset
from questions.selectors.bank import by_place

LABELS = '{"ability_branch": "reasoning", "knowledge": "logical-judgment", "difficulty": 3}'
POINTS = '[{"sub": 1, "text": "the law", "points": 4}, {"sub": 2, "text": "the end", "points": 6}]'


def wanted(endpoint: Endpoint, asks: Asks = Asks.LABELS, **changes: Any) -> Wanted:
    """Suggestions on everything in the bank."""
    given = {"dataset": Dataset.objects.first(), "questions": by_place(), "limit": 100, **changes}
    return Wanted(endpoint=endpoint, asks=asks, **given)


def answered(
    endpoint: Endpoint,
    user: User,
    replies: list[str],
    asks: Asks = Asks.LABELS,
    **changes: Any,
) -> Run:
    """A run that is over, with *replies* to its items in their order."""
    run = start_suggesting(wanted(endpoint, asks, **changes), acting_user=user)
    for job, text in zip(run.jobs.order_by("question__position"), replies, strict=True):
        Response.objects.create(
            run=run,
            question_id=job.question_id,
            revision_id=job.revision_id,
            text=text,
            finish_reason="stop",
        )
    run.jobs.update(status=JobStatus.DONE)
    keep_suggested(run)
    Run.objects.filter(pk=run.pk).update(status=RunStatus.FINISHED)
    run.refresh_from_db()
    return run

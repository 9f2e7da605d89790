"""Scores that were made by another key than the one that counts since a repair."""

from __future__ import annotations

from django.db.models import QuerySet

from evaluations.models import Response, Run
from questions.selectors.repaired_keys import RepairedKey, repaired_keys


def scored_by_another_key(
    responses: QuerySet[Response], repaired: dict[int, RepairedKey]
) -> set[int]:
    """Return those of *responses* whose strict score was made by another key than *repaired*."""
    rows = responses.filter(revision__in=list(repaired), strict_score__isnull=False)
    return {
        response
        for response, revision, used in rows.values_list(
            "pk", "revision", "strict_score__key_revision"
        )
        if (used or revision) not in repaired[revision].same
    }


def to_score_again(dataset: str) -> set[int]:
    """Return the responses of *dataset* whose key was repaired after they were scored."""
    responses = Response.objects.filter(question__task__dataset__slug=dataset)
    return scored_by_another_key(responses, repaired_keys(None, dataset))


def of_run_to_score_again(run: Run) -> set[int]:
    """Return the responses of *run* whose key was repaired after they were scored."""
    return scored_by_another_key(
        Response.objects.filter(run=run), repaired_keys(None, run.dataset.slug)
    )

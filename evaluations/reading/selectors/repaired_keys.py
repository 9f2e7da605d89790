"""Keys repaired by a curator; answers to an earlier revision of the same text use them too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import F, QuerySet

from evaluations.models import Response
from questions.models import QuestionRevision

# Where these are equal, an answer to one revision is an answer to the other.
ASKED = ("passage", "stem", "options", "letters", "sub_marks")


@dataclass(frozen=True, slots=True)
class RepairedKey:
    """The key of a repair, and the id of the revision that repaired it."""

    key: tuple[str, ...]
    revision: int


def repaired_keys(revisions: Iterable[int] | None, dataset: str = "") -> dict[int, RepairedKey]:
    """Return the current repaired key by earlier revision with the same text.

    Of *revisions*, or of all of *dataset*. Items that nobody repaired are not in it.
    """
    earlier = QuestionRevision.objects.exclude(pk=F("question__current")).filter(
        question__current__author__isnull=False
    )
    if revisions is not None:
        earlier = earlier.filter(pk__in=list(revisions))
    if dataset:
        earlier = earlier.filter(question__task__dataset__slug=dataset)
    found = {}
    for revision in earlier.select_related("question__current"):
        current = revision.question.current
        if current is None or any(getattr(revision, n) != getattr(current, n) for n in ASKED):
            continue
        found[revision.pk] = RepairedKey(tuple(current.answer_key), current.pk)
    return found


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
        if used != repaired[revision].revision
    }


def to_score_again(dataset: str) -> set[int]:
    """Return the responses of *dataset* whose key was repaired after they were scored."""
    responses = Response.objects.filter(question__task__dataset__slug=dataset)
    return scored_by_another_key(responses, repaired_keys(None, dataset))

"""Keys that a curator repaired: by them answers to the earlier, equal text are scored too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import F, QuerySet

from evaluations.models import ObjectiveScore
from evaluations.rules.scoring.policies import Policy
from questions.models import QuestionRevision

# Where these are equal, an answer to one revision is an answer to the other.
ASKED = ("passage", "stem", "options", "letters", "sub_marks")


@dataclass(frozen=True, slots=True)
class RepairedKey:
    """The key of a repair, and the mark of the scores that were made by it."""

    key: tuple[str, ...]
    mark: str


def repaired_keys(revisions: Iterable[int] | None, dataset: str = "") -> dict[int, RepairedKey]:
    """By earlier revision: the key of the repair that is current now and asks the same.

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
        found[revision.pk] = RepairedKey(tuple(current.answer_key), f"+key{current.pk}")
    return found


def scored_by_another_key(
    scores: QuerySet[ObjectiveScore], repaired: dict[int, RepairedKey]
) -> set[int]:
    """The responses whose newest score among *scores* (in their order) is not by *repaired*."""
    if not repaired:
        return set()
    outdated: set[int] = set()
    rows = scores.filter(response__revision__in=list(repaired))
    for response, revision, version in rows.values_list(
        "response", "response__revision", "version"
    ):
        if version.endswith(repaired[revision].mark):
            outdated.discard(response)
        else:
            outdated.add(response)
    return outdated


def to_score_again(dataset: str) -> set[int]:
    """The responses of *dataset* that are unscored under ``strict`` since a key was repaired."""
    scores = ObjectiveScore.objects.filter(
        response__question__task__dataset__slug=dataset, policy=Policy.STRICT
    )
    return scored_by_another_key(scores.order_by("pk"), repaired_keys(None, dataset))

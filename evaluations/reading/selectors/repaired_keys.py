"""Keys repaired by a curator; answers to an earlier revision of the same text use them too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import QuerySet

from evaluations.models import Response
from questions.models import QuestionRevision

# Where these are equal, an answer to one revision is an answer to the other.
ASKED = ("question_type", "passage", "stem", "options", "letters", "sub_marks")


@dataclass(frozen=True, slots=True)
class RepairedKey:
    """The key that counts since a repair, and the id of the revision that has it.

    ``same`` are the ids of all revisions with the same text and this key: a score that was
    made by the key of one of them is right.
    """

    key: tuple[str, ...]
    revision: int
    same: frozenset[int]


def repaired_keys(revisions: Iterable[int] | None, dataset: str = "") -> dict[int, RepairedKey]:
    """Return the key that counts by earlier revision, for items whose key was repaired since.

    It is that of the newest revision with the same text that a person made, also where the text was
    changed after that; or of a later import with this text, if its source gives another key than
    the one that was repaired. Of *revisions*, or of all of *dataset*.
    """
    asked = QuestionRevision.objects.all()
    if revisions is not None:
        asked = asked.filter(pk__in=list(revisions))
    if dataset:
        asked = asked.filter(question__task__dataset__slug=dataset)
    by_people = QuestionRevision.objects.filter(author__isnull=False)
    wanted = set(
        asked.filter(question__in=by_people.values("question")).values_list("pk", flat=True)
    )
    same = QuestionRevision.objects.filter(question__revisions__in=wanted).distinct()
    texts: dict[tuple[int, str], list[QuestionRevision]] = defaultdict(list)
    for revision in same.order_by("number"):
        asks = repr([getattr(revision, name) for name in ASKED])
        texts[revision.question_id, asks].append(revision)
    found: dict[int, RepairedKey] = {}
    for revisions_of in texts.values():
        if (counting := _counting(revisions_of)) is not None:
            key = counting.answer_key
            alike = frozenset(one.pk for one in revisions_of if one.answer_key == key)
            now = RepairedKey(tuple(key), counting.pk, alike)
            earlier = (one.pk for one in revisions_of if one.number < counting.number)
            found |= dict.fromkeys(wanted.intersection(earlier), now)
    return found


def _counting(revisions: Iterable[QuestionRevision]) -> QuestionRevision | None:
    """Return the one of *revisions*, of one text and in order, whose key counts since a repair."""
    counting: QuestionRevision | None = None
    for revision in revisions:
        by_person = revision.author_id is not None
        if counting is None and revision.answer_key == revision.published_key:
            continue  # a repair, but not one of the key
        # A source that still gives the key that was repaired says nothing new.
        repeats = counting is not None and revision.answer_key == counting.published_key
        if by_person or (counting is not None and not repeats):
            counting = revision
    return counting


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

"""What counts as marking blind: the questions that the gate of blindness asks; what leads see late.

The gate is ``User.capabilities`` (``gradeapp.accounts``), the same for pages, API, exports, counts
and the admin site; ``evaluations.apps`` registers these questions there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.db.models import Model, Q

from evaluations.models import CapabilityReview, RoundTeacher
from evaluations.models.vocabulary import LIVE, AnswerRole, ReviewStatus


def marks_in_a_round(user: int) -> bool:
    """Whether the person is a teacher of a round that has begun and is not closed.

    Having marked everything changes nothing: a third mark or a returned one may still come, and
    whether it does would tell. Whoever left the round gets nothing of it any more.
    """
    return RoundTeacher.objects.filter(teacher=user, left_at=None, round__status__in=LIVE).exists()


def reviews_in_a_review(user: int) -> bool:
    """Whether the person is a reviewer of a review that is open."""
    return CapabilityReview.objects.filter(reviewers=user, status=ReviewStatus.OPEN).exists()


def marks_wait_for_the_lead(path: str = "") -> Q:
    """Return the blind answers at *path* whose marks no page, figure or file may show yet.

    They are those without a final mark in a live round where leads mark before they see the other
    marks, and the intra-rater checks of those. A lead who has given a mark sees the others on the
    page of that response alone.
    """
    live = Q(**{f"{path}round__arbiter_marks_first": True, f"{path}round__status__in": LIVE})
    response = Q(**{f"{path}role": AnswerRole.ANSWER, f"{path}final": None})
    repeat = Q(**{f"{path}role": AnswerRole.REPEAT, f"{path}repeat_of__final": None})
    return live & (response | repeat)


def waits_for_the_lead(model: type[Model], path: str) -> Callable[[Sequence[int]], list[int]]:
    """Return a function that picks from keys of *model* those that no page may show yet.

    *path* leads from the model to the blind answer.
    """

    def picked(keys: Sequence[int]) -> list[int]:
        rows = model._default_manager.filter(marks_wait_for_the_lead(path), pk__in=keys)
        return list(rows.values_list("pk", flat=True))

    return picked

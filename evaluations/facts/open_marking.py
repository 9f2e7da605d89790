"""What counts as marking blind: the questions that the gate of blindness asks.

The gate is ``User.capabilities`` (``gradeapp.accounts``), the same for pages, API, exports, counts
and the admin site; ``evaluations.apps`` registers these questions there.
"""

from __future__ import annotations

from evaluations.models import CapabilityReview, RoundTeacher
from evaluations.models.vocabulary import LIVE, ReviewStatus


def marks_in_a_round(user: int) -> bool:
    """Whether the person is a teacher of a round that has begun and is not closed.

    Having marked everything changes nothing: a third mark or a returned one may still come, and
    whether it does would tell. Whoever left the round gets nothing of it any more.
    """
    return RoundTeacher.objects.filter(teacher=user, left_at=None, round__status__in=LIVE).exists()


def reviews_in_a_review(user: int) -> bool:
    """Whether the person is a reviewer of a review that is open."""
    return CapabilityReview.objects.filter(reviewers=user, status=ReviewStatus.OPEN).exists()

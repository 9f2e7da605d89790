"""Who marks at present: to them every page that names models and marks is closed."""

from __future__ import annotations

from evaluations.models import CapabilityReview, RoundTeacher
from evaluations.models.vocabulary import ReviewStatus, RoundStatus
from gradeapp.accounts.models import User


def marks_in_an_open_round(user: User) -> bool:
    """Whether *user* is a teacher of a round that is not closed, whatever their other roles."""
    pools = RoundTeacher.objects.filter(teacher=user)
    return pools.exclude(round__status=RoundStatus.CLOSED).exists()


def reviews_in_an_open_review(user: User) -> bool:
    """Whether *user* judges the answers of a capability review that is not closed."""
    return CapabilityReview.objects.filter(reviewers=user, status=ReviewStatus.OPEN).exists()

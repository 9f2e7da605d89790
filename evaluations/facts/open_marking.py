"""Who marks at present: pages and API that name models and marks are closed to them.

A lead who also marks stays blind: reports and judgements open when the round is closed.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _

from evaluations.models import CapabilityReview, RoundTeacher
from evaluations.models.vocabulary import ReviewStatus, RoundStatus
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import MemberRequest, View
from gradeapp.common.refusals import NotAllowed


def marks_in_an_open_round(user: User) -> bool:
    """Whether *user* is a teacher of a round that is not closed, whatever their other roles."""
    pools = RoundTeacher.objects.filter(teacher=user)
    return pools.exclude(round__status=RoundStatus.CLOSED).exists()


def reviews_in_an_open_review(user: User) -> bool:
    """Whether *user* judges the answers of a capability review that is not closed."""
    return CapabilityReview.objects.filter(reviewers=user, status=ReviewStatus.OPEN).exists()


def check_not_marking(user: User) -> None:
    """Raise NotAllowed for a teacher of an open round, and for a reviewer of an open review."""
    if marks_in_an_open_round(user):
        raise NotAllowed(
            _("You mark in an open round: reports and judgements open for you when it is closed.")
        )
    if reviews_in_an_open_review(user):
        raise NotAllowed(
            _("You review in an open review: this page opens for you when it is closed.")
        )


def not_while_marking(view: View) -> View:
    """Refuse a page to who marks at present; stands below ``requires``."""

    @wraps(view)
    def guarded(request: MemberRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        check_not_marking(request.user)
        return view(request, *args, **kwargs)

    return guarded

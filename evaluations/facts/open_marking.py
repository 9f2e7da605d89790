"""Deny pages and API that name models and marks to people who mark in an open round.

This holds for leads too: they can read reports and judgements again when the round is closed.
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
    """Return whether *user* is a teacher of a round that is not closed."""
    places = RoundTeacher.objects.filter(teacher=user)
    return places.exclude(round__status=RoundStatus.CLOSED).exists()


def reviews_in_an_open_review(user: User) -> bool:
    """Return whether *user* is a reviewer of a review that is open."""
    return CapabilityReview.objects.filter(reviewers=user, status=ReviewStatus.OPEN).exists()


def check_not_marking(user: User) -> None:
    """Raise NotAllowed for a teacher of an open round or a reviewer of an open review."""
    if marks_in_an_open_round(user):
        raise NotAllowed(
            _(
                "You are marking in an open round. Reports and judgements are "
                "available to you after the round is closed."
            )
        )
    if reviews_in_an_open_review(user):
        raise NotAllowed(
            _(
                "You are a reviewer in an open review. This page is available to you "
                "after the review is closed."
            )
        )


def not_while_marking(view: View) -> View:
    """Decorate *view* with ``check_not_marking``. Write it below ``requires``."""

    @wraps(view)
    def guarded(request: MemberRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        check_not_marking(request.user)
        return view(request, *args, **kwargs)

    return guarded

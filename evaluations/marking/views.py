"""A lead who also marks stays blind: reports and judgements open when the round is closed."""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from evaluations.marking.selectors import marks_in_an_open_round, reviews_in_an_open_review
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import View
from gradeapp.common.refusals import NotAllowed


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
    """A page that would tell a marker what they may not know; below ``requires``."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        check_not_marking(request.user)
        return view(request, *args, **kwargs)

    return guarded

"""Reading a person's saved views of the question list."""

from __future__ import annotations

from django.db.models import QuerySet

from gradeapp.accounts.models import User
from questions.models import SavedView


def views_of(user: User) -> QuerySet[SavedView]:
    """The views of *user*, by name."""
    return SavedView.objects.filter(owner=user).order_by("name")

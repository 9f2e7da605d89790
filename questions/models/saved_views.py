"""Saved views of the question list: a name for a set of filters."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class SavedView(models.Model):
    """One person's name for the query of the question list (the address after ``?``)."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views"
    )
    name = models.CharField(max_length=80)
    query = models.CharField(max_length=1000, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="one_view_per_name"),
        ]

    def __str__(self) -> str:
        return self.name

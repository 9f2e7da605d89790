"""Rubrics: versions of scoring points."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from questions.models.bank import Question


class Rubric(models.Model):
    """One version of an item's rubric; only an accepted one is used for marking."""

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="rubrics")
    version = models.PositiveIntegerField()
    accepted = models.BooleanField(default=False)
    source = models.CharField(max_length=40, help_text="import, person or proposal")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="rubrics"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["question", "version"]
        constraints = [
            models.UniqueConstraint(fields=["question", "version"], name="one_rubric_per_version"),
        ]

    def __str__(self) -> str:
        return f"{self.question} rubric v{self.version}"


class ScoringPoint(models.Model):
    """One line of a rubric with its points; ``sub`` is the 1-based sub-question."""

    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="points")
    order = models.PositiveSmallIntegerField()
    sub = models.PositiveSmallIntegerField(default=1)
    text = models.TextField()
    points = models.DecimalField(max_digits=5, decimal_places=2)

    class Meta:
        ordering = ["rubric", "order"]
        constraints = [
            models.UniqueConstraint(fields=["rubric", "order"], name="one_scoring_point_per_order"),
            models.CheckConstraint(
                condition=models.Q(points__gt=0), name="scoring_point_above_zero"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.text[:40]} ({self.points})"

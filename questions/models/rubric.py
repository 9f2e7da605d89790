"""Rubrics: versions of scoring points."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from gradeapp.common.checks import known
from questions.models.bank import Question
from questions.rules.vocabulary import RubricSource


class Rubric(models.Model):
    """One version of an item's rubric; only an accepted one is used for marking.

    The question points to the accepted version that counts. ``accepted_by`` is None for one
    that came with the questions. ``model_name`` names the model where one proposed it.
    """

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="rubrics")
    version = models.PositiveIntegerField()
    accepted = models.BooleanField(default=False)
    source = models.CharField(max_length=8, choices=RubricSource.choices())
    model_name = models.CharField(max_length=120, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="rubrics"
    )
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="accepted_rubrics",
    )
    accepted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["version", "id"]
        constraints = [
            known("rubric_source_known", source=RubricSource),
            models.CheckConstraint(
                condition=(models.Q(source="model") & ~models.Q(model_name=""))
                | (~models.Q(source="model") & models.Q(model_name="")),
                name="a_proposing_model_is_named",
            ),
            models.UniqueConstraint(fields=["question", "version"], name="one_rubric_per_version"),
        ]

    def __str__(self) -> str:
        return f"{self.question} rubric v{self.version}"


class RubricGroup(models.Model):
    """Scoring points under a common cap: "any three of these, 10 points".

    ``cap`` is the most that the group gives in points. ``choose`` is how many of
    its points count (the best ones), None for all. With ``choose`` 1 the points
    are alternatives of each other.
    """

    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="groups")
    order = models.PositiveSmallIntegerField()
    sub = models.PositiveSmallIntegerField(default=1)
    text = models.CharField(max_length=200, blank=True)
    cap = models.DecimalField(max_digits=5, decimal_places=2)
    choose = models.PositiveSmallIntegerField(null=True)

    class Meta:
        ordering = ["order", "id"]
        constraints = [
            models.UniqueConstraint(fields=["rubric", "order"], name="one_rubric_group_per_order"),
            models.CheckConstraint(condition=models.Q(cap__gt=0), name="group_cap_above_zero"),
            models.CheckConstraint(
                condition=models.Q(choose__isnull=True) | models.Q(choose__gt=0),
                name="group_chooses_at_least_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.text[:40]} ({self.cap})"


class ScoringPoint(models.Model):
    """One line of a rubric with its points; ``sub`` is the 1-based sub-question."""

    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="points")
    order = models.PositiveSmallIntegerField()
    sub = models.PositiveSmallIntegerField(default=1)
    group = models.ForeignKey(
        RubricGroup, null=True, on_delete=models.PROTECT, related_name="points"
    )
    text = models.TextField()
    points = models.DecimalField(max_digits=5, decimal_places=2)

    class Meta:
        ordering = ["order", "id"]
        constraints = [
            models.UniqueConstraint(fields=["rubric", "order"], name="one_scoring_point_per_order"),
            models.CheckConstraint(
                condition=models.Q(points__gt=0), name="scoring_point_above_zero"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.text[:40]} ({self.points})"

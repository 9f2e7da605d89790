"""The four-tuple of AGIBench as revisions: who set which label, when, why."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from questions.models.bank import Question
from questions.rules.vocabulary import AbilityBranch, Modal


class Knowledge(models.Model):
    """A knowledge category, or a subclass of one: an open list, so these are rows."""

    slug = models.SlugField(max_length=80, unique=True)
    english = models.CharField(max_length=120)
    chinese = models.CharField(max_length=120)
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="subclasses"
    )

    class Meta:
        verbose_name_plural = "knowledge"

    def __str__(self) -> str:
        return self.english


class LabelRevision(models.Model):
    """The four labels of an item at one time; the newest counts, any may be empty."""

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="labels")
    ability_branch = models.CharField(max_length=20, choices=AbilityBranch.choices(), blank=True)
    knowledge = models.ForeignKey(
        Knowledge, null=True, on_delete=models.PROTECT, related_name="labelled"
    )
    difficulty = models.PositiveSmallIntegerField(null=True)
    modal = models.CharField(max_length=20, choices=Modal.choices(), blank=True)
    source = models.CharField(max_length=20, help_text="published, derived, person or model")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="labels"
    )
    reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["question", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(difficulty__isnull=True)
                | models.Q(difficulty__gte=1, difficulty__lte=5),
                name="difficulty_from_1_to_5",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question} {self.ability_branch} {self.difficulty} {self.modal}"

"""Conditions of runs, prompt sets with their versions, and studies."""

from __future__ import annotations

import uuid
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import Q

from evaluations.conditions import ConditionOrigin, PromptSetting, PromptSource
from gradeapp.common.checks import known
from questions.models import Dataset


class PromptSet(models.Model):
    """The prompts of a benchmark or of our own under one name (``agieval``, ``agibench:none``).

    ``current`` is the version that new runs use.
    """

    slug = models.CharField(max_length=60, unique=True)
    current = models.ForeignKey(
        "PromptSetVersion", null=True, on_delete=models.PROTECT, related_name="current_of"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


class PromptSetVersion(models.Model):
    """One version of a prompt set; never changed, only followed.

    ``content`` is the set in the documented format (docs/prompt-sets.md), and ``content_hash``
    the SHA-256 of its canonical JSON.
    """

    prompt_set = models.ForeignKey(PromptSet, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    content = models.JSONField()
    content_hash = models.CharField(max_length=64)
    source = models.CharField(max_length=8, choices=PromptSource.choices())
    note = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="prompt_sets"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            known("prompt_set_version_source_known", source=PromptSource),
            models.UniqueConstraint(
                fields=["prompt_set", "number"], name="one_prompt_set_version_per_number"
            ),
            models.UniqueConstraint(
                fields=["prompt_set", "content_hash"], name="one_prompt_set_version_per_content"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.prompt_set} {self.number}"


class Condition(models.Model):
    """How a model was asked: all that can change its answers, apart from the questions.

    ``settings`` is a frozen ``ConditionSettings``, and ``fingerprint`` the SHA-256 of it and of
    the name of the model in reports: answers are compared and repeated within one condition, and
    answers of two are never pooled. Of imported answers little is known: ``settings`` is {}.
    ``name`` is given by people, and unique for the model.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=100)
    language_model = models.ForeignKey(
        "LanguageModel", on_delete=models.PROTECT, related_name="conditions"
    )
    origin = models.CharField(max_length=8, choices=ConditionOrigin.choices())
    setting = models.CharField(max_length=14, choices=PromptSetting.choices(), blank=True)
    prompts = models.ForeignKey(
        PromptSetVersion, null=True, on_delete=models.PROTECT, related_name="conditions"
    )
    settings = models.JSONField(default=dict)
    fingerprint = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            known("condition_lists_known", origin=ConditionOrigin, setting=("", *PromptSetting)),
            models.UniqueConstraint(
                fields=["language_model", "name"], name="one_condition_per_model_and_name"
            ),
            models.CheckConstraint(
                condition=Q(origin=ConditionOrigin.IMPORTED.value) | Q(prompts__isnull=False),
                name="an_asked_condition_has_prompts",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.language_model} · {self.name}"


class Study(models.Model):
    """The same choice of questions under several conditions and models, started as one.

    ``choice`` is a frozen ``QuestionChoice``; ``budget`` bounds what its runs cost together, in
    ``currency``: the endpoints of a study have the same one. ``committed`` is what the calls of
    its runs cost, or may cost while their answers are open, in ``UNIT`` of the currency: a whole
    number, so that one statement compares it exactly with the budget on both databases.
    """

    UNIT = Decimal("0.00000001")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=120)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="studies")
    choice = models.JSONField(default=dict)
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    currency = models.CharField(max_length=3)
    committed = models.BigIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="studies"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def spent_or_reserved(self) -> Decimal:
        """What the calls cost, or may cost, in ``currency``."""
        return self.committed * self.UNIT

"""Error analysis: people say what a wrong answer lacks (AGIEval section 4.5)."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from evaluations.models.responses import Response
from evaluations.models.runs import Run
from evaluations.models.vocabulary import ReviewStatus
from evaluations.statistics.policies import Policy
from gradeapp.common.checks import known
from questions.models import Dataset, Question, QuestionRevision


class CapabilityReview(models.Model):
    """A sample of wrong answers, ``per_task`` of each task, judged by one or two reviewers each."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=100)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="reviews")
    runs = models.ManyToManyField(Run, related_name="reviews")
    reviewers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="reviews")
    policy = models.CharField(max_length=10)
    per_task = models.PositiveSmallIntegerField(default=100)
    reviewers_each = models.PositiveSmallIntegerField(default=1)
    random_seed = models.BigIntegerField()
    status = models.CharField(
        max_length=8, choices=ReviewStatus.choices(), default=ReviewStatus.OPEN.value
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="reviews_made"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)
    form_key = models.UUIDField(
        null=True, unique=True, editable=False, help_text="of the form that opened it"
    )

    class Meta:
        ordering = ["-id"]
        constraints = [
            known("review_lists_known", status=ReviewStatus, policy=Policy),
            models.CheckConstraint(
                condition=models.Q(reviewers_each__in=(1, 2)), name="one_or_two_reviewers"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ReviewItem(models.Model):
    """A wrong answer of the sample, with what was read in it and what it got that day."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    review = models.ForeignKey(CapabilityReview, on_delete=models.PROTECT, related_name="items")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="review_items")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="review_items")
    revision = models.ForeignKey(
        QuestionRevision, on_delete=models.PROTECT, related_name="review_items"
    )
    read = models.JSONField(default=list)
    points = models.DecimalField(max_digits=6, decimal_places=2)
    full = models.DecimalField(max_digits=6, decimal_places=2)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["review", "response"], name="once_in_a_review"),
        ]

    def __str__(self) -> str:
        return f"{self.response} in {self.review}"


class ReviewSlot(models.Model):
    """One of the judgements that an item needs: planned for a reviewer, then held by one.

    ``judgement`` is the version that counts, null while there is none.
    """

    item = models.ForeignKey(ReviewItem, on_delete=models.PROTECT, related_name="slots")
    place = models.PositiveSmallIntegerField()
    planned = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="planned_reviews"
    )
    order = models.PositiveIntegerField()
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="review_slots"
    )
    lease_until = models.DateTimeField(null=True)
    reviewed = models.BooleanField(default=False)
    judgement = models.ForeignKey(
        "CapabilityJudgement", null=True, on_delete=models.PROTECT, related_name="counts_for"
    )

    class Meta:
        ordering = ["place", "id"]
        constraints = [
            models.UniqueConstraint(fields=["item", "place"], name="one_review_per_place"),
            models.UniqueConstraint(
                fields=["item", "holder"],
                condition=models.Q(holder__isnull=False),
                name="one_review_per_person_and_item",
            ),
        ]
        indexes = [
            models.Index(fields=["planned", "reviewed", "order"], name="review_slot_by_queue")
        ]

    def __str__(self) -> str:
        return f"{self.item} {self.place}"


class CapabilityJudgement(models.Model):
    """What one reviewer says of one answer: 1 or 0 for each capability, null where it is not asked.

    A revision is a new row. ``weaknesses`` are values of the closed list of the paper.
    """

    slot = models.ForeignKey(ReviewSlot, on_delete=models.PROTECT, related_name="judgements")
    version = models.PositiveIntegerField()
    key = models.UUIDField(unique=True)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="capability_judgements"
    )
    understanding = models.PositiveSmallIntegerField(null=True)
    knowledge = models.PositiveSmallIntegerField(null=True)
    reasoning = models.PositiveSmallIntegerField(null=True)
    calculation = models.PositiveSmallIntegerField(null=True)
    weaknesses = models.JSONField(default=list)
    note = models.TextField(blank=True)
    seconds = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["version", "id"]
        constraints = [
            models.UniqueConstraint(fields=["slot", "version"], name="one_judgement_per_version"),
            *(
                models.CheckConstraint(
                    condition=models.Q(**{f"{name}__isnull": True})
                    | models.Q(**{f"{name}__in": (0, 1)}),
                    name=f"{name}_is_0_or_1",
                )
                for name in ("understanding", "knowledge", "reasoning", "calculation")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.slot} v{self.version}"

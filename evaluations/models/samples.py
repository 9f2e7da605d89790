"""Samples of responses that teachers mark, so that a total is known within so many points."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from evaluations.models.judging import Judge
from evaluations.models.rounds import MarkingRound
from evaluations.models.runs import Run


class MarkingSample(models.Model):
    """A marking sample: questions of *run* drawn at random, in strata, and marked in *round*.

    ``strata`` are what was planned: subject, task, questions, and how many are drawn in all.
    ``half_width`` is the half width of the 95 % interval wished for, in points of 750, and
    ``streams`` whose totals it is about. A later sample ``follows`` one of the same run: its
    questions are drawn from the rest, and all samples of a chain count together.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="marking_samples")
    judge = models.ForeignKey(
        Judge, null=True, on_delete=models.PROTECT, related_name="marking_samples"
    )
    round = models.OneToOneField(
        MarkingRound, on_delete=models.PROTECT, related_name="marking_sample"
    )
    follows = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="followed_by"
    )
    streams = models.JSONField(default=list)
    half_width = models.DecimalField(max_digits=5, decimal_places=2)
    strata = models.JSONField(default=list)
    random_seed = models.BigIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(half_width__gt=0), name="sample_half_width_above_zero"
            )
        ]

    def __str__(self) -> str:
        return f"sample of {self.run}"

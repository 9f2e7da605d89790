"""Judges and what they said."""

from __future__ import annotations

from decimal import Decimal

from django.db import models

from evaluations.models.responses import Response
from evaluations.models.runs import Attempt, Endpoint, Run
from evaluations.statistics.outcomes import JudgeStatus
from gradeapp.common.checks import known
from questions.models import Rubric


class Judge(models.Model):
    """A model that marks; reports call it ``judge:NAME``. A published one has no endpoint."""

    name = models.CharField(max_length=100, unique=True)
    endpoint = models.ForeignKey(
        Endpoint, null=True, on_delete=models.PROTECT, related_name="judges"
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Judgement(models.Model):
    """One reply of a judge. ``total`` is null unless the reply states one that is possible.

    ``released`` keeps the totals that a benchmark released with the reply, as
    they were released, possible or not. ``status`` is ``scored`` or the reason
    why not. A later judgement of the judge on the response names the one that it
    ``follows``; the one that none follows counts.
    """

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="judgements")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="judgements")
    run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT, related_name="judgements")
    attempt = models.OneToOneField(
        Attempt, null=True, on_delete=models.PROTECT, related_name="judgement"
    )
    number = models.PositiveSmallIntegerField(default=1, help_text="1 unless asked again")
    prompt_version = models.CharField(max_length=20, blank=True)
    rubric = models.ForeignKey(
        Rubric, null=True, on_delete=models.PROTECT, related_name="judgements"
    )
    reply = models.TextField(blank=True)
    total = models.DecimalField(max_digits=7, decimal_places=3, null=True)
    full = models.DecimalField(max_digits=6, decimal_places=2)
    status = models.CharField(max_length=20)
    flags = models.JSONField(default=list)
    released = models.JSONField(default=list)
    follows = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="followed_by"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            known("judgement_status_known", status=JudgeStatus),
            models.UniqueConstraint(
                fields=["response", "judge", "number"], name="one_judgement_per_number"
            ),
            models.CheckConstraint(
                condition=models.Q(total__isnull=True)
                | (models.Q(total__gte=Decimal(0)) & models.Q(total__lte=models.F("full"))),
                name="judge_total_within_full_marks",
            ),
            models.CheckConstraint(
                condition=models.Q(status="scored", total__isnull=False)
                | (~models.Q(status="scored") & models.Q(total__isnull=True)),
                name="judge_total_only_when_scored",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge} on {self.response}: {self.total}"

"""What models read where no pattern did, and what people say of a reading: only added to."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from evaluations.models.responses import Extraction, Response
from evaluations.models.runs import Attempt, Run
from evaluations.models.vocabulary import CheckSource
from evaluations.statistics.outcomes import ReadingOutcome
from gradeapp.common.checks import known


class ModelReading(models.Model):
    """The reply of a model that was asked what an examinee answered, and what was taken from it.

    ``run`` is the run that reads, not the one that answered. ``status`` says whether
    the reply was taken, or why not; ``answers`` and ``spans`` are those of an
    extraction, empty where nothing was taken. ``extraction`` is the reading that
    had left the answer open.
    """

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="model_readings")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="model_readings")
    attempt = models.OneToOneField(Attempt, on_delete=models.PROTECT, related_name="model_reading")
    extraction = models.ForeignKey(
        Extraction, null=True, on_delete=models.PROTECT, related_name="model_readings"
    )
    prompt_version = models.CharField(max_length=20)
    version = models.CharField(max_length=20)
    reply = models.TextField(blank=True)
    status = models.CharField(max_length=20)
    answers = models.JSONField(default=list)
    spans = models.JSONField(default=list)
    outcome = models.CharField(max_length=12, blank=True)
    confidence = models.FloatField(default=0.0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            known("model_reading_outcome_known", outcome=["", *ReadingOutcome]),
            models.UniqueConstraint(fields=["run", "response"], name="one_reading_per_run"),
        ]

    def __str__(self) -> str:
        return f"{self.response} by {self.run}: {self.answers}"


class CheckSample(models.Model):
    """Readings of patterns drawn at random from a run, so that people check how good they are.

    Drawn by ``random_seed`` among those that had been read when it was drawn.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="check_samples")
    random_seed = models.BigIntegerField()
    size = models.PositiveIntegerField()
    among = models.PositiveIntegerField()
    responses = models.ManyToManyField(Response, related_name="check_samples")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="check_samples"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    form_key = models.UUIDField(
        null=True, unique=True, editable=False, help_text="of the form or request that drew it"
    )

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.size} of {self.run}"


class AnswerCheck(models.Model):
    """What one person says that the examinee answered, having looked at one reading.

    ``extraction`` or ``model_reading`` is that reading. ``confirmed``: the person
    says the same. A person who says otherwise later adds a row that ``follows``
    the one before; the newest of each person counts.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="answer_checks")
    extraction = models.ForeignKey(
        Extraction, null=True, on_delete=models.PROTECT, related_name="answer_checks"
    )
    model_reading = models.ForeignKey(
        ModelReading, null=True, on_delete=models.PROTECT, related_name="answer_checks"
    )
    checker = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="answer_checks"
    )
    number = models.PositiveSmallIntegerField()
    follows = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="followed_by"
    )
    key = models.UUIDField(unique=True)
    source = models.CharField(max_length=10, choices=CheckSource.choices())
    answers = models.JSONField(default=list)
    outcome = models.CharField(max_length=12)
    confirmed = models.BooleanField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            known("check_source_known", source=CheckSource),
            known("check_outcome_known", outcome=ReadingOutcome),
            models.UniqueConstraint(
                fields=["response", "checker", "number"], name="one_check_per_person_and_number"
            ),
            models.CheckConstraint(
                condition=models.Q(extraction__isnull=True, model_reading__isnull=False)
                | models.Q(extraction__isnull=False, model_reading__isnull=True),
                name="a_check_names_one_reading",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.response} {self.answers} by {self.checker}"

"""Responses, what was read in them, and the points that rules gave: all only added to."""

from __future__ import annotations

import uuid

from django.db import models

from evaluations.models.runs import Attempt, Run
from questions.models import Question, QuestionRevision


class Response(models.Model):
    """What a model wrote, exactly as it came.

    ``is_error_text``: what was imported is a message of a program instead of an answer
    (``evaluations.rules.scoring.error_texts``). It earns nothing, and ``strict`` does
    not count it.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="responses")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="responses")
    revision = models.ForeignKey(
        QuestionRevision, on_delete=models.PROTECT, related_name="responses"
    )
    repeat = models.PositiveSmallIntegerField(default=1)
    attempt = models.OneToOneField(
        Attempt, null=True, on_delete=models.PROTECT, related_name="answer"
    )
    text = models.TextField(blank=True)
    is_error_text = models.BooleanField(default=False)
    reasoning = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["run", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "question", "repeat"], name="one_response_per_question_and_repeat"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run} {self.question} x{self.repeat}"


class Extraction(models.Model):
    """The answers read in a response, with the words they were read from.

    ``answers`` and ``spans`` have one entry per sub-answer; a span is
    ``[start, end]`` in the response's text, or null. In a run that suggests,
    ``policy`` says what was asked for, and ``answers`` holds the labels or
    scoring points, or what the reason names for which there are none.
    """

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="extractions")
    policy = models.CharField(max_length=10)
    version = models.CharField(max_length=20)
    answers = models.JSONField(default=list)
    spans = models.JSONField(default=list)
    outcome = models.CharField(max_length=12)
    method = models.CharField(max_length=40)
    pattern = models.CharField(max_length=80, blank=True)
    confidence = models.FloatField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["response", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["response", "policy", "version"], name="one_extraction_per_version"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.response} {self.policy} {self.answers}"


class ObjectiveScore(models.Model):
    """Points by rule under one policy and one scorer version; the newest version counts."""

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="scores")
    extraction = models.ForeignKey(Extraction, on_delete=models.PROTECT, related_name="scores")
    policy = models.CharField(max_length=10)
    version = models.CharField(max_length=60)
    points = models.DecimalField(max_digits=6, decimal_places=2)
    full = models.DecimalField(max_digits=6, decimal_places=2)
    sub_points = models.JSONField(default=list)
    outcome = models.CharField(max_length=12)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["response", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["response", "policy", "version"], name="one_score_per_version"
            ),
            models.CheckConstraint(
                condition=models.Q(points__gte=0) & models.Q(points__lte=models.F("full")),
                name="score_within_full_marks",
            ),
        ]
        indexes = [models.Index(fields=["policy", "version"], name="score_by_policy")]

    def __str__(self) -> str:
        return f"{self.response} {self.points}/{self.full} ({self.policy})"

"""Responses, what was read in them, and the points that rules gave: all only added to."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from evaluations.models.runs import Attempt, Run
from evaluations.models.vocabulary import Asks
from evaluations.statistics.outcomes import LedgerOutcome, ReadingOutcome
from evaluations.statistics.policies import Policy, PublishedRules
from gradeapp.common.checks import known
from questions.models import Question, QuestionRevision


class Response(models.Model):
    """What a model wrote, exactly as it came.

    ``is_error_text``: what was imported is a message of a program instead of an answer
    (``evaluations.reading.rules.scoring.error_texts``). It earns nothing, and ``strict`` does
    not count it.

    ``option_order`` are the printed letters of the options in the order in which they were shown,
    such as ``CDAB``; empty: as printed. ``images_sent`` and ``images_omitted`` count the
    question's images; with the latter it was asked blind.

    ``strict_score`` and ``published_score`` point to the score that counts under each
    policy, ``rule_reading`` to the strict reading by rules, before models and people, and
    ``model_reading`` to what a model read: the services that add these rows move them.
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
    option_order = models.CharField(max_length=26, blank=True, default="", db_default="")
    images_sent = models.PositiveSmallIntegerField(default=0, db_default=0)
    images_omitted = models.PositiveSmallIntegerField(default=0, db_default=0)
    strict_score = models.OneToOneField(
        "ObjectiveScore", null=True, editable=False, on_delete=models.PROTECT, related_name="+"
    )
    published_score = models.OneToOneField(
        "ObjectiveScore", null=True, editable=False, on_delete=models.PROTECT, related_name="+"
    )
    rule_reading = models.ForeignKey(
        "Extraction",
        null=True,
        editable=False,
        db_index=False,
        on_delete=models.PROTECT,
        related_name="+",
    )
    model_reading = models.ForeignKey(
        "ModelReading",
        null=True,
        editable=False,
        db_index=False,
        on_delete=models.PROTECT,
        related_name="counts_for",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "question", "repeat"], name="one_response_per_question_and_repeat"
            ),
        ]
        indexes = [
            models.Index(fields=["rule_reading"], name="response_by_rule_reading"),
            models.Index(
                fields=["model_reading"],
                condition=models.Q(model_reading__isnull=False),
                name="response_read_by_model",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run} {self.question} x{self.repeat}"

    @staticmethod
    def score_field(policy: str) -> str:
        """Return the name of the field that points to the score under *policy*."""
        return f"{policy}_score"


def _nothing_or(name: str) -> Coalesce:
    """Return the key *name*, or 0 for null, so that a unique index compares it."""
    return Coalesce(name, 0, output_field=models.BigIntegerField())


class Provenance(models.Model):
    """What a reading rests on: the reader's version, and the row that decided above it, if any.

    ``patterns`` is the decision that made the set of accepted patterns that was tried
    after the reader. ``model_reading`` is what a model read, ``answer_check`` the newest
    of the checks by people; each replaces the reader's own result.
    """

    reader_version = models.CharField(max_length=20)
    patterns = models.ForeignKey(
        "evaluations.PatternDecision",
        null=True,
        db_index=False,
        on_delete=models.PROTECT,
        related_name="+",
    )
    model_reading = models.ForeignKey(
        "evaluations.ModelReading",
        null=True,
        db_index=False,
        on_delete=models.PROTECT,
        related_name="+",
    )
    answer_check = models.ForeignKey(
        "evaluations.AnswerCheck",
        null=True,
        db_index=False,
        on_delete=models.PROTECT,
        related_name="+",
    )

    class Meta:
        abstract = True


DECIDERS: tuple[Combinable, ...] = tuple(
    _nothing_or(name) for name in ("patterns", "model_reading", "answer_check")
)


class Extraction(Provenance):
    """The answers read in a response, with the words they were read from.

    ``answers`` and ``spans`` have one entry per sub-answer; a span is
    ``[start, end]`` in the response's text, or null.
    """

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="extractions")
    policy = models.CharField(max_length=10)
    answers = models.JSONField(default=list)
    spans = models.JSONField(default=list)
    outcome = models.CharField(max_length=12)
    method = models.CharField(max_length=40)
    pattern = models.CharField(max_length=80, blank=True)
    confidence = models.FloatField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            known("extraction_policy_known", policy=Policy),
            known("extraction_outcome_known", outcome=[*ReadingOutcome, LedgerOutcome.API_ERROR]),
            models.UniqueConstraint(
                *map(models.F, ("response", "policy", "reader_version")),
                *DECIDERS,
                name="one_extraction_per_provenance",
            ),
        ]
        # What waits for a person is little beside what was read.
        indexes = [models.Index(fields=["outcome", "confidence"], name="extraction_by_outcome")]

    def __str__(self) -> str:
        return f"{self.response} {self.policy} {self.answers}"


class ObjectiveScore(Provenance):
    """Points by rule under one policy, and what they were made with.

    ``key_revision`` is the later revision whose repaired key was used, null where the
    response's own revision gave the key. ``published_rules`` names the benchmark's rules
    under ``published``. A score may name a check or a model reading that its extraction
    does not: one about another number of sub-questions, which cannot be applied.
    """

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="scores")
    extraction = models.ForeignKey(Extraction, on_delete=models.PROTECT, related_name="scores")
    policy = models.CharField(max_length=10)
    scorer_version = models.CharField(max_length=20)
    key_revision = models.ForeignKey(
        QuestionRevision, null=True, db_index=False, on_delete=models.PROTECT, related_name="+"
    )
    published_rules = models.CharField(max_length=20, blank=True)
    points = models.DecimalField(max_digits=6, decimal_places=2)
    full = models.DecimalField(max_digits=6, decimal_places=2)
    sub_points = models.JSONField(default=list)
    outcome = models.CharField(max_length=12)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            known(
                "score_lists_known",
                policy=Policy,
                published_rules=("", *PublishedRules),
                outcome=LedgerOutcome,
            ),
            models.UniqueConstraint(
                *map(models.F, ("response", "policy", "reader_version", "scorer_version")),
                models.F("published_rules"),
                *DECIDERS,
                _nothing_or("key_revision"),
                name="one_score_per_provenance",
            ),
            models.CheckConstraint(
                condition=models.Q(points__gte=0) & models.Q(points__lte=models.F("full")),
                name="score_within_full_marks",
            ),
        ]
        indexes = [
            models.Index(
                fields=["policy", "reader_version", "scorer_version"], name="score_by_versions"
            )
        ]

    def __str__(self) -> str:
        return f"{self.response} {self.points}/{self.full} ({self.policy})"


def key_under(policy: str, revision: QuestionRevision) -> list[str]:
    """Return the key of *revision*, whose key a score is by, that counts under *policy*."""
    key: list[str] = revision.answer_key
    return revision.original_key if policy == Policy.PUBLISHED else key


class SuggestionReading(models.Model):
    """What was read in the reply of a model that suggests, or why nothing could be taken.

    ``said`` holds the labels (``{"label", "value"}``) or the scoring points (``{"sub", "text",
    "points"}``) that were read between the characters ``start`` and ``end`` of the reply.
    ``fault`` is empty where they were taken, else the reason; ``fault_values`` is what the
    sentence of the reason names.
    """

    response = models.OneToOneField(Response, on_delete=models.PROTECT, related_name="suggestion")
    asks = models.CharField(max_length=8, choices=Asks.choices())
    reader_version = models.CharField(max_length=20)
    said = models.JSONField(default=list)
    start = models.PositiveIntegerField(null=True)
    end = models.PositiveIntegerField(null=True)
    fault = models.CharField(max_length=40, blank=True)
    fault_values = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            known("suggestion_asks_known", asks=Asks),
        ]

    def __str__(self) -> str:
        return f"{self.response} {self.asks} {self.fault or self.said}"

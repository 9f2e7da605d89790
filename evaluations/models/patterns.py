"""Patterns found in a run's own outputs (HRE), and what people decided about them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from evaluations.models.runs import Run
from evaluations.models.vocabulary import PatternVerdict
from gradeapp.common.background_work.models import BackgroundWork
from gradeapp.common.checks import known
from gradeapp.common.named import WorkStatus
from questions.rules.vocabulary import QuestionType


class PatternSearch(BackgroundWork):
    """One heuristic search for patterns over the objective responses of a run.

    ``iterations``, ``sample_size`` and ``least_occurrences`` are N, M and the
    minimum of AGIBench's Algorithm 1; with ``random_seed`` they repeat the
    search. ``responses`` counts what was searched, ``covered`` what some final
    pattern reads. ``figures`` holds both by question type, with what each
    iteration did; ``left`` the ids of some responses that no pattern reads.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="pattern_searches")
    random_seed = models.BigIntegerField()
    iterations = models.PositiveSmallIntegerField(default=10)
    sample_size = models.PositiveIntegerField(default=100)
    least_occurrences = models.PositiveSmallIntegerField(default=2)
    steps_done = models.PositiveIntegerField(default=0)
    steps_total = models.PositiveIntegerField(default=0)
    responses = models.PositiveIntegerField(default=0)
    covered = models.PositiveIntegerField(default=0)
    figures = models.JSONField(default=dict)
    left = models.JSONField(default=list)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "pattern searches"
        constraints = [
            known("pattern_search_status_known", status=WorkStatus),
            models.CheckConstraint(
                condition=models.Q(covered__lte=models.F("responses")),
                name="covered_within_responses",
            ),
        ]

    def __str__(self) -> str:
        return f"search {self.pk} in {self.run}"


class MinedPattern(models.Model):
    """One version of a pattern that a search proposed; a patch is a new row that replaces one.

    ``expression`` is a regular expression with ``<letters>`` where the item's
    own letters go. ``matched`` counts the responses of this question type that
    it reads, ``added`` those it set aside when it was found. ``compared``
    counts those of ``matched`` in which the strict cascade read an answer too,
    ``agreed`` those where it read the same. ``examples`` are
    ``{"response": id, "span": [start, end], "letters": [...]}``, spans in the
    response's text. ``decision`` is what people decided, null before anybody did.
    """

    search = models.ForeignKey(PatternSearch, on_delete=models.PROTECT, related_name="patterns")
    question_type = models.CharField(max_length=24)
    number = models.PositiveSmallIntegerField()
    version = models.PositiveSmallIntegerField(default=1)
    replaces = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="replaced_by"
    )
    name = models.CharField(max_length=80, unique=True)
    expression = models.TextField()
    iteration = models.PositiveSmallIntegerField()
    matched = models.PositiveIntegerField(default=0)
    added = models.PositiveIntegerField(default=0)
    compared = models.PositiveIntegerField(default=0)
    agreed = models.PositiveIntegerField(default=0)
    examples = models.JSONField(default=list)
    decision = models.ForeignKey(
        "PatternDecision", null=True, on_delete=models.PROTECT, related_name="counts_for"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["question_type", "number", "version", "id"]
        constraints = [
            known("pattern_type_known", question_type=QuestionType),
            models.UniqueConstraint(
                fields=["search", "question_type", "number", "version"],
                name="one_pattern_per_version",
            ),
            models.CheckConstraint(
                condition=models.Q(agreed__lte=models.F("compared"))
                & models.Q(compared__lte=models.F("matched")),
                name="agreed_within_compared",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class PatternDecision(models.Model):
    """A person accepted a pattern, or retired it; only added to.

    The accepted set has the id of the last of the decisions that count as its version.
    """

    pattern = models.ForeignKey(MinedPattern, on_delete=models.PROTECT, related_name="decisions")
    verdict = models.CharField(max_length=8, choices=PatternVerdict.choices())
    note = models.CharField(max_length=200, blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="pattern_decisions"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            known("pattern_verdict_known", verdict=PatternVerdict),
        ]

    def __str__(self) -> str:
        return f"{self.pattern} {self.verdict}"

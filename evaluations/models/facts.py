"""The fact table of reports: one narrow row per response, marker and policy."""

from __future__ import annotations

from django.db import models

from evaluations.models.responses import Response
from evaluations.models.runs import Run
from evaluations.models.vocabulary import FactMarker
from evaluations.statistics.policies import Policy
from gradeapp.common.checks import known
from questions.models import Dataset, Question, QuestionRevision


class AnswerFact(models.Model):
    """What one marker gave to one answer, copied from the evidence for reports.

    ``evaluations.facts.answer_facts`` writes these rows, in the transaction of the evidence, and
    can rebuild all of them. An objective answer has a row of marker ``key`` under each policy. A
    subjective answer has one of marker ``teachers`` without points, one for each round in which it
    has a final mark, and one for each judge. ``giver`` is the key of that round or judge; else 0.
    ``policy`` is empty where the row holds under both.

    ``points`` is null where nothing was given; ``reason`` says why. ``counts``: the row is the
    one that counts for its marker if no round is chosen. ``is_message``: the text is an error
    message of a program, which ``strict`` does not count. ``read`` is the JSON text of the answers
    that were read, in the letters shown. ``source`` is the key of the score, final mark or
    judgement.
    """

    response = models.ForeignKey(
        Response, on_delete=models.CASCADE, db_index=False, related_name="facts"
    )
    # Copies of columns of the response: their constraints are there.
    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="+"
    )
    question = models.ForeignKey(
        Question, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="+"
    )
    revision = models.ForeignKey(
        QuestionRevision,
        on_delete=models.CASCADE,
        db_index=False,
        db_constraint=False,
        related_name="+",
    )
    repeat = models.PositiveSmallIntegerField()
    marker = models.CharField(max_length=8)
    giver = models.PositiveBigIntegerField(default=0)
    policy = models.CharField(max_length=10, blank=True)
    points = models.FloatField(null=True)
    full_marks = models.FloatField()
    outcome = models.CharField(max_length=12, blank=True)
    reason = models.CharField(max_length=20, blank=True)
    counts = models.BooleanField()
    is_message = models.BooleanField()
    images_omitted = models.BooleanField()
    key_revision = models.ForeignKey(
        QuestionRevision,
        null=True,
        on_delete=models.CASCADE,
        db_index=False,
        db_constraint=False,
        related_name="+",
    )
    read = models.TextField(null=True)
    option_order = models.CharField(max_length=26, blank=True)
    source = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            known("fact_lists_known", marker=FactMarker, policy=("", *Policy)),
            models.UniqueConstraint(
                fields=["response", "marker", "giver", "policy"], name="one_fact_per_marker"
            ),
        ]
        indexes = [models.Index(fields=["run", "marker", "policy"], name="fact_by_run")]

    def __str__(self) -> str:
        return f"{self.response_id} {self.marker} {self.policy}: {self.points}/{self.full_marks}"


class FactVersion(models.Model):
    """How often the facts of a dataset were written: the sum of ``number`` over the shards.

    Each transaction raises one shard, so that those that write at the same time rarely wait.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="fact_versions")
    shard = models.PositiveSmallIntegerField()
    number = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "shard"], name="one_fact_version_per_shard")
        ]

    def __str__(self) -> str:
        return f"{self.dataset} {self.shard}: {self.number}"

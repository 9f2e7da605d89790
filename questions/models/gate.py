"""The gate: what is wrong with an item, and what a curator decided."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from gradeapp.common.checks import known
from questions.models.bank import Question, QuestionRevision
from questions.rules.vocabulary import Decision, ProblemCode


class ItemProblem(models.Model):
    """One thing that is wrong with one revision of an item.

    ``other`` is the revision of the other item for duplicates and conflicts;
    ``detail`` holds the values of the sentence (strings and numbers).
    ``quarantines`` says that the item cannot be scored fairly until a curator
    decides. A problem is open while it has no decision and its revision is current;
    ``decision`` is the one that counts, moved by the service that adds it.
    """

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="problems")
    revision = models.ForeignKey(
        QuestionRevision, on_delete=models.PROTECT, related_name="problems"
    )
    code = models.CharField(max_length=32, choices=ProblemCode.choices())
    other = models.ForeignKey(
        QuestionRevision, null=True, on_delete=models.PROTECT, related_name="problems_of_others"
    )
    detail = models.JSONField(default=dict)
    quarantines = models.BooleanField(default=False)
    decision = models.ForeignKey(
        "ItemDecision", null=True, on_delete=models.PROTECT, related_name="counts_for"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["code", "question"], name="problem_by_code")]
        constraints = [
            known("problem_code_known", code=ProblemCode),
            models.UniqueConstraint(
                fields=["revision", "code"],
                condition=models.Q(other__isnull=True),
                name="one_problem_per_revision",
            ),
            models.UniqueConstraint(
                fields=["revision", "code", "other"], name="one_problem_per_pair"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question}: {self.code}"


class ItemDecision(models.Model):
    """What a curator decided about a problem, and why; only added to.

    A repair names the revision it made; the published key stays in it.
    """

    problem = models.ForeignKey(ItemProblem, on_delete=models.PROTECT, related_name="decisions")
    decision = models.CharField(max_length=8, choices=Decision.choices())
    reason = models.CharField(max_length=200)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="item_decisions"
    )
    repaired = models.ForeignKey(
        QuestionRevision, null=True, on_delete=models.PROTECT, related_name="repaired_by"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            known("decision_known", decision=Decision),
        ]

    def __str__(self) -> str:
        return f"{self.problem}: {self.decision}"

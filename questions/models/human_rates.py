"""How people did: reference rates of items and tasks."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from gradeapp.common.checks import known
from questions.models.bank import Question, Task
from questions.rules.vocabulary import RateKind


class HumanRate(models.Model):
    """One published or corrected rate of people, as a share from 0 to 1; only added to.

    It belongs to an item (AGIBench's accuracy) or to a task (AGIEval's average
    and top performance). ``sample_size`` is None where the source names none;
    ``weight`` joins several rates of one item. A correction names the row it
    ``corrects``, which then no longer counts.
    """

    question = models.ForeignKey(
        Question, null=True, on_delete=models.PROTECT, related_name="human_rates"
    )
    task = models.ForeignKey(Task, null=True, on_delete=models.PROTECT, related_name="human_rates")
    kind = models.CharField(max_length=8, choices=RateKind.choices(), default=RateKind.AVERAGE)
    value = models.DecimalField(max_digits=5, decimal_places=4)
    sample_size = models.PositiveIntegerField(null=True)
    weight = models.DecimalField(max_digits=10, decimal_places=2, default=1)
    source = models.CharField(max_length=200)
    corrects = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="corrected_by"
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="human_rates"
    )
    reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    form_key = models.UUIDField(
        null=True, unique=True, editable=False, help_text="of the form or request that added it"
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            known("rate_kind_known", kind=RateKind),
            models.CheckConstraint(
                condition=models.Q(value__gte=0, value__lte=1), name="rate_from_0_to_1"
            ),
            models.CheckConstraint(condition=models.Q(weight__gt=0), name="weight_above_zero"),
            models.CheckConstraint(
                condition=models.Q(question__isnull=True, task__isnull=False)
                | models.Q(question__isnull=False, task__isnull=True),
                name="rate_of_an_item_or_a_task",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question or self.task} {self.kind} {self.value}"

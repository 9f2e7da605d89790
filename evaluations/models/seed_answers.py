"""Reference marks of the responses that are hidden in every teacher's queue."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from evaluations.models.marking import BlindAnswer, FinalMark


class SeedAnswer(models.Model):
    """The reference mark of a blind answer that is hidden in every teacher's queue (种子卷).

    ``points`` are decimal strings, one per scoring point of its rubric; empty
    where there is none. It was taken from a final mark, or given by ``author``.
    """

    answer = models.OneToOneField(BlindAnswer, on_delete=models.PROTECT, related_name="seed_answer")
    total = models.DecimalField(max_digits=8, decimal_places=4)
    points = models.JSONField(default=list)
    comment = models.TextField(blank=True)
    taken_from = models.ForeignKey(
        FinalMark, null=True, on_delete=models.PROTECT, related_name="seed_answers"
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="seed_answers"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(taken_from__isnull=False) | models.Q(author__isnull=False),
                name="a_reference_has_a_source",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.answer}: reference {self.total}"

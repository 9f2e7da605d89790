"""Which responses a teacher was shown, and then left to others."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from evaluations.models.marking import BlindAnswer


class HelpOffer(models.Model):
    """*teacher* was given *answer* while helping out, or gave back what was planned for them.

    They may know that a mark of it was still missing then. ``helping`` is whether the slot was
    planned for somebody else, ``extra`` whether it was one more than the scheme plans, as a third
    mark is; ``at`` is when it was given last.
    """

    answer = models.ForeignKey(BlindAnswer, on_delete=models.CASCADE, related_name="offers")
    teacher = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    helping = models.BooleanField()
    extra = models.BooleanField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["answer", "teacher"], name="one_offer_per_response_and_teacher"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.teacher}: {self.answer}"

"""Which responses a teacher was shown, and then left to others."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from evaluations.models.marking import BlindAnswer, Slot


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


class PartnerPassed(models.Model):
    """*helper* came to a check and would have given the mark of its partner, were it a response.

    Of a response without both of its marks, whoever helps out gives one, and then never the other.
    That holds as long as ``passed_with`` is taken, as for ``Slot.passed_with``.
    """

    slot = models.ForeignKey(Slot, on_delete=models.CASCADE, related_name="partner_passed")
    helper = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    passed_with = models.ForeignKey(Slot, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["slot", "helper"], name="partner_passed_once_by_each_helper"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.helper} beside {self.slot}"

"""Who saw which model wrote a response, or what others gave for it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from evaluations.models.responses import Response
from evaluations.models.rounds import MarkingRound
from evaluations.models.runs import Run

TARGETS = ("response", "run", "round")


class Look(models.Model):
    """*person* saw the model or marks of a *response*, of those of a *run*, or of a *round*.

    One row for each person and target, of the first look; ``page`` is where that was. Kept whether
    or not a round over the responses exists, because one may be planned later.
    """

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, db_index=False, related_name="+"
    )
    response = models.ForeignKey(
        Response, null=True, on_delete=models.CASCADE, db_index=False, related_name="looks"
    )
    run = models.ForeignKey(
        Run, null=True, on_delete=models.CASCADE, db_index=False, related_name="looks"
    )
    round = models.ForeignKey(
        MarkingRound, null=True, on_delete=models.CASCADE, db_index=False, related_name="looks"
    )
    page = models.CharField(max_length=40)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            *(
                models.UniqueConstraint(
                    fields=[name, "person"],
                    condition=Q(**{f"{name}__isnull": False}),
                    name=f"one_look_per_{name}_and_person",
                )
                for name in TARGETS
            ),
            models.CheckConstraint(
                condition=Q(response__isnull=False, run=None, round=None)
                | Q(response=None, run__isnull=False, round=None)
                | Q(response=None, run=None, round__isnull=False),
                name="look_at_one_thing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person}: {self.page}"

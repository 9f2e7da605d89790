"""Scoring again in the background: what was asked for, and how far it is."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from evaluations.models.runs import Run
from evaluations.statistics.policies import Policy
from gradeapp.common.background_work.models import BackgroundWork
from gradeapp.common.checks import known
from gradeapp.common.named import WorkStatus


class Rescoring(BackgroundWork):
    """One rescoring of the objective responses of a run, or of all runs (no ``run``).

    ``policy`` is one policy, or empty for both. ``last_response`` is the id up to which
    everything has been looked at, so that it goes on from there; ``done_before``
    counts the responses of earlier workers, ``scores_added`` the scores that were
    missing.
    """

    run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT, related_name="rescorings")
    policy = models.CharField(max_length=10, blank=True)
    responses_done = models.PositiveIntegerField(default=0)
    done_before = models.PositiveIntegerField(default=0)
    responses_total = models.PositiveIntegerField(default=0)
    scores_added = models.PositiveIntegerField(default=0)
    last_response = models.BigIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["-id"]
        constraints = [
            known("rescoring_lists_known", status=WorkStatus, policy=("", *Policy)),
        ]

    def __str__(self) -> str:
        return f"rescoring {self.pk}"

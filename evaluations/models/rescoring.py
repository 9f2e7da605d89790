"""Scoring again in the background: what was asked for, and how far it is."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models

from evaluations.models.runs import Run
from evaluations.models.vocabulary import SearchStatus


class Rescoring(models.Model):
    """One rescoring of the objective responses of a run, or of all runs (no ``run``).

    ``policy`` is one policy, or empty for both. ``last_response`` is the id up to which
    everything has been looked at, so that it goes on from there; ``done_before``
    counts the responses of earlier workers, ``scores_added`` the scores that were
    missing. ``worker`` names the one process that works
    on it and ``heartbeat`` when it was last heard of; ``error`` is a code.
    """

    run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT, related_name="rescorings")
    policy = models.CharField(max_length=10, blank=True)
    status = models.CharField(
        max_length=12, choices=SearchStatus.choices(), default=SearchStatus.QUEUED.value
    )
    responses_done = models.PositiveIntegerField(default=0)
    done_before = models.PositiveIntegerField(default=0)
    responses_total = models.PositiveIntegerField(default=0)
    scores_added = models.PositiveIntegerField(default=0)
    last_response = models.BigIntegerField(default=0)
    stop_asked = models.BooleanField(default=False)
    worker = models.CharField(max_length=36, blank=True)
    heartbeat = models.DateTimeField(null=True)
    error = models.CharField(max_length=40, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"rescoring {self.pk}"

    def silent_since(self, moment: datetime) -> bool:
        """Whether a worker has it and has not been heard of since *moment*."""
        heard = self.heartbeat
        return self.status == SearchStatus.WORKING and (heard is None or heard < moment)

"""Batches: requests of a run that an endpoint answers together, within a day, at half the price."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from evaluations.models.runs import Run
from evaluations.models.vocabulary import BatchState
from gradeapp.common.checks import known


class Batch(models.Model):
    """The requests of some jobs of *run* in one file.

    The jobs are leased by the name ``batch-KEY`` until their replies are read, and their attempts
    are stored as sent: the file is made from these rows, as often as somebody wants it. ``by_api``:
    a worker uploads it and fetches the replies. It holds the batch (``holder``, ``held_until``)
    while it does a step, and stores each step: ``input_file`` is the endpoint's id of the uploaded
    file, ``remote_id`` that of the batch, which knows our ``public_id`` by its metadata. Whoever
    makes a batch holds it too; until it is full it has no ``next_at``.
    ``remote_state`` and ``remote_answered`` are what the endpoint said last, ``next_at`` is when a
    worker looks again, later after each of ``failures`` in a row; ``refusals`` of these in a row
    were refusals or short files, after which it is given up. ``error`` is what went wrong
    last, ``error_status`` the HTTP status with it. ``unanswered`` requests had no reply when it
    ended. ``taken_at`` is when somebody first took the file of one that people carry, or a worker
    asked to create it: from then on the endpoint may have it, unless it refused.
    ``cancel_asked_at`` is when a worker last asked the endpoint to cancel it, for a person.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="batches")
    state = models.CharField(max_length=9, choices=BatchState.choices())
    by_api = models.BooleanField(default=False)
    requests = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)
    answered = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    unanswered = models.PositiveIntegerField(default=0, db_default=0)
    holder = models.CharField(max_length=64, blank=True, default="", db_default="")
    held_until = models.DateTimeField(null=True)
    input_file = models.CharField(max_length=120, blank=True, default="", db_default="")
    remote_id = models.CharField(max_length=120, blank=True)
    remote_state = models.CharField(max_length=40, blank=True)
    remote_answered = models.PositiveIntegerField(null=True)
    failures = models.PositiveSmallIntegerField(default=0, db_default=0)
    refusals = models.PositiveSmallIntegerField(default=0, db_default=0)
    error = models.CharField(max_length=400, blank=True)
    error_status = models.PositiveSmallIntegerField(null=True)
    next_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="batches"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    taken_at = models.DateTimeField(null=True)
    cancel_asked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [known("batch_state_known", state=BatchState)]
        indexes = [models.Index(fields=["state", "next_at"], name="batch_by_state")]

    def __str__(self) -> str:
        return f"{self.run} batch {self.pk}"

    @property
    def file_name(self) -> str:
        """The name of the file with its requests."""
        return f"gradeapp-run-{self.run_id}-batch-{self.pk}.jsonl"

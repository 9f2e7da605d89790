"""Workers, and the places that they hold at runs."""

from __future__ import annotations

from django.db import models

from evaluations.models.runs import Run


class Worker(models.Model):
    """A process that works on runs, with the time at which it last reported.

    ``processes`` is the number of runs, or parts of runs, that it works on at once without waiting.
    """

    name = models.CharField(max_length=64, unique=True)
    host = models.CharField(max_length=60)
    processes = models.PositiveSmallIntegerField(default=1)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["started_at", "id"]

    def __str__(self) -> str:
        return self.name


class RunWorker(models.Model):
    """A place for one worker at a run: ``worker`` holds it until ``worker_until``.

    Any number of workers send calls of one run; each has a place of its own. The places of a run
    are numbered from 1, and a free one is taken again. ``waiting`` counts replies that this worker
    stored and that are not read and scored yet. ``tries``: in an outage it tries the endpoint
    for all workers of the run; if its lease ends, another one does.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="workers")
    number = models.PositiveSmallIntegerField()
    worker = models.CharField(max_length=64, blank=True)
    worker_until = models.DateTimeField(null=True)
    since = models.DateTimeField(null=True)
    waiting = models.PositiveIntegerField(default=0)
    tries = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="one_worker_per_place_of_a_run")
        ]

    def __str__(self) -> str:
        return f"place {self.number} of {self.run}"

"""What every piece of work in the background has: a state, one worker, and a wish to stop."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils.translation import get_language

from gradeapp.common.named import WorkStatus

LIVE = (WorkStatus.QUEUED, WorkStatus.WORKING)
GOES_ON = (WorkStatus.STOPPED, WorkStatus.INTERRUPTED, WorkStatus.FAILED)


def current_language() -> str:
    """Return the language of the person who starts or continues work."""
    return get_language() or settings.LANGUAGE_CODE


class BackgroundWork(models.Model):
    """Work that a person starts, stops and lets go on, and that one worker at a time does.

    ``worker`` names the one process that works on it and ``heartbeat`` when it was
    last heard of; ``error`` is a code that pages put into words. Work that was refused has the
    sentence in ``refusal``, in the ``language`` of whoever started or continued it.
    """

    status = models.CharField(
        max_length=12, choices=WorkStatus.choices(), default=WorkStatus.QUEUED.value
    )
    stop_asked = models.BooleanField(default=False)
    worker = models.CharField(max_length=36, blank=True)
    heartbeat = models.DateTimeField(null=True)
    error = models.CharField(max_length=40, blank=True)
    refusal = models.TextField(blank=True, default="", db_default="")
    language = models.CharField(max_length=10, default=current_language, db_default="en")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @classmethod
    def lease(cls) -> timedelta:
        """How long a silent worker is believed to be alive."""
        return timedelta(seconds=settings.RUN_LEASE_SECONDS)

    @property
    def live(self) -> bool:
        """Whether it waits for a worker or has one."""
        return self.status in LIVE

    @property
    def goes_on(self) -> bool:
        """Whether it ended early, so that a person can let it go on."""
        return self.status in GOES_ON

    def silent(self, now: datetime) -> bool:
        """Whether a worker has it and has not been heard of for a lease."""
        last_heartbeat = self.heartbeat
        lost = last_heartbeat is None or last_heartbeat < now - self.lease()
        return self.status == WorkStatus.WORKING and lost

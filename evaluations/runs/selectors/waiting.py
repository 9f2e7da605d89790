"""Runs that wait for an admin, as counts for the home page."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from evaluations.models import Job, Run
from evaluations.models.vocabulary import JobStatus, PauseReason, RunStatus
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.waiting import Waiting


def runs_waiting(user: User) -> Iterator[Waiting]:
    """Yield paused runs by their reason, and runs with failed calls; two queries."""
    if not user.may(Capability.START_RUNS):
        return
    runs = reverse("runs:list")
    paused = Run.objects.filter(status=RunStatus.PAUSED).order_by()
    by_reason = dict(paused.values_list("pause_reason").annotate(n=Count("pk")))
    spent = by_reason.pop(PauseReason.BUDGET, 0)
    yield Waiting(_("Runs with no budget left"), spent, runs)
    yield Waiting(_("Paused runs"), sum(by_reason.values()), runs)
    failed = Job.objects.filter(status=JobStatus.FAILED).values("run").distinct().count()
    yield Waiting(_("Runs with failed calls"), failed, runs)

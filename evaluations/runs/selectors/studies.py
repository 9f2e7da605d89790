"""Queries of studies: the list, and one with the progress of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from evaluations.models import Run, Study
from evaluations.models.vocabulary import PauseReason, RunStatus
from evaluations.runs.selectors.runs import Progress, progress, runs
from gradeapp.common.refusals import NotFound


@dataclass(frozen=True)
class StudyProgress:
    """How far the runs of a study are, each with its progress, and what they cost together.

    ``committed`` is what the calls cost, or may cost while their answers are open.
    """

    rows: list[tuple[Run, Progress]]
    planned: int
    done: int
    failed: int
    committed: Decimal
    live: bool
    seconds_left: float | None
    may_stop: bool
    may_resume: bool
    budget_reached: bool

    @property
    def state(self) -> str:
        """The states of the runs in a short text, which changes with them."""
        return "-".join(f"{run.status[:4]}" for run, _far in self.rows)


def studies() -> QuerySet[Study]:
    """Return all studies, the newest first, with their numbers of runs."""
    found = Study.objects.select_related("dataset", "created_by").annotate(n=Count("runs"))
    return found.order_by("-pk")


def get_study(pk: int) -> Study:
    """Return the study *pk* from ``studies()``. Raises NotFound if there is none."""
    study = studies().filter(pk=pk).first()
    if study is None:
        raise NotFound(_("There is no such study."))
    return study


def study_progress(study: Study, now: datetime) -> StudyProgress:
    """Return the progress of *study* at *now*, its runs in the order of their start."""
    rows = [(run, progress(run, now)) for run in runs().filter(study=study).order_by("pk")]
    reason = PauseReason.STUDY_BUDGET
    paused = [run for run, _far in rows if run.status in (RunStatus.PAUSED, RunStatus.STOPPED)]
    return StudyProgress(
        rows=rows,
        planned=sum(far.planned for _run, far in rows),
        done=sum(far.done for _run, far in rows),
        failed=sum(far.failed for _run, far in rows),
        committed=study.spent_or_reserved,
        live=any(far.live or run.resume_at for run, far in rows),
        seconds_left=_seconds_left([far for _run, far in rows]),
        may_stop=any(far.live or run.status == RunStatus.PAUSED for run, far in rows),
        may_resume=bool(paused),
        budget_reached=any(
            run.pause_reason == reason and run.status == RunStatus.PAUSED for run in paused
        ),
    )


def _seconds_left(runs: Sequence[Progress]) -> float | None:
    """Return the seconds that all *runs* need at the speed of those that are in progress.

    It is at least the time of the one that needs longest. None before the first reply.
    """
    known = [far for far in runs if far.seconds_left is not None]
    speed = sum(far.per_second_working or 0.0 for far in known)
    if not speed:
        return None
    calls = sum(far.waiting + far.in_flight for far in runs if far.live)
    return max(calls / speed, *(far.seconds_left or 0.0 for far in known))


def study_addresses(keys: Sequence[int]) -> dict[int, str]:
    """Return the address of the page of each study of *keys*."""
    return {key: reverse("runs:study", args=[key]) for key in keys}

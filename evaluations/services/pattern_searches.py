"""The life of a search for patterns: started by a person, made in the background, stopped.

A worker claims a search by one conditional update and says after each step that it is
alive. One that falls silent leaves nothing behind; a person lets the search go on,
which makes it again from the start.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluations.models import PatternSearch, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.models.vocabulary import SearchStatus as Is
from evaluations.services.pattern_mining import keep, search_run, searched
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.refusals import BadInput, Conflict

logger = logging.getLogger(__name__)

Clock = Callable[[], datetime]
LIVE = (Is.QUEUED, Is.WORKING)
GOES_ON = (Is.STOPPED, Is.INTERRUPTED, Is.FAILED)
# Between which numbers a setting may be; the paper's are 10, 100 and 2.
LIMITS = {"iterations": (1, 100), "sample_size": (1, 10_000), "least_occurrences": (2, 1_000)}
LARGEST_SEED = 2**62


class Stopped(Exception):
    """Somebody asked to stop, or another worker has the search."""


def lease() -> timedelta:
    """How long a silent worker is believed to be alive."""
    return timedelta(seconds=settings.RUN_LEASE_SECONDS)


# ---- what people do ----


@transaction.atomic
def start_search(
    run: Run,
    *,
    iterations: int = 10,
    sample_size: int = 100,
    least_occurrences: int = 2,
    random_seed: int = 1,
    acting_user: User | None,
) -> PatternSearch:
    """Plan a search in the objective responses of *run*; a worker makes it.

    Raises BadInput for a number out of its limits or a run without such responses,
    Conflict where a search of this run is under way.
    """
    said = {
        "iterations": iterations,
        "sample_size": sample_size,
        "least_occurrences": least_occurrences,
    }
    for name, (low, high) in LIMITS.items():
        if not low <= said[name] <= high:
            raise BadInput(_out_of_limits(name, low, high))
    if abs(random_seed) > LARGEST_SEED:
        raise BadInput(_("The random seed is too large."))
    if run.purpose != RunPurpose.ANSWER or not searched(run.pk).exists():
        raise BadInput(_("This run has no answers to questions with options."))
    # Two who start at once wait for each other at the run's row.
    Run.objects.select_for_update().get(pk=run.pk)
    note_lost_workers(timezone.now())
    if PatternSearch.objects.filter(run=run, status__in=LIVE).exists():
        raise Conflict(_("A search in this run is under way; wait for it or stop it."))
    search = PatternSearch.objects.create(
        run=run, random_seed=random_seed, created_by=acting_user, **said
    )
    record(Tag.PATTERNS_SEARCHED, search, actor=acting_user, run=run.pk, **said)
    return search


def _out_of_limits(name: str, low: int, high: int) -> str:
    words = {
        "iterations": _("iterations"),
        "sample_size": _("responses a sample"),
        "least_occurrences": _("least occurrences"),
    }
    return _("“%(name)s” must be between %(low)d and %(high)d.") % {
        "name": words[name],
        "low": low,
        "high": high,
    }


@transaction.atomic
def stop_search(search: PatternSearch, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Stop at the next step; at once where no worker has it yet."""
    rows = PatternSearch.objects.filter(pk=search.pk)
    waiting = rows.filter(status=Is.QUEUED).update(status=Is.STOPPED, ended_at=clock())
    if not waiting and not rows.filter(status=Is.WORKING).update(stop_asked=True):
        raise Conflict(_("This search is not running."))
    record(Tag.PATTERN_SEARCH_STOPPED, search, actor=acting_user)


@transaction.atomic
def resume_search(search: PatternSearch, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Make a stopped, interrupted or failed search again, by the same random seed."""
    note_lost_workers(clock())
    rows = PatternSearch.objects.filter(pk=search.pk, status__in=GOES_ON)
    if not rows.update(status=Is.QUEUED, stop_asked=False, error="", worker="", steps_done=0):
        raise Conflict(_("There is nothing to go on with; look at the page again."))
    record(Tag.PATTERN_SEARCH_RESUMED, search, actor=acting_user)


# ---- what a worker does ----


def work_on_search(search_id: int, *, clock: Clock = timezone.now) -> bool:
    """Make a search to its end; False where it does not wait for a worker."""
    search = claim(search_id, clock())
    if search is None:
        return False
    try:
        found = search_run(search, lambda steps: _step(search, steps, clock()))
        kept = keep(search, found)
    except Stopped:
        _end(search, Is.STOPPED, clock())
    except Exception:
        logger.exception("search %s failed", search_id)
        _end(search, Is.FAILED, clock(), error="unexpected")
    else:
        if kept:
            _end(search, Is.DONE, clock())
    return True


def claim(search_id: int, now: datetime) -> PatternSearch | None:
    """The search *search_id*, for this process alone; None where it is not waiting."""
    waiting = PatternSearch.objects.filter(pk=search_id, status=Is.QUEUED)
    taken = waiting.update(
        status=Is.WORKING,
        worker=uuid.uuid4().hex,
        heartbeat=now,
        started_at=now,
        ended_at=None,
        steps_done=0,
    )
    return PatternSearch.objects.get(pk=search_id) if taken else None


def _step(search: PatternSearch, steps: int, now: datetime) -> None:
    """Note *steps* more, and that the worker is alive; raises Stopped where it is to end."""
    held = PatternSearch.objects.filter(
        pk=search.pk, worker=search.worker, status=Is.WORKING, stop_asked=False
    )
    if not held.update(heartbeat=now, steps_done=F("steps_done") + steps):
        raise Stopped


def _end(search: PatternSearch, status: Is, now: datetime, error: str = "") -> None:
    """Write the end of the work, unless another worker has taken over."""
    held = PatternSearch.objects.filter(pk=search.pk, worker=search.worker, status=Is.WORKING)
    held.update(status=status, ended_at=now, error=error, worker="")


# ---- what the clock does ----


def note_lost_workers(now: datetime) -> None:
    """Searches whose worker has been silent for too long wait for a person."""
    silent = Q(heartbeat__lt=now - lease()) | Q(heartbeat__isnull=True)
    lost = PatternSearch.objects.filter(silent, status=Is.WORKING)
    lost.update(status=Is.INTERRUPTED, ended_at=now, worker="", error="worker_lost")


def look_for_searches(clock: Clock = timezone.now) -> list[int]:
    """What has to happen though nobody asks: the ids of searches that wait for a worker.

    Notes dead workers. Safe to call at any time, anywhere, twice.
    """
    note_lost_workers(clock())
    waiting = PatternSearch.objects.filter(status=Is.QUEUED)
    return list(waiting.order_by("pk").values_list("pk", flat=True))

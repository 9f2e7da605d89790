"""The life of a search for patterns: started by a person, made in the background, stopped.

A worker says after each step that it is alive. One that falls silent leaves nothing
behind; a person lets the search go on, which makes it again from the start.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluations.models import PatternSearch, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.reading.services.pattern_mining import keep, search_run, searched
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.background_work import services as background_work
from gradeapp.common.background_work.models import LIVE
from gradeapp.common.background_work.services import Clock, Stopped, carry_out, held
from gradeapp.common.named import WorkStatus as Is
from gradeapp.common.refusals import BadInput, Conflict

# Between which numbers a setting may be; the paper's are 10, 100 and 2.
LIMITS = {"iterations": (1, 100), "sample_size": (1, 10_000), "least_occurrences": (2, 1_000)}
LARGEST_SEED = 2**62


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
            words = {
                "iterations": _("iterations"),
                "sample_size": _("responses per sample"),
                "least_occurrences": _("minimum occurrences"),
            }
            values = {"name": words[name], "low": low, "high": high}
            raise BadInput(_("“%(name)s” must be between %(low)d and %(high)d.") % values)
    if abs(random_seed) > LARGEST_SEED:
        raise BadInput(_("The random seed is too large."))
    if run.purpose != RunPurpose.ANSWER or not searched(run.pk).exists():
        raise BadInput(_("This run has no responses to multiple-choice questions."))
    # Two who start at once wait for each other at the run's row.
    Run.objects.select_for_update().get(pk=run.pk)
    background_work.note_lost_workers(PatternSearch, timezone.now())
    if PatternSearch.objects.filter(run=run, status__in=LIVE).exists():
        raise Conflict(_("A search of this run is already running. Wait for it or stop it."))
    search = PatternSearch.objects.create(
        run=run, random_seed=random_seed, created_by=acting_user, **said
    )
    record(Tag.PATTERNS_SEARCHED, search, actor=acting_user, run=run.pk, **said)
    return search


@transaction.atomic
def stop_search(search: PatternSearch, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Stop at the next step; at once where no worker has it yet."""
    if not background_work.stop(search, clock()):
        raise Conflict(_("This search is not running."))
    record(Tag.PATTERN_SEARCH_STOPPED, search, actor=acting_user)


@transaction.atomic
def resume_search(search: PatternSearch, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Make a stopped, interrupted or failed search again, by the same random seed."""
    background_work.queue_again(PatternSearch.objects.all(), search, clock(), steps_done=0)
    record(Tag.PATTERN_SEARCH_RESUMED, search, actor=acting_user)


# ---- what a worker does ----


def work_on_search(search_id: int, *, clock: Clock = timezone.now) -> bool:
    """Make a search to its end; False where it does not wait for a worker."""
    search = claim(search_id, clock())
    if search is None:
        return False

    def made() -> Is:
        # Where another worker has it by now, nothing is kept, and no end is written either.
        keep(search, search_run(search, lambda steps: _step(search, steps, clock())))
        return Is.DONE

    carry_out(search, made, clock)
    return True


def claim(search_id: int, now: datetime) -> PatternSearch | None:
    """Claim the search *search_id* for this process; None if it is not waiting."""
    return background_work.claim(PatternSearch.objects.all(), search_id, now, steps_done=0)


def _step(search: PatternSearch, steps: int, now: datetime) -> None:
    """Note *steps* more, and that the worker is alive; raises Stopped where it is to end."""
    wanted = held(search).filter(stop_asked=False)
    if not wanted.update(heartbeat=now, steps_done=F("steps_done") + steps):
        raise Stopped


# ---- what the clock does ----


def look_for_searches(clock: Clock = timezone.now) -> list[int]:
    """Return the ids of searches that wait for a worker, and note lost workers."""
    return background_work.waiting(PatternSearch.objects.all(), clock())

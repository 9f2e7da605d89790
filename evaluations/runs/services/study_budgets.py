"""The budget of a run, shared by its workers, and that of a study, shared by those of all its runs.

What the calls cost, or may cost, is one number in the row of the run or the study. Calls are
reserved by one conditional UPDATE, so that the budget is never exceeded, whatever the number of
workers. Every change stands in the transaction that stores the attempts it is about.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Decimal

from django.db.models import F

from evaluations.models import Attempt, Run, Study
from evaluations.models.vocabulary import AttemptStatus


def units(amounts: Iterable[Decimal]) -> int:
    """Return the sum of *amounts*, each as the database rounds it, in units of ``committed``."""
    return sum(int((one / Study.UNIT).to_integral_value(ROUND_HALF_EVEN)) for one in amounts)


def reserve(study_id: int, most: int) -> bool:
    """Reserve *most* units if the budget of the study has as much left; return whether it had."""
    row = Study.objects.filter(pk=study_id)
    budget = row.values_list("budget", flat=True).get()
    if budget is not None:
        row = row.filter(committed__lte=units([budget]) - most)
    return bool(row.update(committed=F("committed") + most))


def commit(study_id: int, change: int) -> None:
    """Add *change* to what the study committed: below 0 where a call cost less than reserved."""
    if change:
        Study.objects.filter(pk=study_id).update(committed=F("committed") + change)


def reserve_in_run(run: Run, most: int) -> bool:
    """Reserve *most* units if the budget of *run* has as much left; return whether it had."""
    if most == 0:
        return True
    row = Run.objects.filter(pk=run.pk)
    if run.budget is not None:
        row = row.filter(committed__lte=units([run.budget]) - most)
    return bool(row.update(committed=F("committed") + most))


def commit_to_run(run_id: int, change: int) -> None:
    """Add *change* to what the run committed: below 0 where a call cost less than reserved."""
    if change:
        Run.objects.filter(pk=run_id).update(committed=F("committed") + change)


def calls_are_open(study_id: int) -> bool:
    """Return whether a call of the study is in flight: a part of its reservation may come back."""
    calls = Attempt.objects.filter(job__run__study=study_id, status=AttemptStatus.SENT)
    return calls.exists()

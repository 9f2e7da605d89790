"""The counts that pages read are those of the rows, whoever changes the rows."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from random import Random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evaluations.facts.invariants import check_invariants
from evaluations.llm.client import FailureKind
from evaluations.models import Attempt, Job, Response, Run, RunCount
from evaluations.models.vocabulary import JobStatus
from evaluations.runs.selectors.run_counts import sums_of
from evaluations.runs.selectors.runs import by_task, get_run, progress
from evaluations.runs.services.call_results import store_results
from evaluations.runs.services.run_counts import rebuild_counts
from tests.evaluations.runs.test_job_queue import NOW, answered, claim, failed, planned


def broken() -> int:
    (counts,) = [one for one in check_invariants(NOW) if one.invariant.name == "counts_of_runs"]
    return counts.violations


@pytest.mark.django_db
def test_every_change_of_a_call_is_counted_in_its_transaction() -> None:
    """Planned, claimed, answered, failed, refused: after each the sums are those of the rows."""
    run = planned(5)
    assert sums_of(run).pending == sums_of(run).planned == 5
    calls = claim(run, "w", 4)
    assert (sums_of(run).leased, sums_of(run).open_units) == (4, 4 * 50_000_000)
    results = [
        *(answered(one) for one in calls[:2]),
        failed(calls[2], FailureKind.NO_IMAGES),
        failed(calls[3], FailureKind.SERVER, billed=True),
    ]
    store_results(results, now=NOW, random=Random(0))
    assert broken() == 0
    sums = sums_of(run)
    assert (sums.done, sums.refused, sums.pending, sums.failed) == (2, 1, 2, 0)
    assert (sums.answered, sums.unknown, sums.responses) == (2, 1, 2)
    assert (sums.spent_units, sums.open_units) == (2 * 10_000_000, 50_000_000)
    assert (sums.first_sent, sums.last_finished) == (NOW, NOW)
    shown = progress(run, NOW + timedelta(seconds=10))
    assert (shown.done, shown.refused, shown.waiting) == (2, 1, 2)
    assert (shown.money.spent, shown.money.possible) == (Decimal("0.2"), Decimal("0.5"))
    assert shown.per_second_now == shown.per_second == 0.2
    (task,) = by_task(run)
    assert (task.planned, task.done, task.median) == (5, 2, 0.5)
    listed = get_run(run.pk)
    assert (listed.planned, listed.done, listed.response_count) == (5, 2, 2)  # type: ignore[attr-defined]


@pytest.mark.django_db
def test_rows_changed_past_the_services_are_counted_and_a_rebuild_repairs() -> None:
    run = planned(3)
    Job.objects.filter(run=run)[0].delete()
    Job.objects.filter(run=run).update(status=JobStatus.FAILED, error="server")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE evaluations_job SET error = 'no_images' WHERE run_id = %s", [run.pk])
    assert (sums_of(run).planned, sums_of(run).refused, broken()) == (2, 2, 0)
    RunCount.objects.update(done=7)
    assert broken() == 1
    assert rebuild_counts() == 1
    assert (sums_of(run).done, sums_of(run).refused, broken()) == (0, 2, 0)


@pytest.mark.django_db
def test_the_time_left_is_that_of_the_time_in_which_the_run_worked() -> None:
    """An hour's pause changes nothing; gaps of less than a minute, as limits leave them, count."""
    run = planned(9)

    def call(at: int, seconds: int) -> None:
        (one,) = claim(run, "w", 1, NOW + timedelta(seconds=at))
        ended = NOW + timedelta(seconds=at + seconds)
        store_results([answered(one)], now=ended, random=Random(0))

    def left(at: int) -> float | None:
        return progress(run, NOW + timedelta(seconds=at)).seconds_left

    assert left(0) is None
    call(0, 10)
    call(20, 10)
    assert left(30) == 7 * 15
    assert left(3600) == 7 * 15
    call(3600, 10)
    assert left(3610) == pytest.approx(6 * 40 / 3)
    claim(run, "w", 1, NOW + timedelta(seconds=3610))
    assert left(3630) == pytest.approx(6 * 60 / 3), "a call in flight is work"


@pytest.mark.django_db
def test_the_progress_of_a_run_counts_no_jobs() -> None:
    """However many jobs there are: none of the statements aggregates jobs or calls."""
    run = planned(2)
    store_results([answered(one) for one in claim(run, "w", 1)], now=NOW, random=Random(0))
    with CaptureQueriesContext(
        connection,
    ) as asked:
        progress(Run.objects.get(pk=run.pk), timezone.now())
        get_run(run.pk)
    counting = [one["sql"] for one in asked if "COUNT(" in one["sql"].upper()]
    assert not [sql for sql in counting if "evaluations_runcount" not in sql]
    assert Attempt.objects.count() == Response.objects.count() == 1

"""Rescoring in the background: counted, stopped, gone on with, and a lost worker's batches kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import Model
from django.utils import timezone

from evaluations.models import ObjectiveScore, Rescoring, Response, Run
from evaluations.reading.selectors.rescorings import progress
from evaluations.reading.services import rescoring_jobs as services
from evaluations.statistics.policies import Policy
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.background_work.services import Stopped
from gradeapp.common.named import WorkStatus as Is
from gradeapp.common.refusals import BadInput, Conflict
from tests.factories import make_question, make_response, make_run, make_task

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "BATCH", 2)


@pytest.fixture
def run() -> Run:
    """Five objective responses without a score."""
    run = make_run()
    task = make_task(run.dataset)
    for _ in range(5):
        make_response(make_question(task), run, "【答案】A")
    return run


def again(job: Model) -> Rescoring:
    return Rescoring.objects.get(pk=job.pk)


def test_all_responses_get_a_score_under_both_policies(run: Run, lead: User) -> None:
    job = services.start_rescoring(None, None, acting_user=lead)
    assert services.look_for_rescorings() == [job.pk]
    assert services.work_on_rescoring(job.pk)
    done = again(job)
    assert (done.status, done.responses_done, done.scores_added) == (Is.DONE, 5, 10)
    assert ObjectiveScore.objects.filter(policy=Policy.STRICT, outcome="correct").count() == 5
    assert not services.work_on_rescoring(job.pk)
    tags = AuditEntry.objects.filter(target=f"rescoring:{job.pk}").order_by("pk")
    expected = ["objective.rescoring_started", "objective.rescored"]
    assert list(tags.values_list("tag", flat=True)) == expected


def test_it_stops_between_batches_and_goes_on_there(
    run: Run, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_response(make_question(), text="【答案】A")
    job = services.start_rescoring(run, Policy.STRICT, acting_user=lead)
    ticks = iter(range(100))

    def clock() -> object:
        # The third look at the clock notes the first batch.
        if next(ticks) == 1:
            services.stop_rescoring(job, acting_user=lead)
        return timezone.now()

    services.work_on_rescoring(job.pk, clock=clock)  # type: ignore[arg-type]
    stopped = again(job)
    assert (stopped.status, stopped.responses_done) == (Is.STOPPED, 2)
    assert ObjectiveScore.objects.count() == 2
    services.resume_rescoring(stopped, acting_user=lead)
    services.work_on_rescoring(job.pk)
    done = again(job)
    assert (done.status, done.responses_done, done.done_before) == (Is.DONE, 5, 2)
    assert done.scores_added == ObjectiveScore.objects.count() == 5
    assert not ObjectiveScore.objects.filter(response=other).exists(), "one run alone"


def test_a_lost_worker_keeps_whole_batches(run: Run, lead: User) -> None:
    job = services.start_rescoring(run, Policy.STRICT, acting_user=lead)
    held = services.claim(job.pk, timezone.now())
    assert held is not None
    services._note(held, 2, 2, Response.objects.order_by("pk")[1].pk, timezone.now())
    later = timezone.now() + Rescoring.lease() + timedelta(seconds=1)
    assert services.look_for_rescorings(lambda: later) == []
    lost = again(job)
    assert (lost.status, lost.error, lost.responses_done) == (Is.INTERRUPTED, "worker_lost", 2)
    with pytest.raises(Stopped):
        services._note(held, 2, 2, 99, timezone.now())
    services.resume_rescoring(lost, acting_user=lead)
    services.work_on_rescoring(job.pk)
    # The two that the lost worker noted are not looked at again.
    assert (again(job).responses_done, ObjectiveScore.objects.count()) == (5, 3)


def test_one_at_a_time_and_nothing_to_do(run: Run, lead: User) -> None:
    with pytest.raises(BadInput):
        services.start_rescoring(make_run(), None, acting_user=lead)
    job = services.start_rescoring(None, None, acting_user=lead)
    with pytest.raises(Conflict):
        services.start_rescoring(run, None, acting_user=lead)
    services.stop_rescoring(job, acting_user=lead)
    assert again(job).status == Is.STOPPED
    with pytest.raises(Conflict):
        services.stop_rescoring(job, acting_user=lead)


def test_what_is_left_is_told_from_what_this_worker_did() -> None:
    start = timezone.now()
    job = Rescoring(
        status=Is.WORKING,
        responses_total=100,
        responses_done=60,
        done_before=50,
        started_at=start,
    )
    # 10 responses in 5 seconds: the other 40 take 20.
    assert progress(job, start + timedelta(seconds=5)).seconds_left == 20.0
    assert progress(job, start).seconds_left is None

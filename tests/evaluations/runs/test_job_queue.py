"""Claims, leases, fences, late answers: nothing lost, nothing stored twice."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from evaluations.llm import spool
from evaluations.llm.breaker import Breaker
from evaluations.llm.budget import Budget
from evaluations.llm.client import CallResult, ChatFailure, ChatReply, FailureKind
from evaluations.models import Attempt, Endpoint, Job, LanguageModel, Response, Run, RunWorker
from evaluations.models.vocabulary import AttemptStatus, JobStatus
from evaluations.runs.rules.call_keys import attempt_of
from evaluations.runs.selectors.runs import progress
from evaluations.runs.services import job_queue, run_workers
from evaluations.runs.services.call_results import store_each, store_results
from evaluations.runs.services.generation import look_for_work
from evaluations.runs.services.job_queue import Call, Claimed
from evaluations.runs.services.planning import plan_jobs
from evaluations.runs.services.spools import spool_path, store_spooled
from tests.factories import make_question, make_run, make_task

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=timezone.get_fixed_timezone(0))
PRICES = {"price_input": "1000", "price_output": "0", "model": "m", "base_url": "http://x"}


def planned(items: int) -> Run:
    task = make_task()
    questions = [make_question(task) for _ in range(items)]
    model = LanguageModel.objects.create(name="m")
    endpoint = Endpoint.objects.create(
        name="e", base_url="http://127.0.0.1:1/v1", model="m", language_model=model
    )
    run = make_run(task.dataset, status="running", endpoint=endpoint, run_settings=PRICES)
    plan_jobs(run, questions)
    return run


def prepare(job: Job) -> Call:
    return Call([{"role": "user", "content": job.revision.stem}], {}, "0" * 64, Decimal("0.5"))


def claim(run: Run, owner: str, n: int, now: datetime = NOW) -> list[Claimed]:
    return job_queue.claim_jobs(run, owner, n, now, prepare=prepare, budget=Budget(None))


def answered(one: Claimed, text: str = "A", tokens: int | None = 100) -> CallResult:
    reply = ChatReply(text, "", "", 0, "stop", tokens, 0, "m", "id", '{"raw": 1}')
    return CallResult(one.attempt.pk, reply, 0.5)


def failed(
    one: Claimed, kind: FailureKind = FailureKind.SERVER, billed: bool = False
) -> CallResult:
    return CallResult(one.attempt.pk, ChatFailure(kind, "no", may_have_been_billed=billed), 0.5)


def store(*outcomes: CallResult, now: datetime = NOW) -> None:
    store_results(outcomes, now=now, random=Random(1))


def state(run: Run) -> Counter[str]:
    return Counter(Job.objects.filter(run=run).values_list("status", flat=True))


def after_lease() -> datetime:
    return job_queue.lease_end(NOW) + timedelta(seconds=1)


@pytest.mark.django_db
def test_a_batch_that_is_stored_singly_tells_of_each_failure_once() -> None:
    """A reply with a number that no column holds; each failure was taken from its job twice."""
    run = planned(4)
    first, *others = claim(run, "w", 4)
    results = [answered(first, tokens=2**70)]
    results += [failed(one, FailureKind.INTERRUPTED, billed=True) for one in others]
    breaker = Breaker(random=Random(0))
    stored = store_each(results, now=NOW, random=Random(1), breaker=breaker)
    assert (stored.answered, len(stored.failed), breaker.is_open) == (1, 3, True)
    assert state(run) == {"done": 1, "pending": 3}
    assert set(Job.objects.exclude(status="done").values_list("attempts_made", flat=True)) == {0}
    kept = Attempt.objects.get(status=AttemptStatus.ANSWERED)
    assert (kept.prompt_tokens, Response.objects.get().text) == (None, "A")


@pytest.mark.django_db
def test_a_claim_stores_its_attempts_before_anything_is_sent() -> None:
    run = planned(5)
    mine = claim(run, "one", 3)
    assert [attempt_of(one.request.key) for one in mine] == [one.attempt.pk for one in mine]
    stored = Attempt.objects.filter(job__run=run)
    assert {(a.status, a.number, a.fence, a.reserved) for a in stored} == {
        (AttemptStatus.SENT, 1, 1, Decimal("0.5"))
    }
    assert state(run) == {JobStatus.LEASED: 3, JobStatus.PENDING: 2}
    assert len(claim(run, "two", 9)) == 2, "two workers never have the same job"
    assert claim(run, "three", 9) == []


@pytest.mark.django_db
def test_progress_says_since_when_an_answer_is_awaited() -> None:
    run = planned(3)
    assert progress(run, NOW).waits_since is None
    claim(run, "one", 1)
    claim(run, "two", 1, NOW + timedelta(seconds=5))
    assert progress(run, NOW + timedelta(minutes=2)).waits_since == NOW


@pytest.mark.django_db
def test_a_job_is_not_due_before_its_moment() -> None:
    run = planned(1)
    Job.objects.update(next_at=NOW + timedelta(seconds=5))
    assert claim(run, "one", 1) == []
    assert len(claim(run, "one", 1, NOW + timedelta(seconds=5))) == 1


@pytest.mark.django_db
def test_a_budget_ends_the_batch() -> None:
    run = planned(5)
    budget = Budget(Decimal("1.2"))
    assert len(job_queue.claim_jobs(run, "one", 5, NOW, prepare=prepare, budget=budget)) == 2
    assert budget.reserved == Decimal("1.0")


@pytest.mark.django_db
def test_an_ended_lease_gives_the_job_back_and_remembers_the_call() -> None:
    run = planned(2)
    claim(run, "killed", 2)
    just_before = job_queue.lease_end(NOW) - timedelta(microseconds=1)
    assert job_queue.release_lost_jobs(just_before) == 0
    assert job_queue.release_lost_jobs(after_lease()) == 2
    assert state(run) == {JobStatus.PENDING: 2}
    attempts = Attempt.objects.filter(job__run=run)
    assert {(a.status, a.error) for a in attempts} == {(AttemptStatus.UNKNOWN, "worker_lost")}
    assert job_queue.release_lost_jobs(after_lease()) == 0


@pytest.mark.django_db
def test_a_renewed_lease_is_not_reaped() -> None:
    run = planned(1)
    assert run_workers.join_run(run, "one", NOW)
    claim(run, "one", 1)
    assert job_queue.renew_leases(run, "one", NOW + timedelta(seconds=60))
    assert job_queue.release_lost_jobs(after_lease()) == 0
    assert not job_queue.renew_leases(run, "two", NOW)


@pytest.mark.django_db
def test_a_job_that_lost_two_workers_is_prepared_alone() -> None:
    run = planned(4)
    for number in range(2):
        claim(run, f"worker{number}", 2)
        job_queue.release_lost_jobs(after_lease())
    jobs = list(Job.objects.values_list("pk", flat=True))
    assert set(job_queue.prepare_calls(run, 4, NOW, prepare=prepare)) == set(jobs[2:])
    alone = job_queue.prepare_calls(run, 1, NOW, prepare=prepare, suspects=True)
    assert set(alone) == {jobs[0]}
    assert len(claim(run, "one", 4)) == 2
    assert [len(claim(run, "one", 4)) for _ in range(3)] == [1, 1, 0]


@pytest.mark.django_db
def test_workers_of_a_run_have_places_and_parts_of_the_jobs() -> None:
    run = planned(20)
    assert all(run_workers.join_run(run, one, NOW) for one in ("one", "two", "one"))
    places = RunWorker.objects.filter(run=run)
    assert list(places.values_list("number", "worker")) == [(1, "one"), (2, "two")]
    parts = [run_workers.part_of(run, one, NOW) for one in ("one", "two")]
    assert [(one.index, one.workers) for one in parts] == [(0, 2), (1, 2)]
    # Each prepares jobs of its own first, and takes over those of the other at the end.
    jobs = list(Job.objects.values_list("pk", flat=True))
    for part in parts:
        own = job_queue.prepare_calls(run, 10, NOW, prepare=prepare, part=part)
        assert set(own) == {pk for pk in jobs if pk % 2 == part.index}
    assert len(job_queue.prepare_calls(run, 30, NOW, prepare=prepare, part=parts[0])) == 20
    ready = job_queue.prepare_calls(run, 30, NOW, prepare=prepare, without=jobs[3:])
    assert set(ready) == set(jobs[:3])
    # Both have prepared the same jobs: each is claimed once, and the budget has it once.
    (first,) = claim(run, "one", 1)
    budget = Budget(Decimal(100))
    claims = job_queue.claim_calls(run, "two", ready, NOW, budget=budget)
    assert {one.attempt.job_id for one in claims.calls} == {*ready} - {first.attempt.job_id}
    assert (claims.over_budget, budget.reserved) == (False, Decimal("1.0"))
    assert job_queue.claim_calls(run, "three", ready, NOW, budget=budget).calls == []
    # A worker whose lease ended has no part, and its place is taken again.
    later = after_lease()
    assert run_workers.join_run(run, "three", later)
    assert not job_queue.renew_leases(run, "one", later)
    run_workers.leave_run(run, "one")
    assert list(places.values_list("worker", flat=True)) == ["three", "two"]
    assert run_workers.part_of(run, "three", later) == run_workers.ALONE


@pytest.mark.django_db
def test_a_late_answer_is_kept_as_it_was_paid_for() -> None:
    run = planned(1)
    (lost,) = claim(run, "lost", 1)
    job_queue.release_lost_jobs(after_lease())
    store(answered(lost), now=after_lease())
    assert state(run) == {JobStatus.DONE: 1}
    attempt = Attempt.objects.get()
    assert (attempt.status, attempt.error, attempt.cost) == (
        AttemptStatus.ANSWERED,
        "",
        Decimal("0.1"),
    )
    assert attempt.answer.text == "A"


@pytest.mark.django_db
def test_two_answers_to_one_job_make_one_response_and_two_costs() -> None:
    run = planned(1)
    (lost,) = claim(run, "lost", 1)
    job_queue.release_lost_jobs(after_lease())
    (again,) = claim(run, "again", 1, after_lease())
    assert (again.attempt.number, again.attempt.fence) == (2, 2)
    store(answered(lost, "first"))
    assert state(run) == {JobStatus.DONE: 1}
    store(answered(again, "second"))
    assert [r.text for r in Response.objects.all()] == ["first"]
    assert [a.cost for a in Attempt.objects.all()] == [Decimal("0.1")] * 2
    assert [a.body for a in Attempt.objects.all()] == ['{"raw": 1}'] * 2


@pytest.mark.django_db
def test_both_answers_in_one_batch_make_one_response() -> None:
    run = planned(1)
    (lost,) = claim(run, "lost", 1)
    job_queue.release_lost_jobs(after_lease())
    (again,) = claim(run, "again", 1, after_lease())
    store(answered(lost, "first"), answered(again, "second"))
    assert [r.text for r in Response.objects.all()] == ["first"]
    assert state(run) == {JobStatus.DONE: 1}


@pytest.mark.django_db
def test_a_late_failure_does_not_touch_another_workers_job() -> None:
    run = planned(1)
    (lost,) = claim(run, "lost", 1)
    job_queue.release_lost_jobs(after_lease())
    claim(run, "again", 1, after_lease())
    store(failed(lost))
    job = Job.objects.get(run=run)
    assert (job.status, job.lease_owner, job.fence) == (JobStatus.LEASED, "again", 2)


@pytest.mark.django_db
def test_an_answer_and_an_old_failure_in_one_batch_leave_the_job_done() -> None:
    run = planned(1)
    (lost,) = claim(run, "lost", 1)
    job_queue.release_lost_jobs(after_lease())
    (again,) = claim(run, "again", 1, after_lease())
    store(answered(lost), failed(again))
    assert state(run) == {JobStatus.DONE: 1}


@pytest.mark.django_db
def test_what_is_delivered_twice_is_stored_once() -> None:
    run = planned(2)
    one, two = claim(run, "one", 2)
    for _ in range(2):
        store(answered(one), failed(two))
    assert Response.objects.count() == 1
    job = Job.objects.get(pk=two.attempt.job_id)
    assert (job.status, job.attempts_made, job.error) == (JobStatus.PENDING, 1, "server")


@pytest.mark.django_db
def test_an_outcome_of_another_database_is_passed_over(settings: Any, tmp_path: Path) -> None:
    """A backup was restored, so the keys of calls come again; what fits no call is kept."""
    settings.VAR_DIR = tmp_path
    run = planned(1)
    (call,) = claim(run, "one", 1)
    reply = answered(call).result
    foreign = [CallResult(key, reply, 0.1) for key in (f"{10**9}-0f", f"{call.attempt.pk}-0f")]
    spool.append(spool_path(run, "one"), foreign)
    store_spooled(NOW)
    assert not Response.objects.exists()
    assert spool.read(spool_path(run, "one").with_suffix(".unreadable"))[0] == foreign
    store(CallResult(call.request.key, reply, 0.1))
    assert Response.objects.count() == 1


@pytest.mark.django_db
def test_a_call_whose_job_an_earlier_one_has_done_is_lost_with_its_worker() -> None:
    """Else it counted as under way for ever."""
    run = planned(1)
    (lost,) = claim(run, "lost", 1)
    job_queue.release_lost_jobs(after_lease())
    (again,) = claim(run, "again", 1, after_lease())
    store(answered(lost))
    assert state(run) == {JobStatus.DONE: 1}
    again.attempt.refresh_from_db()
    assert again.attempt.status == AttemptStatus.SENT
    job_queue.release_lost_jobs(after_lease() + timedelta(hours=1))
    again.attempt.refresh_from_db()
    assert again.attempt.status == AttemptStatus.UNKNOWN
    assert state(run) == {JobStatus.DONE: 1}
    assert Job.objects.get().lease_owner == ""


@pytest.mark.django_db
def test_a_worker_that_dies_four_times_over_one_job_fails_it() -> None:
    run = planned(1)
    now = NOW
    for _ in range(4):
        assert len(claim(run, "unlucky", 1, now)) == 1
        now += timedelta(hours=1)
        job_queue.release_lost_jobs(now)
    assert state(run) == {JobStatus.FAILED: 1}
    assert Attempt.objects.filter(status=AttemptStatus.UNKNOWN).count() == 4


@pytest.mark.django_db
def test_no_usage_counts_as_the_most_it_could_cost() -> None:
    (one,) = claim(planned(1), "one", 1)
    store(answered(one, tokens=None))
    assert Attempt.objects.get().cost == Decimal("0.5")


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "汉字\U0001f600", "x" * 200_000, ""])
def test_whatever_was_written_can_be_stored(text: str) -> None:
    (one,) = claim(planned(1), "one", 1)
    store(answered(one, text))
    kept = Response.objects.get().text
    assert kept == text.replace("\x00", "\ufffd").replace("\ud800", "\ufffd")


@pytest.mark.django_db
def test_the_clock_finds_what_nobody_asks_for() -> None:
    run = planned(3)
    Run.objects.filter(pk=run.pk).update(status="queued")
    assert look_for_work(lambda: NOW) == [run.pk], "no message was ever sent"
    run_workers.join_run(run, "one", NOW)
    claim(run, "one", 3)
    assert look_for_work(lambda: NOW) == [], "a worker has it"
    assert look_for_work(after_lease) == [run.pk], "its worker died"


@pytest.mark.django_db
def test_states_come_up_to_date_by_themselves() -> None:
    run = planned(1)
    (one,) = claim(run, "one", 1)
    Run.objects.filter(pk=run.pk).update(status="stopping")
    look_for_work(lambda: NOW)
    assert Run.objects.get(pk=run.pk).status == "stopping", "a call is in flight"
    look_for_work(after_lease)
    assert Run.objects.get(pk=run.pk).status == "stopped"
    Run.objects.filter(pk=run.pk).update(status="running")
    store(answered(one))
    look_for_work(after_lease)
    assert Run.objects.get(pk=run.pk).status == "finished"


@pytest.mark.django_db(transaction=True)
def test_threads_share_the_jobs_without_a_clash() -> None:
    run = planned(40)
    start = threading.Barrier(4)
    claims: list[int] = []
    errors: list[Exception] = []

    def work(owner: str) -> None:
        try:
            start.wait()
            while mine := claim(run, owner, 3):
                claims.extend(one.attempt.job_id for one in mine)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(f"worker{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    # On PostgreSQL a worker that loses a whole batch may end early; nothing is claimed twice.
    claims.extend(one.attempt.job_id for one in claim(run, "last", 40))
    assert sorted(claims) == sorted(Job.objects.values_list("pk", flat=True))
    assert Attempt.objects.count() == 40


@pytest.mark.django_db(transaction=True)
def test_two_workers_bring_the_same_job_at_once() -> None:
    run = planned(8)
    lost = claim(run, "lost", 8)
    job_queue.release_lost_jobs(after_lease())
    again = claim(run, "again", 8, after_lease())
    start = threading.Barrier(2)
    errors: list[Exception] = []

    def bring(claimed: list[Claimed]) -> None:
        try:
            start.wait()
            for one in claimed:
                store(answered(one))
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=bring, args=(side,)) for side in (lost, again)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert Response.objects.count() == 8
    assert Attempt.objects.filter(status=AttemptStatus.ANSWERED).count() == 16

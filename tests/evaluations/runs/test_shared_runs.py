"""Several workers send calls of one run, and one worker those of several runs."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connections
from django.utils import timezone

from evaluations.models import Attempt, Endpoint, Job, ObjectiveScore, Response, Run, RunWorker
from evaluations.runs.rules.question_choice import QuestionChoice
from evaluations.runs.services.generation import look_for_work, work_on_run
from evaluations.runs.services.run_states import finalize_all
from evaluations.runs.services.run_workers import (
    join_run,
    leave_run,
    note_trying,
    workers_of,
)
from evaluations.runs.services.runs import start_run
from tests.evaluations.run_world import planned
from tests.scripted_server import ScriptedServer, named_fault
from tests.worker_processes import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_retries")]


def in_thread(run: Run, **options: object) -> threading.Thread:
    """Work on *run* as another process does, with a connection of its own."""

    def work() -> None:
        try:
            work_on_run(run.pk, **options)  # type: ignore[arg-type]
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def check_done(run: Run, items: int) -> None:
    """Everything was asked and answered once, and scored."""
    run.refresh_from_db()
    assert run.status == "finished"
    assert Counter(Job.objects.filter(run=run).values_list("status")) == {("done",): items}
    attempts = Attempt.objects.filter(job__run=run)
    assert Counter(attempts.values_list("status", "number")) == {("answered", 1): items}
    assert Response.objects.filter(run=run).count() == items
    assert ObjectiveScore.objects.filter(response__run=run).count() == items
    assert not run.workers.exclude(worker="", waiting=0).exists()


def test_workers_share_a_run_and_the_limit_of_its_endpoint(
    server: ScriptedServer, endpoint: Endpoint
) -> None:
    """Each has half of the limit; together they never have more in flight than it allows."""
    server.endpoint.latency = 0.1
    Endpoint.objects.update(max_in_flight=6)
    run = planned(endpoint, 60)
    asked: list[int] = []
    first = in_thread(run, invite=asked.append)
    while not asked:
        pass  # the first one says that the run has work for one more
    second = in_thread(run)
    most = 0
    while second.is_alive():
        now = timezone.now()
        most = max(most, workers_of(run, now).count())
        held = Job.objects.filter(run=run, status="leased").values_list("lease_owner", flat=True)
        if most == 2 and len(set(held)) == 2:
            break
    first.join()
    second.join()
    connections.close_all()
    assert most == 2
    assert server.endpoint.most_in_flight <= 6
    check_done(run, 60)
    assert work_on_run(run.pk) == []


def test_a_worker_takes_in_runs_that_wait(server: ScriptedServer, endpoint: Endpoint) -> None:
    """A second and a third run are answered while the first one is worked on."""
    server.endpoint.latency = 0.3
    Endpoint.objects.update(max_in_flight=3)
    run = planned(endpoint, 60)
    others = [
        start_run(
            endpoint=endpoint, dataset=run.dataset, acting_user=None, choice=QuestionChoice(limit=4)
        )
        for _ in range(2)
    ]
    assert look_for_work() == [run.pk, *(one.pk for one in others)]
    began = timezone.now()
    work_on_run(run.pk, take_in=True)
    finalize_all(timezone.now())
    for one, items in [(run, 60), *((one, 4) for one in others)]:
        check_done(one, items)
        assert one.started_at - began < timedelta(seconds=10)
    assert server.endpoint.most_in_flight <= 3


@pytest.mark.parametrize("dies", [False, True])
def test_a_worker_sends_nothing_while_another_one_tries_the_endpoint(
    server: ScriptedServer, endpoint: Endpoint, dies: bool
) -> None:
    """The row of the run shows the outage; what failed before counts against no job.

    If the other worker *dies*, this one tries the endpoint as soon as its lease has ended.
    """
    Endpoint.objects.update(max_in_flight=2)
    run = planned(endpoint, 20)
    rejected = replace(named_fault("bad_request"), delay=0.0)
    faults = iter([None] * 4 + [rejected] * 2)
    server.endpoint.faults = lambda _prompt: next(faults, None)
    row = Run.objects.filter(pk=run.pk)
    shown: list[str] = []

    def show() -> None:
        if not shown and Job.objects.filter(run=run, status="failed").exists():
            shown.append("rejected")
            row.update(pause_reason="rejected")
            assert join_run(run, "another", timezone.now())
            note_trying(run, "another", True)

    worker = in_thread(run, on_progress=show)
    failed = Attempt.objects.filter(job__run=run, during_outage=True)
    leased = Job.objects.filter(run=run, status="leased")
    wait_until(lambda: failed.exists() and not leased.exists(), 60)
    sent = len(server.requests)
    time.sleep(1)
    assert len(server.requests) == sent <= 6
    assert Counter(Job.objects.filter(run=run).values_list("status", "attempts_made")) == {
        ("done", 1): 4,
        ("pending", 0): 16,
    }
    server.endpoint.faults = None
    if dies:
        RunWorker.objects.filter(worker="another").update(worker_until=timezone.now())
    else:
        row.update(pause_reason="")  # the other worker has an answer
        leave_run(run, "another")
    worker.join(60)
    assert not worker.is_alive()
    run.refresh_from_db()
    assert run.status == "finished"
    assert Counter(Job.objects.filter(run=run).values_list("status")) == {("done",): 20}
    assert len(server.requests) == 16 + sent


def test_the_first_worker_in_an_outage_shows_it_until_an_answer(
    server: ScriptedServer, endpoint: Endpoint
) -> None:
    run = planned(endpoint, 20)
    states: list[tuple[str, str]] = []
    html = named_fault("html")

    def note() -> None:
        row = Run.objects.values_list("status", "pause_reason").get(pk=run.pk)
        states.append(row)
        if row[1]:
            server.endpoint.faults = None

    server.endpoint.faults = lambda _prompt: html
    work_on_run(run.pk, on_progress=note)
    connections.close_all()
    run.refresh_from_db()
    assert (run.status, run.pause_reason) == ("finished", "")
    assert ("running", "broken_replies") in states
    assert states[-1] == ("running", ""), "the probe was answered"

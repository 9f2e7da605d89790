"""A worker of this machine that is gone loses what it held at once; any other keeps its lease."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from evaluations.models import Attempt, Job, Run
from evaluations.models.vocabulary import AttemptStatus, JobStatus
from evaluations.runs.rules.owners import NAME_LENGTH, name_of, owner_in
from evaluations.runs.services import job_queue, run_workers, worker_names
from evaluations.runs.services.generation import look_for_work
from tests.evaluations.runs.test_job_queue import claim, planned

NOW = timezone.now()
told = pytest.mark.skipif(worker_names.here() is None, reason="the system tells of no processes")


def name_of_dead_process() -> str:
    """The name of a real process that was killed and buried."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = worker_names.state_of(process.pid).started
    name = name_of("host", process.pid, "0a1b2c3d", started, worker_names.here())
    assert worker_names.ended_workers([name]) == [], "it lives"
    process.kill()
    process.wait()
    return name


def held_by(owner: str) -> Run:
    """A run that *owner* holds, with two of its three jobs."""
    run = planned(3)
    assert run_workers.join_run(run, owner, NOW)
    claim(run, owner, 2, NOW)
    return run


@told
@pytest.mark.django_db
def test_a_dead_worker_loses_run_and_jobs_before_its_lease_ends() -> None:
    run = held_by(name_of_dead_process())
    assert job_queue.release_lost_jobs(NOW) == 2
    assert set(Job.objects.values_list("status", "lease_owner")) == {(JobStatus.PENDING, "")}
    attempts = set(Attempt.objects.values_list("status", "error"))
    assert attempts == {(AttemptStatus.UNKNOWN, "worker_lost")}
    assert list(run.workers.values_list("worker", "worker_until")) == [("", None)]
    assert look_for_work(lambda: NOW) == [run.pk]


@told
@pytest.mark.django_db
def test_jobs_of_a_dead_worker_are_given_back_though_another_works_on_the_run() -> None:
    run = held_by(name_of_dead_process())
    living = worker_names.new_name()
    assert run_workers.join_run(run, living, NOW)
    assert job_queue.release_lost_jobs(NOW) == 2
    until = job_queue.lease_end(NOW)
    places = list(run.workers.values_list("worker", "worker_until"))
    assert places == [("", None), (living, until)], "the living one keeps its place"


@told
@pytest.mark.django_db
@pytest.mark.parametrize("of", ["this process", "another boot", "an older version"])
def test_whoever_is_not_surely_gone_keeps_the_lease(of: str) -> None:
    dead = name_of_dead_process()
    owner = {
        "this process": worker_names.new_name(),
        "another boot": f"{dead[:-12]}{'0' * 12}",
        "an older version": dead.rsplit(":", 2)[0],
    }[of]
    run = held_by(owner)
    assert job_queue.release_lost_jobs(NOW) == 0
    assert look_for_work(lambda: NOW) == []
    assert run.workers.get().worker == owner
    after = job_queue.lease_end(NOW) + timedelta(seconds=1)
    assert job_queue.release_lost_jobs(after) == 2


@told
def test_a_dead_process_that_nobody_buried_is_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert process.stdout is not None
    started = worker_names.state_of(process.pid).started
    name = name_of("host", process.pid, "0a1b2c3d", started, worker_names.here())
    process.stdout.read()
    while worker_names.state_of(process.pid).exists:
        pass  # between closing its output and its end
    assert worker_names.ended_workers([name]) == [name]
    process.wait()


@told
def test_the_name_of_this_process_says_where_it_is() -> None:
    name = worker_names.new_name()
    assert owner_in(name) is not None
    assert len(name) <= NAME_LENGTH
    assert name != worker_names.new_name()


@pytest.mark.django_db
def test_where_the_system_says_nothing_every_lease_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = name_of_dead_process() if worker_names.here() else "host:1:0a1b2c3d"
    monkeypatch.setattr(worker_names, "PROC", tmp_path)
    assert worker_names.here() is None
    assert owner_in(worker_names.new_name()) is None
    held_by(owner)
    assert job_queue.release_lost_jobs(NOW) == 0

"""R36: a run that is paused, stopped, resumed and left by killed workers, in a random order."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import timedelta
from functools import partial
from random import Random

import pytest

from evaluations.facts.invariants import check_invariants
from evaluations.llm.budget import Budget
from evaluations.models import Attempt, Endpoint, Job, ObjectiveScore, Response, Run
from evaluations.runs.services.calls import call_for
from evaluations.runs.services.generation import work_on_run
from evaluations.runs.services.job_queue import claim_jobs
from evaluations.runs.services.run_workers import join_run
from evaluations.runs.services.runs import pause_run, resume_run, retry_failed, stop_run
from gradeapp.common.database_clock import database_now
from gradeapp.common.refusals import Conflict
from tests.evaluations.run_world import planned, scripted_endpoint
from tests.scripted_server import ScriptedServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries")]
ITEMS, STEPS = 150, 50
ENDED = timedelta(hours=1)


@pytest.fixture
def endpoint(server: ScriptedServer, db: None) -> Endpoint:
    return scripted_endpoint(server, max_in_flight=2)


def claimed_and_killed(run: Run, owner: str) -> int:
    """Return how many jobs a worker claimed that was killed before it sent anything."""
    run.refresh_from_db()
    long_ago = database_now() - ENDED
    if run.status not in ("queued", "running") or not join_run(run, owner, long_ago):
        return 0
    prepare = partial(call_for, run)
    return len(claim_jobs(run, owner, 2, long_ago, prepare=prepare, budget=Budget(None)))


def worked_a_while(run: Run, random: Random) -> None:
    """Work on *run* until a person pauses or stops it, after one to three deliveries."""
    deliveries = iter(range(random.randint(1, 3) - 1, -1, -1))

    def person() -> None:
        if next(deliveries, 1) == 0:
            random.choice([pause_run, stop_run])(run, acting_user=None)

    work_on_run(run.pk, on_progress=person)


def test_a_run_interrupted_50_times_asks_and_stores_everything_once(
    server: ScriptedServer, endpoint: Endpoint
) -> None:
    random = Random(36)
    server.endpoint.latency = 0.01
    run = planned(endpoint, ITEMS)
    done = Counter[str]()
    lost = 0
    for step in range(STEPS):
        what = random.choice(["work", "work", "kill", "pause", "stop", "resume", "resume"])
        with suppress(Conflict):
            if what == "work":
                worked_a_while(run, random)
            elif what == "kill":
                lost += claimed_and_killed(run, f"killed {step}")
            else:
                change = {"pause": pause_run, "stop": stop_run, "resume": resume_run}[what]
                change(run, acting_user=None)
            done[what] += 1
        answered = Attempt.objects.filter(job__run=run, status="answered").count()
        assert answered == Response.objects.filter(run=run).count() == server.ledger.billed
    assert min(done.values()) >= 3, done
    assert 5 <= server.ledger.billed < ITEMS
    for _ in range(20):
        for change in (resume_run, retry_failed):
            with suppress(Conflict):
                change(run, acting_user=None)
        work_on_run(run.pk)
        run.refresh_from_db()
        if run.status == "finished" and not run.jobs.exclude(status="done").exists():
            break
    assert Counter(Job.objects.values_list("status", flat=True)) == {"done": ITEMS}
    states = Counter(Attempt.objects.values_list("status", flat=True))
    assert states == {"answered": ITEMS, "unknown": lost}
    assert server.ledger.billed == ITEMS == ObjectiveScore.objects.count()
    assert not [held for held in check_invariants(database_now()) if held.violations]

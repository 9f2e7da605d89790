"""A worker dies without a word: nothing is lost, nothing stored twice, little billed twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings
from django.utils import timezone

from evaluations.conditions import Asking, PromptSetting
from evaluations.facts.invariants import check_invariants as broken_invariants
from evaluations.models import (
    Attempt,
    Endpoint,
    Job,
    ModelReading,
    ObjectiveScore,
    Response,
    Run,
    StepReply,
    SuggestionReading,
)
from evaluations.models.vocabulary import Asks
from evaluations.reading.services.model_reading import WantedReading, start_reading
from evaluations.runs.selectors.workers import SILENT, workers_at
from evaluations.runs.services.endpoints import save_endpoint
from evaluations.runs.services.generation import look_for_work, work_on_run
from evaluations.runs.services.runs import start_run
from evaluations.suggesting.services.suggesting import Wanted, start_suggesting
from gradeapp.accounts.models import User
from questions.models import LabelOpinion, Question
from tests.evaluations.check_world import answers
from tests.factories import make_dataset, make_question, make_task
from tests.faults.table import FaultRow, database_says
from tests.scripted_server import ScriptedServer
from tests.worker_processes import (
    StartWorker,
    celery_workers,
    database_url,
    kill,
    wait_until,
)

ROOT = Path(__file__).resolve().parent.parent.parent.parent
IN_FLIGHT = 6
# The worker kills itself at one step; SIGKILL leaves no time for anything else.
DIES_AT = """
import os, signal
import django
django.setup()
from evaluations.reading import kinds
from evaluations.runs.services import generation, work_session

where = os.environ["DIES_AT"]
calls = 0
last = int(os.environ["DIES_AT_CALL"])

def dying(step, after):
    def wrapped(*args, **kwargs):
        global calls
        calls += 1
        result = step(*args, **kwargs) if after or calls < last else None
        if calls >= last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return wrapped

owner, name, after = {
    "before a claim": (work_session, "claim_calls", False),
    "between claim and call": (work_session, "claim_calls", True),
    "before the answers are stored": (work_session, "store_each", False),
    "between answers and scores": (work_session, "store_each", True),
    "between scores and judges": (kinds, "score_responses", True),
}[where]
setattr(owner, name, dying(getattr(owner, name), after))
generation.work_on_run(int(os.environ["RUN"]))
"""
STEPS = [
    "before a claim",
    "between claim and call",
    "before the answers are stored",
    "between answers and scores",
    "between scores and judges",
]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    own = {
        "DATABASE_URL": database_url(),
        "GRADEAPP_VAR": str(tmp_path / "var"),
        # Nobody waits so long here: whoever is surely gone loses its leases at once.
        "RUN_LEASE_SECONDS": "3600",
        "CLOCK_SECONDS": "1",
        "DJANGO_SETTINGS_MODULE": "gradeapp.settings",
    }
    return {**os.environ, **own}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ScriptedServer]:
    with ScriptedServer(latency=0.1, ledger=tmp_path / "ledger.jsonl") as running:
        yield running


def planned(server: ScriptedServer, items: int, stems: Sequence[str] = (), **options: Any) -> Run:
    endpoint = save_endpoint(
        name="scripted",
        base_url=server.base_url,
        model="scripted-demo",
        acting_user=None,
        max_in_flight=IN_FLIGHT,
    )
    task = make_task(make_dataset())
    for _ in range(items):
        make_question(task)
    for stem in stems:
        make_question(task, stem=stem)
    return start_run(endpoint=endpoint, dataset=task.dataset, acting_user=None, **options)


def check_invariants(run: Run, server: ScriptedServer, items: int) -> None:
    """What must hold after any fault: all done, none twice, every billed call accounted for."""
    run.refresh_from_db()
    assert run.status == "finished"
    assert Counter(Job.objects.filter(run=run).values_list("status", flat=True)) == {"done": items}
    assert Response.objects.filter(run=run).count() == items
    assert Response.objects.filter(run=run).values("question", "repeat").distinct().count() == items
    assert ObjectiveScore.objects.filter(response__run=run).count() == items
    attempts = Attempt.objects.filter(job__run=run)
    states = Counter(attempts.values_list("status", flat=True))
    assert set(states) <= {"answered", "unknown"}, "no call is left as sent"
    assert states["answered"] == items
    # Those in flight: what had arrived was in a file.
    assert states["unknown"] <= IN_FLIGHT
    # A call that was claimed may have been killed before it was sent, never the other way round.
    assert items <= server.ledger.billed <= states["answered"] + states["unknown"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_each_step(
    server: ScriptedServer, environment: dict[str, str], step: str, fault_row: FaultRow
) -> None:
    run = planned(server, 30)
    # Responses are scored many at once: the last ones may be among the second ones.
    killed_and_worked_on(run, environment, step, at=1 if step == STEPS[-1] else 3)
    check_invariants(run, server, 30)
    fault_row(
        "R02",
        f"kill -9 of the worker {step}, 30 items",
        ledger=f"{len(server.requests)} requests, {server.ledger.billed} billed",
        database=database_says(run),
    )


@pytest.mark.django_db(transaction=True)
def test_a_killed_worker_suggests_nothing_twice(
    server: ScriptedServer, environment: dict[str, str], admin: User
) -> None:
    answering = planned(server, 30)
    Run.objects.update(status="stopped")
    asked = Wanted(
        endpoint=Endpoint.objects.get(),
        asks=Asks.LABELS,
        dataset=answering.dataset,
        questions=Question.objects.all(),
        limit=30,
    )
    run = start_suggesting(asked, acting_user=admin)
    killed_and_worked_on(run, environment, "between answers and scores")
    run.refresh_from_db()
    assert run.status == "finished"
    assert Response.objects.filter(run=run).count() == 30
    assert SuggestionReading.objects.filter(response__run=run, fault="").count() == 30
    suggestions = LabelOpinion.objects.filter(model_name="scripted-demo")
    assert suggestions.count() == suggestions.values("question").distinct().count() == 30


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("step", ["between claim and call", "between answers and scores"])
def test_a_killed_worker_reads_nothing_twice(
    server: ScriptedServer, environment: dict[str, str], admin: User, step: str
) -> None:
    answered = answers(*["I would go for what shines at night, that is B or C."] * 30)[0].run
    endpoint = save_endpoint(
        name="scripted",
        base_url=server.base_url,
        model="scripted-demo",
        acting_user=None,
        max_in_flight=IN_FLIGHT,
    )
    run = start_reading(WantedReading(answered, endpoint), acting_user=admin)
    assert run.jobs.count() == 30
    killed_and_worked_on(run, environment, step)
    run.refresh_from_db()
    assert run.status == "finished"
    read = ModelReading.objects.filter(run=run, status="taken")
    assert read.count() == read.values("response").distinct().count() == 30
    scores = ObjectiveScore.objects.filter(response__run=answered, policy="strict")
    assert scores.filter(model_reading__isnull=False).count() == 30, (
        "each is scored by what was read"
    )
    states = Counter(Attempt.objects.filter(job__run=run).values_list("status", flat=True))
    assert states["answered"] == 30
    assert 30 <= server.ledger.billed <= 30 + states["unknown"]
    # Those in flight: what had arrived was in a file.
    assert states["unknown"] <= IN_FLIGHT


@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_between_the_steps_asks_no_answered_step_again(
    server: ScriptedServer, environment: dict[str, str]
) -> None:
    stems = [f"Which one is right in case {number}?\nA. a\nB. b\nC. c" for number in range(10)]
    run = planned(server, 0, stems=stems, asking=Asking(setting=PromptSetting.ZERO_SHOT_COT))
    assert Counter(run.jobs.values_list("step", "status")) == {
        (1, "pending"): 10,
        (2, "waiting"): 10,
    }
    killed_and_worked_on(run, environment, "between answers and scores", at=1, also=look_between)
    run.refresh_from_db()
    assert (run.status, run.responses.count()) == ("finished", 10)
    assert Counter(run.jobs.values_list("step", "status")) == {(1, "done"): 10, (2, "done"): 10}
    attempts = Attempt.objects.filter(job__run=run)
    unknown = attempts.filter(status="unknown").count()
    assert attempts.filter(status="answered").count() == 20
    assert attempts.count() == 20 + unknown
    assert unknown <= IN_FLIGHT
    # The prompts differ, so what was asked twice is one of the calls whose answer was lost.
    asked = Counter(server.ledger.prompts)
    assert len(asked) == 20
    assert sum(asked.values()) - 20 <= unknown
    assert not [held for held in broken_invariants(timezone.now()) if held.violations]


def look_between(run: Run) -> None:
    """Some first steps are answered, and no answer is complete that should not be."""
    done = set(run.jobs.filter(status="done").values_list("pk", flat=True))
    replies = set(StepReply.objects.values_list("job", flat=True))
    assert replies
    assert replies <= done
    assert run.jobs.filter(step=2, status="pending").exists()
    assert not run.jobs.filter(step=2, status="done", waits_for__step_reply=None).exists()


def killed_and_worked_on(
    run: Run,
    environment: dict[str, str],
    step: str,
    at: int = 3,
    also: Callable[[Run], None] = lambda run: None,
) -> None:
    """A worker kills itself *at* such a *step*; another one finds what it left and goes on."""
    killed = subprocess.run(
        [sys.executable, "-c", DIES_AT],
        cwd=ROOT,
        env={**environment, "DIES_AT": step, "DIES_AT_CALL": str(at), "RUN": str(run.pk)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert Job.objects.filter(run=run, status="done").count() < 30
    also(run)
    with override_settings(VAR_DIR=Path(environment["GRADEAPP_VAR"])):  # the same machine
        # On a slow machine the replies that had arrived may have been all that was missing.
        is_left = look_for_work() == [run.pk]
        assert is_left == run.jobs.exclude(status="done").exists()
        if is_left:
            work_on_run(run.pk)


@pytest.mark.django_db(transaction=True)
def test_a_polite_stop_bills_nothing_twice(
    server: ScriptedServer, environment: dict[str, str]
) -> None:
    run = planned(server, 60)
    work = "import django; django.setup(); from evaluations.runs.services import generation as g; "
    work += f"assert g.work_on_run({run.pk}) == [], 'a stopped worker asks for no more work'"
    worker = subprocess.Popen([sys.executable, "-c", work], cwd=ROOT, env=environment)
    wait_until(lambda: Job.objects.filter(run=run, status="done").count() >= 12)
    worker.send_signal(signal.SIGTERM)
    worker.send_signal(signal.SIGTERM)  # as timeout(1) does: the process, then its group
    assert worker.wait(timeout=30) == 0, "it ends by itself once its calls are in"
    done = Job.objects.filter(run=run, status="done").count()
    assert done == server.ledger.billed < 60
    assert not Job.objects.filter(run=run, status="leased").exists()
    work_on_run(run.pk)
    check_invariants(run, server, 60)
    assert server.ledger.billed == 60


@pytest.fixture
def start_worker(environment: dict[str, str]) -> Iterator[StartWorker]:
    with celery_workers(environment, concurrency=2) as start:
        yield start


@pytest.mark.django_db(transaction=True)
def test_celery_is_killed_in_the_middle_and_started_again(
    server: ScriptedServer, start_worker: StartWorker
) -> None:
    run = planned(server, 60)
    Endpoint.objects.update(timeout_seconds=10)
    # No message was sent: the worker's own clock finds the run.
    worker = start_worker()
    wait_until(lambda: [one.processes for one in workers_at(timezone.now()).running] == [2])
    wait_until(lambda: Job.objects.filter(run=run, status="done").count() >= 15)
    kill(worker)
    assert Job.objects.filter(run=run, status="done").count() < 60
    assert not workers_at(timezone.now() + SILENT).running
    start_worker()
    wait_until(lambda: Run.objects.get(pk=run.pk).status == "finished")
    check_invariants(run, server, 60)

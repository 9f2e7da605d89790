"""A worker that is killed between any two steps of a batch at the batch API of its endpoint."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from django.db import connection

from evaluations.models import Attempt, Batch, Job, Response, Run
from gradeapp.common.database_clock import database_now
from tests.evaluations.run_world import planned, scripted_endpoint
from tests.faults.services import Process
from tests.faults.site import ROOT, Site
from tests.faults.table import FaultRow, database_says, ledger_says
from tests.faults.test_run_faults import status_of
from tests.scripted_server import ScriptedServer
from tests.worker_processes import wait_until

pytestmark = pytest.mark.faults
ITEMS = 700
STEPS = (
    "before upload",
    "after upload",
    "before create",
    "after create",
    "after look",
    "before fetch",
    "after fetch",
)


def worker_of(site: Site, run: Run, name: str) -> Process:
    """A process that works on the batches of *run*, as a worker does."""
    command = [sys.executable, "manage.py", "run_model", "--resume", str(run.pk), "--wait"]
    log = site.folder / f"{name.replace(' ', '-')}.log"
    process = Process(command, log, cwd=Path(ROOT), env=site.environment)
    site.also(process)
    return process


def test_a_batch_is_created_once_whenever_its_worker_is_killed(
    site: Site, fault_row: FaultRow
) -> None:
    """R01: ``kill -9`` between each two steps of a batch, and while its replies are stored."""
    with ScriptedServer() as server:
        run = planned(scripted_endpoint(server), ITEMS, batch_api=True)
        connection.close()
        workers: list[Process] = []
        armed: list[str] = []

        def kill(step: str) -> None:
            if step in armed:
                armed.clear()
                os.killpg(workers[-1].pid, signal.SIGKILL)
                raise ConnectionError  # before a step: it is not done

        def due_now() -> None:
            Batch.objects.filter(next_at__isnull=False).update(next_at=database_now())

        server.batches.meets = kill
        for step in STEPS:
            armed.append(step)
            workers.append(worker_of(site, run, step))
            wait_until(lambda: (due_now(), not armed)[1])
            assert workers[-1].process.wait(timeout=10) == -signal.SIGKILL
            assert Response.objects.filter(run=run).count() == 0
        workers.append(worker_of(site, run, "stores"))
        wait_until(lambda: (due_now(), Response.objects.filter(run=run).exists())[1])
        with suppress(ProcessLookupError):
            os.killpg(workers[-1].pid, signal.SIGKILL)
        workers[-1].process.wait(timeout=10)
        stored = Response.objects.filter(run=run).count()
        workers.append(worker_of(site, run, "last"))
        wait_until(lambda: (due_now(), status_of(run) == "finished")[1])
        fault_row(
            "R01",
            f"a batch of {ITEMS} at the endpoint's batch API: kill -9 before and after the upload, "
            "the creation, a look and the fetching, and when "
            f"{stored} replies were stored; {len(server.batches.batches)} batch was created",
            ledger=ledger_says(server),
            database=database_says(run),
        )
        assert len(server.batches.batches) == 1
        assert server.ledger.billed == len(set(server.ledger.prompts)) == ITEMS
        assert Job.objects.filter(run=run, status="done").count() == ITEMS
        assert Response.objects.filter(run=run).count() == ITEMS
        assert set(Attempt.objects.filter(job__run=run).values_list("status", flat=True)) == {
            "answered"
        }
        assert Attempt.objects.filter(job__run=run).count() == ITEMS
        uploads = sum((one.method, one.path) == ("POST", "/v1/files") for one in server.requests)
        # Killed before the upload was kept, it is sent again: a file too many, but no batch.
        assert uploads <= 3
        assert Batch.objects.get().state == "read"

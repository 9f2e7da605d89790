"""R25: workers whose clocks are wrong, one of which jumps in the middle of a run."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import connection
from django.utils import timezone

from evaluations.management.commands.serve import worker
from evaluations.models import Attempt, Job
from tests.evaluations.run_world import planned, scripted_endpoint
from tests.faults.services import Process
from tests.faults.site import ROOT, Site
from tests.faults.table import FaultRow, database_says, ledger_says
from tests.faults.test_run_faults import check, finished
from tests.scripted_server import ScriptedServer
from tests.worker_processes import wait_until

pytestmark = pytest.mark.faults
CLOCK = "tests.faults.wrong_clock"


def test_workers_with_wrong_clocks_reap_nothing_early(site: Site, fault_row: FaultRow) -> None:
    """One is an hour ahead, then ten minutes behind; the other is an hour behind."""
    behind, jumping = site.folder / "behind", site.folder / "jumping"
    behind.write_text("-3600")
    jumping.write_text("3600")
    with ScriptedServer(latency=0.3) as server:
        run = planned(scripted_endpoint(server, max_in_flight=8), 240)
        connection.close()
        command = [word.replace("gradeapp", CLOCK) for word in worker().command]
        for file in (behind, jumping):
            environment = {**site.environment, "CLOCK_FILE": str(file)}
            log = site.folder / f"{file.name}.log"
            site.also(Process(command, log, cwd=ROOT, env=environment))
        done = Job.objects.filter(run=run, status="done")
        wait_until(lambda: done.count() >= 60)
        jumping.write_text("-600")
        finished(run)
        check(run, server, 240)
        owners = Counter(Attempt.objects.filter(job__run=run).values_list("status", flat=True))
        now = timezone.now()
        times = Attempt.objects.filter(job__run=run).values_list("sent_at", "finished_at")
        fault_row(
            "R25",
            "two workers, one an hour behind, one an hour ahead that jumps to ten minutes behind "
            "in mid-run",
            ledger=ledger_says(server),
            database=database_says(run),
        )
        assert owners == {"answered": 240}
        assert server.ledger.billed == len(server.requests) == 240
    wrong = [one for pair in times for one in pair if abs((now - one).total_seconds()) > 540]
    assert not wrong, "times are those of the database"

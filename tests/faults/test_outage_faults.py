"""Outages with a real clock, worker and broker: what the server's ledger and the database say."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from django.db import connection

from evaluations.models import Attempt, Job
from evaluations.runs.services.runs import start_run
from tests.evaluations.run_world import planned, scripted_endpoint
from tests.factories import make_dataset, make_question, make_task
from tests.faults.site import Site
from tests.faults.table import FaultRow, database_says, ledger_says
from tests.faults.test_run_faults import check, finished, status_of
from tests.scripted_server import Fault, ScriptedServer, named_fault
from tests.worker_processes import wait_until

pytestmark = pytest.mark.faults
IN_FLIGHT = 64


def test_60_s_of_503_in_a_run_of_1781_fail_nothing(site: Site, fault_row: FaultRow) -> None:
    """R55: the run pauses with its reason, and is finished by itself."""
    began: list[float] = []

    def outage(_prompt: str) -> Fault | None:
        began.append(time.monotonic())
        answered = len(began) <= 400
        over = not answered and began[-1] > began[400] + 60
        return None if answered or over else named_fault("server_error", status=503)

    with ScriptedServer(latency=0.2, faults=outage) as server:
        task = make_task(make_dataset())
        for number in range(1781):
            make_question(task, stem=f"Which one is right in item {number}?\nA. a\nB. b")
        endpoint = scripted_endpoint(server, max_in_flight=IN_FLIGHT)
        run = start_run(endpoint=endpoint, dataset=task.dataset, acting_user=None)
        connection.close()
        site.worker()
        wait_until(lambda: status_of(run) == "paused")
        run.refresh_from_db()
        assert run.pause_reason == "endpoint_errors"
        finished(run)
        check(run, server, 1781)
    failed = Attempt.objects.filter(job__run=run, error="server").count()
    fault_row(
        "R55",
        f"503 for 60 s after 400 of 1,781 items: {failed} calls failed, finished by itself",
        ledger=ledger_says(server),
        database=database_says(run),
    )
    assert failed <= IN_FLIGHT + 20
    assert server.ledger.billed == 1781


def test_html_for_every_call_is_paid_a_few_times_only(site: Site, fault_row: FaultRow) -> None:
    """R20: 200 with an HTML page for 1,000 jobs.

    The first of the two processes of the worker that notices the outage shows it to the other one,
    which does not send what the first has given back.
    """
    with ScriptedServer(latency=0.1, faults=lambda _prompt: named_fault("html")) as server:
        run = planned(scripted_endpoint(server, max_in_flight=IN_FLIGHT), 1000)
        connection.close()
        site.worker()
        wait_until(lambda: status_of(run) == "paused")
        time.sleep(45)
        run.refresh_from_db()
        assert run.pause_reason == "broken_replies"
        assert Counter(Job.objects.filter(run=run).values_list("status", flat=True)) == {
            "pending": 1000
        }
        beyond = server.ledger.billed - IN_FLIGHT
        html = f"{server.ledger.billed} calls billed with {IN_FLIGHT} in flight"
        assert beyond <= 20
        server.endpoint.faults = None
        finished(run)
        check(run, server, 1000)
        fault_row(
            "R20",
            f"200 with an HTML page for each of 1,000 jobs: {html}; then good replies",
            ledger=ledger_says(server),
            database=database_says(run),
        )

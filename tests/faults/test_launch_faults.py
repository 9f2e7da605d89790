"""Runs that are started while others start them too, or while the broker is gone."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from bench.browsing import HOST, Browser
from evaluations.models import Job, Run
from gradeapp.accounts.roles import Role
from tests.evaluations.run_world import scripted_endpoint
from tests.factories import make_dataset, make_question, make_task, make_user
from tests.faults.proxy import Proxy
from tests.faults.services import Redis
from tests.faults.site import Site
from tests.faults.table import FaultRow, database_says, ledger_says
from tests.faults.test_run_faults import check, finished
from tests.scripted_server import ScriptedServer

pytestmark = pytest.mark.faults
RUNS = "/api/v1/runs/"
PRESSES = 100
ASKED = {"endpoint": "scripted", "dataset": "exam"}
Press = Callable[..., tuple[int, dict[str, Any]]]


def api_of(browser: Browser, port: int) -> Press:
    """Post JSON to the API in the session of *browser*; return the status and the body."""
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    headers = {"Content-Type": "application/json", "Cookie": cookies}
    headers["X-CSRFToken"] = browser.cookies["csrftoken"]

    def press(**data: object) -> tuple[int, dict[str, Any]]:
        with closing(HTTPConnection(HOST, port, timeout=60)) as line:
            line.request("POST", RUNS, json.dumps(data), headers)
            answer = line.getresponse()
            return answer.status, json.loads(answer.read())

    return press


def exam(items: int) -> None:
    """The data set that is asked."""
    task = make_task(make_dataset("exam"))
    for number in range(items):
        make_question(task, stem=f"Which one is right in item {number}?\nA. a\nB. b\nC. c")


def test_two_admins_who_press_at_once_start_one_run(site: Site, fault_row: FaultRow) -> None:
    """R26, R27: each press is an own request; one run is made, the others learn its number."""
    people = [make_user(Role.ADMIN, name) for name in ("ada", "bob")]
    exam(10)
    with ScriptedServer() as server:
        scripted_endpoint(server)
        site.web()
        presses = [api_of(site.browser(one), site.port) for one in people]
        connection.close()
        told: list[list[tuple[int, dict[str, Any]]]] = [[], []]
        barrier = Barrier(2, timeout=120)

        def press_often(place: int) -> None:
            for _ in range(PRESSES):
                barrier.wait()
                told[place].append(presses[place](**ASKED))

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(press_often, range(2)))
        answers = [one for each in told for one in each]
        run = Run.objects.get()
        statuses = Counter(status for status, _ in answers)
        refusals = [body for status, body in answers if status == 409]
        fault_row(
            "R26",
            f"two admins start the same run at the same time, {PRESSES} times each: "
            + ", ".join(f"{n} answered {status}" for status, n in sorted(statuses.items())),
            ledger=ledger_says(server),
            database=f"{Run.objects.count()} run; {database_says(run)}",
        )
        assert statuses == {201: 1, 409: 2 * PRESSES - 1}
        assert all(str(run.pk) in json.dumps(body) for body in refusals)
        Run.objects.update(status="stopped")
        connection.close()
        once = [presses[0](**ASKED, idempotency_key="k") for _ in range(5)]
        assert {status for status, _ in once} <= {200, 201}
        assert len({body["id"] for _, body in once}) == 1
        other, _ = presses[0](**ASKED, idempotency_key="k", repeats=2)
        fault_row(
            "R27",
            f"the same request with one key 5 times; another one with that key is answered {other}",
            ledger=ledger_says(server),
            database=f"{Run.objects.count() - 1} run more",
        )
        assert (other, Run.objects.count()) == (422, 2)


@pytest.mark.parametrize("way", ["gone", "silent"])
def test_a_run_that_is_started_without_a_broker_begins_by_itself(
    site: Site, redis_server: Redis, fault_row: FaultRow, way: str
) -> None:
    """R10, R06: the broker is gone, or takes connections and says nothing, at the start."""
    admin = make_user(Role.ADMIN, "ada")
    exam(20)
    with ScriptedServer(latency=0.05) as server, Proxy(redis_server.port) as proxy:
        site.environment["CELERY_BROKER_URL"] = redis_server.url(proxy.port)
        scripted_endpoint(server)
        site.web()
        press = api_of(site.browser(admin), site.port)
        connection.close()
        proxy.refusing, proxy.silent = way == "gone", way == "silent"
        status, body = press(**ASKED)
        assert (status, body["status"]) == (201, "queued"), "no page waits for a broker"
        site.worker()
        time.sleep(5)
        assert Run.objects.get().status == "queued"
        connection.close()
        proxy.refusing = proxy.silent = False
        if way == "silent":
            proxy.reset()
        run = Run.objects.get()
        finished(run)
        check(run, server, 20)
        assert Job.objects.filter(attempts_made=1).count() == 20
        fault_row(
            "R10",
            f"a run is started over HTTP while the broker is {way}; the broker comes back",
            ledger=ledger_says(server),
            database=database_says(run),
        )

"""A run while its database, its broker or its endpoint is gone, and beside marking."""

from __future__ import annotations

import base64
import json
import os
import statistics
import time
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import cycle
from typing import NamedTuple

import pytest
from django.db import connection

from evaluations.models import Attempt, Job, Mark, Response, Run
from evaluations.runs.services.runs import start_run
from gradeapp.accounts.roles import Role
from tests.evaluations.marking_world import small_round
from tests.evaluations.run_world import planned, scripted_endpoint
from tests.factories import make_dataset, make_question, make_task, make_user
from tests.faults.markers import Marking, at_the_desk
from tests.faults.proxy import Proxy
from tests.faults.services import (
    Postgres,
    Process,
    Redis,
    children_of,
    descriptors_of,
    memory_of,
)
from tests.faults.site import Site
from tests.faults.table import FaultRow, database_says, ledger_says
from tests.scripted_server import Fault, ScriptedServer, named_fault
from tests.worker_processes import wait_until

pytestmark = pytest.mark.faults
FINISHED = "finished"
FULL = os.environ.get("GRADEAPP_FULL") == "yes"


def status_of(run: Run) -> str:
    """The status of *run* now; "" while the database does not answer."""
    return Run.objects.values_list("status", flat=True).get(pk=run.pk)


def finished(run: Run, seconds: float = 600) -> None:
    """Wait until *run* is finished."""
    wait_until(lambda: status_of(run) == FINISHED, seconds)


def check(run: Run, server: ScriptedServer, items: int) -> None:
    """The invariants: every item answered once, every billed call accounted for."""
    assert Counter(Job.objects.filter(run=run).values_list("status", flat=True)) == {"done": items}
    answers = Response.objects.filter(run=run)
    assert answers.values("question", "repeat").distinct().count() == answers.count() == items
    states = Counter(Attempt.objects.filter(job__run=run).values_list("status", flat=True))
    assert set(states) <= {"answered", "unknown", "error"}
    assert states["answered"] == items
    assert items <= server.ledger.billed <= items + states["unknown"]


def test_paid_answers_survive_a_restart_of_the_database(
    site: Site, postgres: Postgres, fault_row: FaultRow
) -> None:
    """R12: eight answers are on the way when the database goes for 30 s; none is lost."""
    with ScriptedServer(latency=2.0) as server:
        run = planned(scripted_endpoint(server, max_in_flight=8), 40)
        connection.close()
        site.worker(RUN_LEASE_SECONDS="120")
        wait_until(lambda: server.endpoint.in_flight == 8)
        postgres.stop_at_once()
        sent = len(server.requests)
        time.sleep(30)
        assert len(server.requests) - sent <= 8, "no further call while nothing can be stored"
        postgres.start()
        finished(run)
        check(run, server, 40)
        assert server.ledger.billed == 40, "the eight answers came in through the spool"
        fault_row(
            "R12",
            "PostgreSQL is stopped at once for 30 s while 8 answers are on the way",
            ledger=ledger_says(server),
            database=database_says(run),
        )
    assert not list(site.var.glob("spool/*.jsonl"))


def test_a_storm_of_429_slows_the_run_down_and_loses_nothing(
    site: Site, fault_row: FaultRow
) -> None:
    """R17: everything is 429 for 60 s, with every kind of Retry-After."""
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=5), usegmt=True)
    asked = cycle([None, "2", date, "0", "-1", "abc"])
    begins: list[float] = []

    def storm(prompt: str) -> Fault | None:
        begins.append(time.monotonic())
        ends = begins[0] + 60
        return named_fault("rate_limit", retry_after=next(asked)) if begins[-1] < ends else None

    with ScriptedServer(latency=0.2, faults=storm) as server:
        run = planned(scripted_endpoint(server, max_in_flight=8), 200)
        connection.close()
        site.worker()
        finished(run)
        check(run, server, 200)
        fault_row(
            "R17",
            "every call gets 429 for 60 s, with each kind of Retry-After in turn; 200 items",
            ledger=ledger_says(server),
            database=database_says(run),
        )
    refused = sum(moment < begins[0] + 60 for moment in begins)
    assert refused <= 40, refused
    assert not Job.objects.filter(run=run, status="failed").exists()


def test_an_endpoint_that_asks_for_a_day_pauses_the_run(site: Site, fault_row: FaultRow) -> None:
    """R17: Retry-After of 86400 is not waited for by a busy worker."""
    with ScriptedServer(faults=lambda _: named_fault("rate_limit", retry_after="86400")) as server:
        run = planned(scripted_endpoint(server, max_in_flight=8), 20)
        connection.close()
        site.worker()
        wait_until(lambda: status_of(run) == "paused")
        time.sleep(5)
        assert len(server.requests) <= 16
    run.refresh_from_db()
    assert run.pause_reason == "asked_to_wait"
    fault_row(
        "R17",
        "429 with a Retry-After of a day: the run is paused until then",
        ledger=ledger_says(server),
        database=database_says(run),
    )
    assert run.resume_at
    assert run.resume_at > datetime.now(UTC) + timedelta(hours=23)


def test_two_clocks_do_the_work_of_one(site: Site) -> None:
    """R45: two workers, each with a clock; every item is called and answered once."""
    with ScriptedServer(latency=0.05) as server:
        run = planned(scripted_endpoint(server), 120)
        connection.close()
        site.worker()
        site.worker(CELERY_BROKER_URL="filesystem://localhost")
        finished(run)
        time.sleep(3)
        check(run, server, 120)
        assert server.ledger.billed == 120
        assert Attempt.objects.filter(job__run=run).count() == 120


def test_unknown_messages_do_not_stop_a_worker(
    site: Site, redis_server: Redis, fault_row: FaultRow
) -> None:
    """R37, R47: messages of other versions and random bytes are gone; work goes on.

    On Redis, bytes that are no message end the worker. It is started again, as ``serve`` and
    systemd do, and finds the message gone.
    """
    site.environment["CELERY_BROKER_URL"] = redis_server.url()
    client = redis_server.client()
    with ScriptedServer(latency=0.02) as server:
        run = planned(scripted_endpoint(server), 30)
        connection.close()
        junk = (b"\x00\xff junk", b"{}", b"[1]", json.dumps({"v": 99}).encode())
        for body in junk:
            client.lpush("celery", body)
        for task, arguments, named in (
            ("evaluations.of_a_later_version", [run.pk], {}),
            ("evaluations.look_for_work", [1, 2, 3], {}),
            ("evaluations.look_for_work", [], {"v": 99}),
        ):
            client.lpush("celery", message(task, arguments, named))
        workers = [site.worker()]
        deadline = time.monotonic() + 600
        while status_of(run) != FINISHED:
            assert time.monotonic() < deadline, workers[-1].log.read_text()[-3000:]
            if workers[-1].process.poll() is not None:
                workers.append(site.worker())
            time.sleep(0.2)
        assert len(workers) <= 1 + len(junk)
        check(run, server, 30)
        fault_row(
            "R47",
            "random bytes, unknown tasks, wrong arguments and messages of another version in Redis",
            ledger=ledger_says(server),
            database=database_says(run),
        )


def message(task: str, arguments: list[object], named: dict[str, object]) -> bytes:
    """A message as Celery puts it on Redis."""
    body = json.dumps([arguments, named, {"callbacks": None, "errbacks": None}])
    number = str(uuid.uuid4())
    properties = {
        "correlation_id": number,
        "delivery_mode": 2,
        "delivery_info": {"exchange": "", "routing_key": "celery"},
        "priority": 0,
        "body_encoding": "base64",
        "delivery_tag": number,
    }
    headers = {"lang": "py", "task": task, "id": number, "root_id": number, "parent_id": None}
    return json.dumps(
        {
            "body": base64.b64encode(body.encode()).decode(),
            "content-encoding": "utf-8",
            "content-type": "application/json",
            "headers": headers,
            "properties": properties,
        }
    ).encode()


def test_a_silent_broker_costs_time_and_nothing_else(
    site: Site, redis_server: Redis, fault_row: FaultRow
) -> None:
    """R05, R06 in small: resets, silence, a restart, an emptied broker; the run goes on."""
    with ScriptedServer(latency=0.2) as server, Proxy(redis_server.port) as proxy:
        site.environment["CELERY_BROKER_URL"] = redis_server.url(proxy.port)
        run = planned(scripted_endpoint(server, max_in_flight=4), 200)
        connection.close()
        site.worker()
        wait_until(lambda: Job.objects.filter(run=run, status="done").count() >= 20)
        proxy.reset()
        wait_until(lambda: Job.objects.filter(run=run, status="done").count() >= 50)
        proxy.silent = True
        time.sleep(5)
        proxy.silent = False
        redis_server.stop()
        redis_server.start()
        redis_server.client().flushall()
        finished(run)
        check(run, server, 200)
        assert server.ledger.billed == 200
        fault_row(
            "R05",
            "resets, 5 s of silence, a restart of Redis and FLUSHALL in a run of 200",
            ledger=ledger_says(server),
            database=database_says(run),
        )


def test_marking_stays_usable_beside_a_run(site: Site) -> None:
    """R49: eight teachers at the desk while a run keeps 16 calls in flight."""
    teachers = [make_user(Role.TEACHER, f"marker{n}") for n in range(8)]
    made = small_round(teachers, responses=400)
    with ScriptedServer(latency=0.3) as server:
        run = planned(scripted_endpoint(server, max_in_flight=16), 600, repeats=6)
        site.web()
        markers = at_the_desk(site, made, teachers)
        connection.close()
        with Marking(markers, pause=0.5) as marking:
            wait_until(lambda: marking.saves >= 80)
            alone = [one for marker in markers for one in marker.seconds]
            site.worker()
            wait_until(lambda: server.endpoint.in_flight >= 12)
            before = {marker.name: len(marker.seconds) for marker in markers}
            enough = marking.saves + 160

            def measured() -> bool:
                if Job.objects.filter(run=run, status="done").count() >= 3000:
                    server.endpoint.latency = 5.0  # slower than the marking: the run must not end
                return marking.saves >= enough or marking.failures != []

            wait_until(measured)
            still = status_of(run) != FINISHED
        assert not marking.failures, marking.failures[0]
        assert still, "the run was over before the marking was measured"
    beside = [one for marker in markers for one in marker.seconds[before[marker.name] :]]
    p95, p99 = statistics.quantiles(beside, n=100)[94], statistics.quantiles(beside, n=100)[98]
    p95_alone = statistics.quantiles(alone, n=100)[94]
    print(f"save p95 {p95 * 1000:.0f} ms beside a run, {p95_alone * 1000:.0f} ms alone")
    # The figures are those of a quiet machine.
    assert not FULL or (p95 < 0.3 and p99 < 1.0), (p95, p99)
    assert Mark.objects.count() >= len(beside)


def test_a_long_run_leaks_nothing(site: Site) -> None:
    """R48, 4,800 items instead of 100,000: memory, descriptors and connections stay level."""
    with ScriptedServer(latency=0.02) as server:
        task = make_task(make_dataset())
        for _ in range(600):
            make_question(task)
        endpoint = scripted_endpoint(server, max_in_flight=32)
        run = start_run(endpoint=endpoint, dataset=task.dataset, acting_user=None, repeats=8)
        connection.close()
        worker = site.worker()
        samples: list[Sample] = []
        done = 0
        deadline = time.monotonic() + 1200
        while status_of(run) != FINISHED:
            assert time.monotonic() < deadline, done
            done = Job.objects.filter(run=run, status="done").count()
            now = time.monotonic()
            for pid in processes_of_pool(worker):
                opened = Counter(descriptors_of(pid))
                calls = opened.pop(f"port {server.port}", 0)
                samples.append(Sample(now, done, memory_of(pid), calls, opened.total()))
            time.sleep(0.5)
        check(run, server, 4800)
        assert server.ledger.billed == 4800
    # From a third on: before that, threads still open what each of them keeps.
    early = [one for one in samples if 1600 <= one.done < 3200]
    late = [one for one in samples if one.done >= 3200]
    assert max(one.memory for one in late) < 1.1 * max(one.memory for one in early)
    # A process keeps its connections to the endpoint, as many as it has had calls in flight. That
    # is what grows during a run, up to the limit of the endpoint; everything else stays level.
    assert max(one.calls for one in samples) <= 32
    # A connection that is opened and closed while this process waits for a core is one of them, so
    # single peaks say nothing. A thread that first works late opens a connection to the database,
    # which is three files.
    levels = [statistics.median(most_others(part)) for part in (early, late)]
    assert levels[1] <= levels[0] + 2 * 3, levels
    rate = (late[-1].done - late[0].done) / (late[-1].at - late[0].at)
    print(f"{rate:.0f} items a second on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    assert not FULL or rate >= 50, rate


class Sample(NamedTuple):
    """A process at one time: jobs done by all, bytes, its connections to the endpoint, its others.

    ``others`` are all other descriptors.
    """

    at: float
    done: int
    memory: int
    calls: int
    others: int


def most_others(samples: list[Sample]) -> list[int]:
    """At each time, the other descriptors of the process that has most."""
    by_time: dict[float, int] = {}
    for one in samples:
        by_time[one.at] = max(one.others, by_time.get(one.at, 0))
    return list(by_time.values())


def processes_of_pool(worker: Process) -> list[int]:
    """The processes of a worker that may work on a run."""
    return [pid for child in children_of(worker.pid) for pid in (child, *children_of(child))]


def busiest(worker: Process) -> int | None:
    """The process of the pool that works on the run: the one with the most memory."""
    pids = [pid for child in children_of(worker.pid) for pid in (child, *children_of(child))]
    return max(pids, key=memory_of, default=None)

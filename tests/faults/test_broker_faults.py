"""The broker hangs, forgets, dies, evicts, or delivers a message many times."""

from __future__ import annotations

import sys
from random import Random

import pytest
from django.db import connection

from evaluations.models import Attempt, Job, Run
from evaluations.runs.services.runs import start_run
from gradeapp.redis_policy import eviction
from tests.evaluations.run_world import scripted_endpoint
from tests.factories import make_dataset, make_question, make_task
from tests.faults.proxy import Proxy
from tests.faults.services import Process, Redis
from tests.faults.site import ROOT, Site
from tests.faults.table import FaultRow, database_says, ledger_says
from tests.faults.test_run_faults import check, finished, message, status_of
from tests.scripted_server import ScriptedServer
from tests.worker_processes import wait_until

pytestmark = pytest.mark.faults


def run_of(server: ScriptedServer, name: str, items: int, **options: object) -> Run:
    """A run of an endpoint and an exam of its own."""
    endpoint = scripted_endpoint(server, name=name, model=name, **options)
    task = make_task(make_dataset(name))
    for number in range(items):
        make_question(task, stem=f"{name}: which one is right in item {number}?\nA. a\nB. b")
    return start_run(endpoint=endpoint, dataset=task.dataset, acting_user=None)


def test_a_worker_gets_over_a_broker_that_hangs_and_one_that_dies(
    site: Site, redis_server: Redis, fault_row: FaultRow
) -> None:
    """R06, R05: connections that are silent for ever; then kill -9 of Redis, and a new one."""
    with ScriptedServer(latency=0.2) as server, Proxy(redis_server.port) as proxy:
        site.environment["CELERY_BROKER_URL"] = redis_server.url(proxy.port)
        first = run_of(server, "first", 100, max_in_flight=4)
        connection.close()
        worker = site.worker()
        wait_until(lambda: Job.objects.filter(run=first, status="done").count() >= 20)
        before = proxy.connections
        proxy.forget()
        finished(first)
        connection.close()
        # Nothing but a new message makes the worker begin: its old connections bring none.
        wait_until(lambda: proxy.connections > before)
        second = run_of(server, "second", 100, max_in_flight=4)
        connection.close()
        wait_until(lambda: Job.objects.filter(run=second, status="done").count() >= 20)
        redis_server.server.kill()
        finished(second)
        redis_server.start()
        third = run_of(server, "third", 20)
        finished(third)
        assert worker.process.poll() is None
        runs = (first, second, third)
        fault_row(
            "R06",
            "the connections to Redis fall silent for ever in mid-run, then kill -9 of Redis in a "
            "second run, then a new, empty Redis and a third run; one worker",
            ledger=ledger_says(server),
            database=database_says(*runs),
        )
        assert [status_of(run) for run in runs] == ["finished"] * 3
        assert server.ledger.billed == len(server.requests) == 220


def test_a_redis_that_may_delete_messages_is_named_at_the_start(
    site: Site, redis_server: Redis, fault_row: FaultRow
) -> None:
    """R07: the worker says it once, and works."""
    assert eviction(redis_server.url()) == ""
    redis_server.client().config_set("maxmemory-policy", "allkeys-lru")
    redis_server.client().config_set("maxmemory", "3mb")
    site.environment["CELERY_BROKER_URL"] = redis_server.url()
    with ScriptedServer(latency=0.02) as server:
        run = run_of(server, "evicted", 30)
        connection.close()
        worker = site.worker()
        finished(run)
        check(run, server, 30)
        wait_until(lambda: "maxmemory-policy is allkeys-lru" in worker.log.read_text())
        fault_row(
            "R07",
            "Redis with maxmemory-policy allkeys-lru: the worker warns at its start",
            ledger=ledger_says(server),
            database=database_says(run),
        )
    redis_server.stop()
    assert eviction(redis_server.url()) == eviction("filesystem://localhost") == ""


def test_messages_that_come_again_and_again_do_no_work_twice(
    site: Site, redis_server: Redis, fault_row: FaultRow
) -> None:
    """R08, R09: ten copies of each message, and a visibility timeout shorter than the work."""
    site.environment["CELERY_BROKER_URL"] = redis_server.url()
    random = Random(9)
    with ScriptedServer(latency=0.5) as server:
        runs = [run_of(server, f"run{n}", 80, max_in_flight=2) for n in range(3)]
        connection.close()
        client = redis_server.client()
        copies = [run.pk for run in runs] * 10
        random.shuffle(copies)
        for pk in copies:
            client.lpush("celery", message("evaluations.work_on_run", [pk], {}))
        command = [sys.executable, "-m", "celery", "-q", "-A", "tests.faults.short_visibility"]
        command += ["worker", "--concurrency", "2", "--loglevel", "INFO", "--without-mingle"]
        logs = []
        # A worker looks for messages that were not confirmed in time 10 s after its start.
        for number in range(2):
            log = site.folder / f"short{number}.log"
            logs.append(log)
            with_site = {"cwd": ROOT, "env": site.environment}
            started = Process([*command, "-n", f"short{number}@here"], log, **with_site)
            site.also(started)
            wait_until(lambda log=log: "received" in log.read_text())
        for run in runs:
            finished(run)
        deliveries = sum(log.read_text().count("work_on_run") for log in logs)
        for row, what in (
            (
                "R08",
                "a visibility timeout of 3 s for work of a minute; two workers without a clock",
            ),
            ("R09", f"10 copies of each message for 3 runs in random order, {len(copies)} in all"),
        ):
            fault_row(row, what, ledger=ledger_says(server), database=database_says(*runs))
        print(f"{deliveries} lines on deliveries and ends of work")
        assert server.ledger.billed == len(server.requests) == 240
        assert Attempt.objects.filter(job__run__in=runs).count() == 240

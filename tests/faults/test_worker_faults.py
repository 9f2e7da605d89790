"""Workers that are killed, stopped, starved of memory or started again, in the middle of a run."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from django.db import connection

from evaluations.models import Attempt, Job, Run
from evaluations.runs.rules.owners import owner_in
from evaluations.runs.services.runs import resume_run, stop_run
from gradeapp.common.refusals import Conflict
from tests.evaluations.run_world import planned, scripted_endpoint
from tests.faults.services import Process
from tests.faults.site import Site
from tests.faults.table import FaultRow, database_says, ledger_says
from tests.faults.test_run_faults import check, finished, status_of
from tests.scripted_server import Fault, ScriptedServer
from tests.worker_processes import wait_until

pytestmark = pytest.mark.faults
IN_FLIGHT = 8


def kill_all(worker: Process) -> None:
    """``kill -9`` for a worker and all processes that it started, by its own group."""
    os.killpg(worker.pid, signal.SIGKILL)
    worker.process.wait(timeout=10)


def processes_in(group: int) -> list[str]:
    """What runs in the process group *group*."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.getpgid(int(one.name)) == group:
                found.append((one / "cmdline").read_text().replace("\0", " ")[-300:])
    return [command for command in found if command]  # others have ended


def done_of(run: Run) -> int:
    """How many jobs of *run* are done."""
    return Job.objects.filter(run=run, status="done").count()


def sent_of(run: Run) -> int:
    """How many calls of *run* are under way, or have a reply that is not stored yet."""
    return Attempt.objects.filter(job__run=run, status="sent").count()


def paid_again(server: ScriptedServer) -> Counter[str]:
    """How often each prompt was billed beyond the first time."""
    return Counter(server.ledger.prompts) - Counter(set(server.ledger.prompts))


def test_five_kills_of_the_worker_lose_nothing(site: Site, fault_row: FaultRow) -> None:
    """R01: ``kill -9`` at 10, 30, 50, 70 and 90 % of 500 items, and a new worker each time."""
    with ScriptedServer(latency=0.1) as server:
        run = planned(scripted_endpoint(server, max_in_flight=IN_FLIGHT), 500)
        connection.close()
        lost = 0
        for share in (10, 30, 50, 70, 90):
            worker = site.worker()
            wait_until(lambda enough=share * 5: done_of(run) >= enough)
            # From now on a call takes longer than the test: what was answered before gets stored.
            asked, server.endpoint.latency = len(server.requests) + IN_FLIGHT, 600
            wait_until(lambda asked=asked: len(server.requests) >= asked)
            wait_until(lambda: sent_of(run) == IN_FLIGHT)
            kill_all(worker)
            lost += sent_of(run)
            server.endpoint.latency = 0.1
            assert done_of(run) < 500
        site.worker()
        finished(run)
        check(run, server, 500)
        again = paid_again(server)
        fault_row(
            "R01",
            "kill -9 of the worker and its processes at 10, 30, 50, 70 and 90 % of 500 items",
            ledger=ledger_says(server),
            database=database_says(run),
        )
    unknown = Attempt.objects.filter(job__run=run, status="unknown").count()
    assert sum(again.values()) <= unknown
    # Those in flight. test_worker_kill.py kills where replies have arrived and are not stored yet.
    assert unknown == lost == 5 * IN_FLIGHT


def test_ten_polite_stops_bill_nothing_twice(site: Site, fault_row: FaultRow) -> None:
    """R03: SIGTERM ten times in a run, as by ten deploys."""
    with ScriptedServer(latency=0.5) as server:
        run = planned(scripted_endpoint(server, max_in_flight=IN_FLIGHT), 600)
        connection.close()
        for number in range(10):
            worker = site.worker()
            begun = done_of(run)
            assert begun < 600, f"the worker before went on to the end ({number})"
            wait_until(lambda enough=begun + 5: done_of(run) >= enough)
            worker.process.terminate()
            code = worker.process.wait(timeout=120)
            assert code == 0, (code, number, begun, worker.log.read_text()[-500:])
            assert processes_in(worker.pid) == [], "nobody goes on without the worker"
            assert not Job.objects.filter(run=run, status="leased").exists()
        site.worker()
        finished(run)
        check(run, server, 600)
        fault_row(
            "R03",
            "SIGTERM for the worker ten times in a run of 600, each followed by a new worker",
            ledger=ledger_says(server),
            database=database_says(run),
        )
        assert server.ledger.billed == len(server.requests) == 600


def test_an_item_that_kills_its_worker_stops_no_other_item(site: Site, fault_row: FaultRow) -> None:
    """R04: the process dies, as by the kernel for its memory, whenever one item is in flight."""
    items = 60

    def slow_poison(prompt: str) -> Fault | None:
        return Fault(delay=60) if "in item 7?" in prompt else None

    with ScriptedServer(latency=0.2, faults=slow_poison) as server:
        run = planned(scripted_endpoint(server, max_in_flight=IN_FLIGHT), items)
        poison = Job.objects.get(run=run, question__current__stem__contains="in item 7?")
        connection.close()
        worker = site.worker()
        killed: set[str] = set()

        def held(pid: int) -> bool:
            """Stop the process where no reply waits to be stored; otherwise let it go on."""
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                if sent_of(run) <= IN_FLIGHT:
                    return True
                os.kill(pid, signal.SIGCONT)
            return False

        def kill_whoever_asks() -> bool:
            poison.refresh_from_db()
            owner = poison.lease_owner
            sent = poison.attempts.filter(status="sent").exists()
            process = owner_in(owner) if owner else None
            if sent and process and owner not in killed and held(process.pid):
                killed.add(owner)
                os.kill(process.pid, signal.SIGKILL)
            return status_of(run) == "finished"

        wait_until(kill_whoever_asks, 600)
        assert worker.process.poll() is None, "the worker itself lives"
        jobs = Counter(Job.objects.filter(run=run).values_list("status", flat=True))
        fault_row(
            "R04",
            f"SIGKILL, as by the kernel for its memory, for the process that asks one of {items} "
            f"items, {len(killed)} times",
            ledger=ledger_says(server),
            database=database_says(run),
        )
    assert jobs == {"done": items - 1, "failed": 1}
    assert (poison.status, poison.error, len(killed)) == ("failed", "worker_lost", 4)
    lost = Attempt.objects.filter(job__run=run, error="worker_lost").exclude(job=poison)
    assert lost.count() <= 2 * (IN_FLIGHT - 1), "an item that lost two workers is asked alone"
    assert sum(paid_again(server).values()) <= lost.count() + 3


def test_stops_resumes_and_kills_at_random_converge(site: Site, fault_row: FaultRow) -> None:
    """R36: fifty times at random a person stops or resumes the run, or the worker is killed."""
    random = Random(36)
    with ScriptedServer(latency=0.1) as server:
        run = planned(scripted_endpoint(server, max_in_flight=IN_FLIGHT), 500)
        connection.close()
        worker, counts = site.worker(), Counter[str]()
        for _step in range(50):
            what = random.choices(("stop", "resume", "kill"), (9, 9, 2))[0]
            counts[what] += 1
            run.refresh_from_db()
            with suppress(Conflict):
                if what == "stop":
                    stop_run(run, acting_user=None)
                elif what == "resume":
                    resume_run(run, acting_user=None)
                else:
                    kill_all(worker)
                    worker = site.worker()
            connection.close()
            time.sleep(random.random())
        deadline = time.monotonic() + 600
        while status_of(run) != "finished":
            assert time.monotonic() < deadline, status_of(run)
            run.refresh_from_db()
            with suppress(Conflict):
                if run.status == "stopped":
                    resume_run(run, acting_user=None)
            time.sleep(0.2)
        check(run, server, 500)
        fault_row(
            "R36",
            f"at random in a run of 500: {counts['stop']} stops, {counts['resume']} resumes and "
            f"{counts['kill']} kills of the worker",
            ledger=ledger_says(server),
            database=database_says(run),
        )
        unknown = Attempt.objects.filter(job__run=run, status="unknown").count()
        assert sum(paid_again(server).values()) <= unknown

"""Two workers in network and process namespaces of their own, as two machines, share one run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest
from django.db import connection

from evaluations.management.commands.serve import worker
from evaluations.models import Attempt, Job
from tests.evaluations.run_world import planned, scripted_endpoint
from tests.faults.proxy import Proxy
from tests.faults.services import Postgres, Process, Redis, program
from tests.faults.site import ROOT, Site
from tests.faults.table import FaultRow, database_says, ledger_says
from tests.faults.test_run_faults import check, finished
from tests.scripted_server import ScriptedServer
from tests.worker_processes import wait_until

pytestmark = pytest.mark.faults
ITEMS = 240
IN_FLIGHT = 8


def ip(*words: str) -> subprocess.CompletedProcess[str]:
    """Run ``ip``."""
    return subprocess.run(
        [program("ip"), *words], capture_output=True, text=True, timeout=30, check=False
    )


@dataclass(frozen=True)
class Machine:
    """A network namespace; from it the test's machine is *gateway*, and nothing else is seen."""

    name: str
    gateway: str

    def command(self, *words: str, own_processes: bool = False) -> list[str]:
        """The command that runs *words* there, with ids of processes of its own if wanted."""
        alone = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        return [
            program("ip"),
            "netns",
            "exec",
            self.name,
            *(alone if own_processes else ()),
            *words,
        ]


@contextmanager
def machine(number: int) -> Iterator[Machine]:
    """A namespace with a line to this machine; the test is skipped where that is not allowed."""
    name, net = f"faults-{os.getpid()}-{number}", f"10.213.{number}"
    here, there = f"f{os.getpid() % 100000}h{number}", f"f{os.getpid() % 100000}t{number}"
    made = ip("netns", "add", name)
    if made.returncode:
        pytest.skip(f"no network namespaces here: {made.stderr.strip()}")
    try:
        for line in (
            f"link add {here} type veth peer name {there} netns {name}",
            f"addr add {net}.1/30 dev {here}",
            f"link set {here} up",
            f"-n {name} addr add {net}.2/30 dev {there}",
            f"-n {name} link set {there} up",
            f"-n {name} link set lo up",
        ):
            done = ip(*line.split())
            if done.returncode:
                pytest.skip(f"no virtual network here: {done.stderr.strip()}")
        yield Machine(name, f"{net}.1")
    finally:
        ip("netns", "del", name)


def test_one_of_two_machines_dies_and_the_other_finishes(
    site: Site, postgres: Postgres, redis_server: Redis, fault_row: FaultRow
) -> None:
    """They share PostgreSQL, Redis and a run; the one cannot see that the other is dead."""
    site.environment["CELERY_BROKER_URL"] = redis_server.url()
    # The first to begin does little before the other one has begun too.
    with ScriptedServer(latency=5.0) as server, ExitStack() as stack:
        run = planned(scripted_endpoint(server, max_in_flight=IN_FLIGHT), ITEMS)
        connection.close()
        ports = (postgres.port, redis_server.port, server.port)
        workers = []
        for number in (1, 2):
            one = stack.enter_context(machine(number))
            for port in ports:
                stack.enter_context(Proxy(port, host=one.gateway, listen=port))
            log = site.folder / f"machine{number}.log"
            options = {"cwd": ROOT, "env": site.environment}
            passing = [sys.executable, "-m", "tests.faults.proxy", one.gateway, *map(str, ports)]
            stack.callback(Process(one.command(*passing), log, **options).stop)
            command = one.command(*worker().command, "-n", f"w{number}@here", own_processes=True)
            workers.append(Process(command, log, **options))
            stack.callback(workers[-1].stop)
        attempts = Attempt.objects.filter(job__run=run)

        def places() -> set[str]:
            owners = Job.objects.filter(run=run, status="leased").values_list(
                "lease_owner", flat=True
            )
            return {owner.split(":")[-1] for owner in owners}

        wait_until(lambda: len(places()) == 2)
        server.endpoint.latency = 0.3
        os.killpg(workers[0].pid, signal.SIGKILL)
        left = ITEMS - Job.objects.filter(run=run, status="done").count()
        finished(run)
        check(run, server, ITEMS)
        again = Counter(server.ledger.prompts) - Counter(set(server.ledger.prompts))
        unknown = attempts.filter(status="unknown").count()
        fault_row(
            "R01",
            f"two machines (network and process namespaces) share a run of {ITEMS}; one gets kill "
            "-9, the other cannot see it and waits for the lease to end",
            ledger=ledger_says(server),
            database=database_says(run),
        )
    assert left > 0
    assert sum(again.values()) <= unknown <= 2 * IN_FLIGHT

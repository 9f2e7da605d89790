"""Runs against an endpoint that others wrote (@copilotkit/aimock), which fails in many ways."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from evaluations.management.commands.serve import free_port
from evaluations.models import Attempt, Job, Response, Run
from evaluations.runs.services.endpoints import save_endpoint
from evaluations.runs.services.job_queue import MOST_ATTEMPTS
from evaluations.runs.services.runs import start_run
from tests.evaluations.run_world import planned
from tests.factories import make_dataset, make_question, make_task
from tests.faults.proxy import Proxy
from tests.faults.services import FIRST_PORT, HOST, Process
from tests.faults.site import Site
from tests.faults.table import FOREIGN, FaultRow, database_says, ledger_of
from tests.faults.test_run_faults import finished, status_of
from tests.worker_processes import wait_until

pytestmark = pytest.mark.faults
PACKAGE = Path(__file__).parent / "aimock"
PROGRAM = PACKAGE / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
# Its answer to every message.
TEXT = "【答案】B <eoa>"
ALWAYS = {"match": {"userMessage": ""}, "response": {"content": TEXT}}
CHAOS = ("drop", "malformed", "disconnect", "ratelimit")
EACH = "0.06"
ITEMS = 100
IN_FLIGHT = 4


def get(port: int, path: str) -> Any:
    """What the endpoint says of itself, as JSON."""
    with closing(HTTPConnection(HOST, port, timeout=30)) as asked:
        asked.request("GET", path)
        return json.loads(asked.getresponse().read())


def answers(port: int) -> bool:
    """Whether it is there."""
    try:
        get(port, "/v1/_requests")
    except OSError:
        return False
    return True


@contextmanager
def foreign_endpoint(
    folder: Path, fixtures: Sequence[dict[str, Any]] = (ALWAYS,), *, chaos: bool = True
) -> Iterator[int]:
    """The port of an endpoint with these *fixtures*; it fails in the ways of ``CHAOS``."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed on this machine")
    if not PROGRAM.is_file():
        pytest.skip("@copilotkit/aimock is not installed; make faults does it where npm is")
    (folder / "all.json").write_text(json.dumps({"fixtures": list(fixtures)}), encoding="utf-8")
    port = free_port(HOST, FIRST_PORT + 12_000)
    command = [node, str(PROGRAM), "-h", HOST, "-p", str(port), "-f", str(folder / "all.json")]
    command += ["--strict", "--log-level", "warn", "--journal-max", "0"]
    for way in CHAOS if chaos else ():
        command += [f"--chaos-{way}", EACH]
    process = Process(command, folder / "aimock.log")
    try:
        process.ready(lambda: answers(port))
        yield port
    finally:
        process.stop()


def test_a_run_survives_an_endpoint_that_fails_at_random(
    site: Site, tmp_path: Path, fault_row: FaultRow
) -> None:
    """R18, R20 by the book of somebody else: no good answer is lost, none is asked for again."""
    with foreign_endpoint(tmp_path) as port:
        endpoint = save_endpoint(
            name="foreign",
            base_url=f"http://{HOST}:{port}/v1",
            model="any",
            acting_user=None,
            max_in_flight=IN_FLIGHT,
        )
        run = planned(endpoint, ITEMS)
        connection.close()
        site.worker()
        finished(run)
        book_of_run = [one for one in get(port, "/v1/_requests") if one["method"] == "POST"]
    book = [one["response"] for one in book_of_run]
    ways = Counter(one.get("chaosAction", "") for one in book)
    assert len(ways) > 1, "it never failed"
    attempts = Attempt.objects.filter(job__run=run)
    assert attempts.count() == len(book)
    assert attempts.filter(status="answered").count() == ways[""]
    jobs = Counter(Job.objects.filter(run=run).values_list("status", flat=True))
    assert set(jobs) <= {"done", "failed"}
    assert jobs["done"] == ways[""] == Response.objects.filter(run=run, text=TEXT).count()
    for job in Job.objects.filter(run=run, status="failed"):
        # A call that may have been billed is repeated once.
        billed = job.attempts.filter(status="unknown").count()
        assert job.attempts_made == MOST_ATTEMPTS or billed == 2, (job.attempts_made, billed)
    fault_row(
        "R20",
        f"each of {', '.join(CHAOS)} with a probability of {EACH}, {ITEMS} items; of the calls "
        + ", ".join(f"{n} {way or 'answered'}" for way, n in sorted(ways.items())),
        server=FOREIGN,
        ledger=says_of(book_of_run),
        database=database_says(run),
    )


# What the endpoint does with the calls of the model of this name.
FIXTURES = {
    "R01": {"response": {"content": TEXT}},
    "R17": {"response": {"content": TEXT}, "chaos": {"rateLimitRate": 0.3}},
    "R18": {"response": {"content": TEXT}, "chaos": {"dropRate": 0.06}},
    "R21": {
        "response": {
            "error": {"message": "Incorrect API key", "code": "invalid_api_key"},
            "status": 401,
        }
    },
    "R22": {
        "response": {"error": {"message": "no credit", "code": "insufficient_quota"}, "status": 429}
    },
    "R55": {"response": {"content": TEXT}},
}
DONE = {
    "R01": "kill -9 of the worker in the middle, and a new one",
    "R17": "3 of 10 calls at random get 429 with Retry-After",
    "R18": "6 of 100 calls at random get 500",
    "R21": "every call gets 401",
    "R22": "every call gets 429 insufficient_quota",
    "R55": "all connections refused for 20 s in the middle",
}
PAUSED = {"R21": "auth", "R22": "quota"}


def test_runs_of_an_endpoint_of_others_lose_nothing(
    site: Site, tmp_path: Path, fault_row: FaultRow
) -> None:
    """R01, R17, R18, R21, R22, R55 at the same time; the book is that of the endpoint."""
    loaded = [{"match": {"model": row}, **made} for row, made in FIXTURES.items()]
    with foreign_endpoint(tmp_path, loaded, chaos=False) as port, Proxy(port) as proxy:
        runs = {row: run_at(proxy.port if row == "R55" else port, row) for row in FIXTURES}
        connection.close()
        worker = site.worker()
        jobs = Job.objects.filter(status="done")
        wait_until(lambda: min(jobs.filter(run=runs[r]).count() for r in ("R01", "R55")) >= 10)
        os.killpg(worker.pid, signal.SIGKILL)
        proxy.refusing = True
        proxy.reset()
        site.worker()
        time.sleep(20)
        proxy.refusing = False
        for row, run in runs.items():
            end = "paused" if row in PAUSED else "finished"
            wait_until(lambda run=run, end=end: status_of(run) == end)
        book = [one for one in get(port, "/v1/_requests") if one["method"] == "POST"]
    for row, run in runs.items():
        own = [one for one in book if one["body"]["model"] == row]
        good = [one for one in own if one["response"]["status"] == 200]
        attempts = Attempt.objects.filter(job__run=run)
        states = Counter(Job.objects.filter(run=run).values_list("status", flat=True))
        run.refresh_from_db()
        if row in PAUSED:
            assert (run.pause_reason, states) == (PAUSED[row], {"pending": ITEMS})
            assert len(own) <= 2 * IN_FLIGHT + 2, "two workers met the wall"
        else:
            assert states == {"done": ITEMS}, (row, states)
            assert Response.objects.filter(run=run, text=TEXT).count() == ITEMS
            unknown = attempts.filter(status="unknown").count()
            assert ITEMS <= len(good) <= ITEMS + unknown, (row, len(good), unknown)
            lost = 3 if row == "R55" else 2
            assert unknown <= lost * IN_FLIGHT, "only the kill and the reset lose answers"
        fault_row(row, DONE[row], server=FOREIGN, ledger=says_of(own), database=database_says(run))


def run_at(port: int, row: str) -> Run:
    """A run of the model *row*, over an exam of its own."""
    endpoint = save_endpoint(
        name=row,
        base_url=f"http://{HOST}:{port}/v1",
        model=row,
        acting_user=None,
        max_in_flight=IN_FLIGHT,
    )
    task = make_task(make_dataset(row.lower()))
    for number in range(ITEMS):
        make_question(task, stem=f"Which one is right in item {number}?\nA. a\nB. b")
    return start_run(endpoint=endpoint, dataset=task.dataset, acting_user=None)


def says_of(book: Sequence[dict[str, Any]]) -> str:
    """What the endpoint's own list of requests says, as the ledger of ours."""
    good = [one for one in book if one["response"]["status"] == 200]
    lost = ("chaosAction" in one["response"] for one in good)
    answered = [one for one, bad in zip(good, lost, strict=True) if not bad]
    prompts = [json.dumps(one["body"]["messages"]) for one in answered]
    return ledger_of(prompts, len(book))

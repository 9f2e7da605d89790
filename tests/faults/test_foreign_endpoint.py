"""A run against an endpoint that others wrote (@copilotkit/aimock), which fails at random."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from evaluations.management.commands.serve import free_port
from evaluations.models import Attempt, Job, Response
from evaluations.runs.services.endpoints import save_endpoint
from evaluations.runs.services.job_queue import MOST_ATTEMPTS
from tests.evaluations.run_world import planned
from tests.faults.services import FIRST_PORT, HOST, Process
from tests.faults.site import Site
from tests.faults.test_run_faults import finished

pytestmark = pytest.mark.faults
PACKAGE = Path(__file__).parent / "aimock"
PROGRAM = PACKAGE / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
# Its answer to every message.
TEXT = "【答案】B <eoa>"
ALWAYS = {"match": {"userMessage": ""}, "response": {"content": TEXT}}
CHAOS = ("drop", "malformed", "disconnect", "ratelimit")
EACH = "0.06"
ITEMS = 100


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
def foreign_endpoint(folder: Path) -> Iterator[int]:
    """The port of an endpoint that fails in each of the ways of ``CHAOS`` now and then."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed on this machine")
    if not PROGRAM.is_file():
        pytest.skip("@copilotkit/aimock is not installed; make faults does it where npm is")
    (folder / "all.json").write_text(json.dumps({"fixtures": [ALWAYS]}), encoding="utf-8")
    port = free_port(HOST, FIRST_PORT + 12_000)
    command = [node, str(PROGRAM), "-h", HOST, "-p", str(port), "-f", str(folder / "all.json")]
    command += ["--strict", "--log-level", "warn", "--journal-max", "0"]
    for way in CHAOS:
        command += [f"--chaos-{way}", EACH]
    process = Process(command, folder / "aimock.log")
    try:
        process.ready(lambda: answers(port))
        yield port
    finally:
        process.stop()


def test_a_run_survives_an_endpoint_that_fails_at_random(site: Site, tmp_path: Path) -> None:
    """R18, R20 by the book of somebody else: no good answer is lost, none is asked for again."""
    with foreign_endpoint(tmp_path) as port:
        endpoint = save_endpoint(
            name="foreign",
            base_url=f"http://{HOST}:{port}/v1",
            model="any",
            acting_user=None,
            max_in_flight=4,
        )
        run = planned(endpoint, ITEMS)
        connection.close()
        site.worker()
        finished(run)
        book = [one["response"] for one in get(port, "/v1/_requests") if one["method"] == "POST"]
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
    print(dict(ways), dict(jobs))

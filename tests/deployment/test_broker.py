"""The embedded broker and the worker on it outlive every file that is no message of ours."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from celery import Celery
from kombu import Connection

from tests.worker_processes import ROOT, kill, wait_until

QUEUE = "celery"


@pytest.fixture
def broker(tmp_path: Path) -> Celery:
    """A sender of tasks on an embedded broker of its own."""
    app = Celery("sender", broker="filesystem://localhost", set_as_current=False)
    app.conf.broker_transport = "gradeapp.broker:Transport"
    app.conf.broker_transport_options = {"folder": str(tmp_path / "broker")}
    return app


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Path]:
    """The log of a worker that runs on the broker, without a clock and without a database."""
    log = tmp_path / "log"
    command = [sys.executable, "-m", "celery", "-A", "gradeapp", "worker"]
    options = ["--concurrency", "1", "--loglevel", "INFO", "--without-mingle", "--without-gossip"]
    here = {"GRADEAPP_VAR": str(tmp_path), "CELERY_BROKER_URL": "", "DATABASE_URL": ""}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *options],
            cwd=ROOT,
            env=os.environ | here,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        wait_until(lambda: " ready." in log.read_text(), 60)
        yield log
        assert process.poll() is None, "the worker ended"
    finally:
        kill(process)


def message(task: object, arguments: object, **changes: object) -> bytes:
    """A message as Celery sends it, with *changes*."""
    info = {"exchange": "", "routing_key": QUEUE}
    whole: dict[str, Any] = {
        "body": base64.b64encode(json.dumps(arguments).encode()).decode(),
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": {"task": task, "id": f"broken-{time.time_ns()}", "lang": "py"},
        "properties": {"delivery_info": info, "delivery_tag": "t", "body_encoding": "base64"},
    }
    return json.dumps(whole | changes).encode()


NOTHING = [[], {}, {}]
GOOD = "celery.accumulate"
BROKEN = {
    "half": message(GOOD, NOTHING)[:80],
    "empty": b"",
    "bytes": os.urandom(200),
    "deep": b"[" * 100_000,
    "list": b"[1, 2]",
    "no-base64": message(GOOD, NOTHING, body="*"),
    "no-headers": message(GOOD, NOTHING, headers=None),
    "list-as-name": message(["x"], NOTHING),
    "no-triple": message(GOOD, [1]),
    "pickle": message(GOOD, NOTHING, **{"content-type": "application/x-python-serialize"}),
    "charset": message(GOOD, NOTHING, **{"content-encoding": "no-such-charset"}),
    "no-task": message(GOOD, NOTHING, headers={}),
    "properties": message(GOOD, NOTHING, properties={"delivery_tag": "t"}),
}
REFUSED = {
    "unknown": message("no.such.task", NOTHING),
    "arguments": message("evaluations.look_for_work", [[1, 2, 3], {"x": 1}, {}]),
}


def test_the_worker_lives_on_and_runs_the_next_task(
    broker: Celery, worker: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "broker" / "queue"
    for number, (name, data) in enumerate({**BROKEN, **REFUSED}.items()):
        (folder / f"{number:020}_{name}.{QUEUE}.msg").write_bytes(data)
    broker.send_task(GOOD, ("next",), task_id="next")
    wait_until(lambda: f"Task {GOOD}[next] succeeded" in worker.read_text(), 20)
    aside = {file.name.split("_")[1] for file in (tmp_path / "broker" / "broken").iterdir()}
    assert aside == {f"{name}.{QUEUE}.msg" for name in BROKEN}
    log = worker.read_text()
    assert log.count("set a broken message aside") == len(BROKEN)
    assert "no.such.task" in log
    assert not list(folder.iterdir())


def test_many_processes_take_each_message_once(broker: Celery, tmp_path: Path) -> None:
    for number in range(60):
        broker.send_task("any", (number,))

    def take(_: int) -> list[int]:
        taken = []
        with Connection(
            "filesystem://localhost",
            transport="gradeapp.broker:Transport",
            transport_options={"folder": str(tmp_path / "broker")},
        ) as connection:
            queue = connection.SimpleQueue(QUEUE)
            try:
                while True:
                    got = queue.get(block=False)
                    got.ack()
                    taken.append(got.payload[0][0])
            except Empty:
                return taken

    with ThreadPoolExecutor(4) as pool:
        lists = list(pool.map(take, range(4)))
    assert sorted(number for numbers in lists for number in numbers) == list(range(60))

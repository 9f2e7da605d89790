"""Children run together and stop together: real processes, real signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradeapp.supervisor import MOST_QUICK_EXITS, Child, Supervisor

ROOT = Path(__file__).resolve().parent.parent
PARENT = """
import sys
from gradeapp.supervisor import Child, Supervisor
child = "import sys, time; open(sys.argv[1], 'w').write('up'); time.sleep(600)"
children = [Child(name, [sys.executable, '-c', child, name]) for name in sys.argv[1:]]
sys.exit(Supervisor(children, print).run())
"""


def alive(marker: str) -> bool:
    """Whether a process still has *marker* on its command line."""
    listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return any(marker in line for line in listing.stdout.splitlines())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_stops_everything(number: signal.Signals, tmp_path: Path) -> None:
    files = [tmp_path / "web", tmp_path / "worker"]
    command = [sys.executable, "-c", PARENT, *map(str, files)]
    parent = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    deadline = time.monotonic() + 20
    while not all(file.exists() for file in files) and time.monotonic() < deadline:
        time.sleep(0.05)
    parent.send_signal(number)
    assert parent.wait(timeout=20) == 0
    assert not alive(str(files[0]))
    assert not alive(str(files[1]))


def test_a_child_that_cannot_stay_up_ends_it_with_a_sentence() -> None:
    said: list[str] = []
    child = Child("The web server", [sys.executable, "-c", "raise SystemExit(3)"])
    supervisor = Supervisor([child], said.append)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        assert supervisor.run() == 1
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert said[-1] == "The web server does not stay up; see its message above."
    assert len(said) == MOST_QUICK_EXITS


def test_each_round_is_told_while_the_children_run() -> None:
    rounds: list[int] = []
    child = Child("The worker", [sys.executable, "-c", "import time; time.sleep(600)"])
    supervisor = Supervisor([child], print, each_round=lambda: rounds.append(1))
    supervisor.sleep = lambda _: supervisor.ask_to_stop() if len(rounds) == 3 else time.sleep(0.01)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        assert supervisor.run() == 0
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert len(rounds) == 3
    assert child.ended()

"""Keeps a few child processes running together and stops them together.

Each child gets its own session, so that Ctrl-C reaches only the supervisor,
which then lets the children finish what they hold. A child that dies is started
again; one that dies at once, several times, ends everything with a sentence.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

GRACE_SECONDS = 20.0
TOO_SOON_SECONDS = 5.0
MOST_QUICK_EXITS = 3


@dataclass
class Child:
    """One process: what it is called, how it starts, and how it fared."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    quick_exits: int = 0

    def start(self, now: float) -> None:
        """Start the process in a session of its own."""
        environment = {**os.environ, **self.environment}
        self.process = subprocess.Popen(
            list(self.command), env=environment, stdin=subprocess.DEVNULL, start_new_session=True
        )
        self.started = now

    def ended(self) -> bool:
        """Whether the process was started and is gone."""
        return self.process is not None and self.process.poll() is not None

    def ask_to_stop(self) -> None:
        """Tell the process alone: it knows best how its own children end well."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def kill(self) -> None:
        """End the process and everything it started and left behind."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return


class Supervisor:
    """Runs children until one cannot stay up or somebody asks to stop."""

    def __init__(
        self,
        children: Sequence[Child],
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        each_round: Callable[[], None] = lambda: None,
    ) -> None:
        self.children = list(children)
        self.say = say
        self.clock = clock
        self.sleep = sleep
        self.each_round = each_round
        self.stopping = False

    def ask_to_stop(self, *_: object) -> None:
        """The handler of SIGINT and SIGTERM."""
        self.stopping = True

    def run(self) -> int:
        """Start all, watch, stop all. 0 after a wish to stop, 1 after a child that cannot stay."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.ask_to_stop)
        try:
            for child in self.children:
                child.start(self.clock())
            while not self.stopping:
                if not self.restart_the_dead():
                    return 1
                self.each_round()
                self.sleep(0.1)
            return 0
        finally:
            self.stop_all()

    def restart_the_dead(self) -> bool:
        """Start ended children again; False when one dies at once again and again."""
        for child in self.children:
            if not child.ended():
                continue
            quick = self.clock() - child.started < TOO_SOON_SECONDS
            child.quick_exits = child.quick_exits + 1 if quick else 0
            if child.quick_exits >= MOST_QUICK_EXITS:
                self.say(f"{child.name} does not stay up; see its message above.")
                return False
            self.say(f"{child.name} ended; starting it again.")
            child.kill()  # what a killed process left behind would go on beside its successor
            child.start(self.clock())
        return True

    def stop_all(self) -> None:
        """Ask politely, wait, then insist."""
        for child in reversed(self.children):
            child.ask_to_stop()
        deadline = self.clock() + GRACE_SECONDS
        for child in self.children:
            while not child.ended() and child.process and self.clock() < deadline:
                self.sleep(0.1)
        for child in self.children:
            child.kill()

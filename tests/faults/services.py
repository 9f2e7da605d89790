"""A PostgreSQL and a Redis of a test's own: started in a folder, killed by their own pid."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from evaluations.management.commands.serve import free_port

HOST = "127.0.0.1"
FIRST_PORT = 21000 + os.getpid() % 1000 * 8


def program(name: str) -> str:
    """The path of a program of the machine; the test is skipped where there is none."""
    beside = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    found = shutil.which(name) or (str(beside[0]) if beside else None)
    if found is None:
        pytest.skip(f"{name} is not installed on this machine")
    return found


def unprivileged() -> dict[str, Any]:
    """What makes a child run as somebody else than root: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    names = {one.pw_name: one for one in pwd.getpwall()}
    person = names.get("postgres") or names["nobody"]
    return {"user": person.pw_uid, "group": person.pw_gid, "extra_groups": []}


class Process:
    """A child in a session of its own; :meth:`stop` leaves nothing behind."""

    def __init__(self, command: Sequence[str], log: Path, **options: Any) -> None:
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                list(command), stdout=output, stderr=output, start_new_session=True, **options
            )
        self.log = log

    @property
    def pid(self) -> int:
        """Of the main process."""
        return self.process.pid

    def ready(self, answers: Callable[[], bool], seconds: float = 300) -> None:
        """Wait until the process does its work; raise with its log if it ends before."""
        deadline = time.monotonic() + seconds
        while not answers():
            ended = self.process.poll() is not None
            if ended or time.monotonic() > deadline:
                raise AssertionError(self.log.read_text(encoding="utf-8", errors="replace")[-3000:])
            time.sleep(0.05)

    def kill(self) -> None:
        """``kill -9`` for the main process alone."""
        self.process.kill()
        self.process.wait(timeout=10)

    def stop(self, seconds: float = 20) -> None:
        """Ask politely, then kill the whole session."""
        if self.process.poll() is None:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=seconds)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.process.wait(timeout=10)


class Postgres:
    """A PostgreSQL cluster in *folder*, with durability as in production."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port(HOST, FIRST_PORT)
        self.options = unprivileged()
        initdb = program("initdb")
        folder.mkdir(parents=True)
        if self.options:
            os.chown(folder, self.options["user"], self.options["group"])
        self._data = folder / "data"
        command = [initdb, "-D", str(self._data), "-U", "postgres", "--auth", "trust"]
        subprocess.run(
            [*command, "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync"],
            check=True,
            cwd=folder,
            capture_output=True,
            timeout=300,
            **self.options,
        )
        self.server: Process | None = None
        self.start()

    def start(self, **settings: str) -> None:
        """Start, or start again what was killed; return when it takes connections."""
        named = {
            "listen_addresses": HOST,
            "port": str(self.port),
            "unix_socket_directories": str(self.folder),
            "max_connections": "60",
            **settings,
        }
        command = [program("postgres"), "-D", str(self._data)]
        for name, value in named.items():
            command += ["-c", f"{name}={value}"]
        deadline = time.monotonic() + 300
        while True:
            log = self.folder.parent / f"{self.folder.name}.log"
            self.server = Process(command, log, cwd=self.folder, **self.options)
            try:
                self.server.ready(self.answers)
            except AssertionError:
                # The children of a killed postmaster hold its memory for a moment.
                if time.monotonic() > deadline or "still in use" not in log.read_text():
                    raise
                time.sleep(0.2)
                continue
            return

    def answers(self) -> bool:
        """Whether it takes connections."""
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def url(self, database: str, port: int | None = None) -> str:
        """The address of *database*, by way of a proxy if *port* is given."""
        return f"postgresql://postgres@{HOST}:{port or self.port}/{database}"

    def run(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run one statement outside a transaction; its rows, if it has any."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def kill(self) -> None:
        """``kill -9`` for the postmaster: no checkpoint, no goodbye."""
        assert self.server is not None
        self.server.kill()

    def stop_at_once(self) -> None:
        """An immediate shutdown, as ``pg_ctl stop -m immediate``."""
        assert self.server is not None
        os.kill(self.server.pid, signal.SIGQUIT)
        self.server.process.wait(timeout=20)

    def stop(self) -> None:
        """End the cluster."""
        if self.server is not None and self.server.process.poll() is None:
            self.stop_at_once()


class Redis:
    """A Redis without persistence: a broker that may be emptied at any time."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port(HOST, FIRST_PORT + 4000)
        folder.mkdir(parents=True)
        self.start()

    def start(self) -> None:
        """Start, or start again; return when it answers."""
        command = [program("redis-server"), "--port", str(self.port), "--bind", HOST]
        command += ["--save", "", "--appendonly", "no", "--dir", str(self.folder)]
        self.server = Process(command, self.folder / "log")
        self.server.ready(self.answers)

    def answers(self) -> bool:
        """Whether it answers."""
        try:
            with closing(self.client()) as client:
                return bool(client.ping())
        except redis.ConnectionError:
            return False

    def client(self) -> redis.Redis:
        """A client of its only database."""
        return redis.Redis(HOST, self.port, socket_timeout=5)

    def url(self, port: int | None = None) -> str:
        """Its address for Celery."""
        return f"redis://{HOST}:{port or self.port}/0"

    def stop(self) -> None:
        """End it."""
        self.server.stop(5)


def memory_of(pid: int) -> int:
    """Resident memory of a process in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
    return int(kilobytes) * 1024


def descriptors_of(pid: int) -> list[str]:
    """What each open file descriptor of a process leads to: a path, or ``port N`` of a peer.

    Peers are read before and after, as connections are opened and closed meanwhile.
    """
    before = _peers_of(pid)
    targets = []
    for one in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            targets.append(str(one.readlink()))
    peers = _peers_of(pid) | before
    return [peers.get(target, target.partition(":")[0]) for target in targets]


def _peers_of(pid: int) -> dict[str, str]:
    """The ``port N`` at the other end of each connection that a process can see, by its socket."""
    lines = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
    columns = [line.split() for line in lines]
    return {
        f"socket:[{inode}]": f"port {int(peer.partition(':')[2], 16)}"
        for _place, _local, peer, *_rest, inode in (line[:10] for line in columns)
    }


def children_of(pid: int) -> list[int]:
    """The pids of the direct children of a process."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in listed.split()]

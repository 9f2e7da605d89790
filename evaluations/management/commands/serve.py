"""Start and stop the web server and the worker together; with --demo the models too."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import stat
import sys
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import OperationalError

from evaluations.demo import save_demo_endpoints
from evaluations.llm import local_model
from gradeapp.accounts.demo import DEMO_PEOPLE
from gradeapp.common.refusals import Refusal
from gradeapp.start_rules import check_bind, usable
from gradeapp.supervisor import Child, Supervisor

FIRST_MODEL_PORT = 8091
LAST_PORT = 65_535


def port_number(text: str) -> int:
    """Return the number of a port, as the ``type`` of an argument."""
    if not re.fullmatch("[0-9]{1,5}", text) or not 1 <= int(text) <= LAST_PORT:
        raise ArgumentTypeError(f"must be a whole number from 1 to {LAST_PORT}, not {text}")
    return int(text)


def port_is_free(host: str, port: int) -> bool:
    """Return whether *port* is free."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def hold_port(host: str, port: int) -> socket.socket | None:
    """Return a socket that holds *port* against other starts of this command; None if it is taken.

    The server itself binds its TCP port seconds later. The socket is of UDP, which no server here
    uses, and holds the number until it is closed or this process ends.
    """
    held = socket.socket(type=socket.SOCK_DGRAM)
    try:
        held.bind((host, port))
    except OSError:
        held.close()
        return None
    if port_is_free(host, port):
        return held
    held.close()
    return None


def web(host: str, port: int) -> Child:
    """Return gunicorn, whose workers read each request whole before a thread gets it."""
    command = [sys.executable, "-m", "gunicorn", "--config", "python:gradeapp.gunicorn_config"]
    return Child("The web server", [*command, "--bind", f"{host}:{port}"])


def worker() -> Child:
    """Return Celery with its scheduler, which finds work whose messages were lost."""
    command = [sys.executable, "-m", "celery", "-q", "-A", "gradeapp", "worker", "--beat"]
    options = ["--concurrency", "2", "--loglevel", "WARNING", "--without-mingle"]
    return Child("The worker", [*command, *options, "--without-gossip"])


def scripted_model(port: int) -> Child:
    """Return the scripted endpoint."""
    module = [sys.executable, "-m", "evaluations.llm.scripted"]
    return Child("The scripted endpoint", [*module, *own(port)])


def small_model(port: int) -> Child:
    """Return the small language model; its idle threads must not use the processors."""
    module = [sys.executable, "-m", "evaluations.llm.local_model"]
    environment = {"OMP_WAIT_POLICY": "passive"}
    return Child("The local model", [*module, *own(port)], environment)


def own(port: int) -> list[str]:
    """Return the options of a model server at *port* that ends with this process."""
    return ["--port", str(port), "--parent", str(os.getpid())]


def answers(host: str, port: int) -> bool:
    """Return whether *port* accepts connections."""
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex((host, port)) == 0


def free_port(host: str, first: int) -> int:
    """Return the first free port from *first* on."""
    return next(port for port in range(first, first + 1000) if port_is_free(host, port))


def is_prepared() -> bool:
    """Return whether no migration is missing; also where the database cannot be reached now."""
    try:
        executor = MigrationExecutor(connection)
        return not executor.migration_plan(executor.loader.graph.leaf_nodes())
    except OperationalError:
        return True


def others_can_read(folder: Path) -> bool:
    """Return whether other users of the machine may enter *folder*, which has keys and data."""
    return bool(folder.stat().st_mode & (stat.S_IXGRP | stat.S_IXOTH))


class Command(BaseCommand):
    help = "Start the web server and the background worker; Ctrl-C stops both."

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.held: list[socket.socket | int] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=port_number, default=8000)
        parser.add_argument("--demo", action="store_true", help="start the demo's models too")
        parser.add_argument(
            "--prepare",
            action="store_true",
            help="first compile the translations, migrate and, with --demo, load the sample exam",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        try:
            check_bind(host, demo=settings.DEMO, debug=settings.DEBUG, proxies=settings.PROXIES)
        except ImproperlyConfigured as refusal:
            self.stderr.write(str(refusal))
            sys.exit(1)
        if options["demo"] and not (settings.DEMO or settings.ENDPOINT_ALLOW_CIDRS):
            # No call may go to this machine otherwise, where the models of the demo are.
            self.stderr.write("--demo needs GRADEAPP_DEMO=yes in the environment.")
            sys.exit(1)
        if other := self.hold_folder(host, port):
            self.stderr.write(
                f"Another serve runs on the data in {settings.VAR_DIR}: {other}. Stop it first, or"
                " set GRADEAPP_VAR to another folder."
            )
            sys.exit(1)
        if not self.hold(host, port):
            self.stderr.write(f"Port {port} is taken. Choose another: serve --port {port + 1}")
            sys.exit(1)
        if options["prepare"]:
            self.prepare(demo=options["demo"])
        elif not is_prepared():
            self.stderr.write("The database is not prepared: add --prepare.")
            sys.exit(1)
        if others_can_read(settings.VAR_DIR):
            self.stderr.write(f"Other users of this machine can read {settings.VAR_DIR}.")
        children = [web(host, port), worker()]
        if options["demo"]:
            try:
                children += self.demo_models()
            except Refusal as refusal:
                self.stderr.write(str(refusal))
                sys.exit(1)
        announced = False

        def announce_once() -> None:
            nonlocal announced
            if not announced and answers(host, port):
                announced = True
                self.announce(host, port, demo=options["demo"])

        sys.exit(Supervisor(children, self.stdout.write, each_round=announce_once).run())

    def hold_folder(self, host: str, port: int) -> str:
        """Hold the folder of the data as long as this command runs, or return who holds it.

        Two would move the models of the demo under each other's runs, and share one clock file.
        """
        with usable(settings.VAR_DIR):
            file = os.open(settings.VAR_DIR / "serve.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            with os.fdopen(file) as held:
                return held.read(200).strip() or "it is starting"
        self.held.append(file)
        with usable(settings.VAR_DIR):
            os.ftruncate(file, 0)
            os.write(file, f"http://{host}:{port}/ (process {os.getpid()})\n".encode())
        return ""

    def hold(self, host: str, port: int) -> bool:
        """Hold *port* as long as this command runs; return whether it was free."""
        if held := hold_port(host, port):
            self.held.append(held)
        return held is not None

    def next_port(self, first: int) -> int:
        """Hold the first free port of this machine from *first* on, and return it."""
        return next(port for port in range(first, first + 1000) if self.hold("127.0.0.1", port))

    def prepare(self, *, demo: bool) -> None:
        """Compile translations, migrate and load the sample; a later start repeats it safely."""
        what = "the database and the sample exam" if demo else "the database"
        self.stdout.write(f"Preparing {what} (some minutes the first time on a busy machine) ...")
        self.stdout.flush()  # also through a pipe: nothing else is said for a while
        call_command("compile_translations")
        call_command("migrate", verbosity=0)
        if demo:
            call_command("load_sample", stdout=self.stdout)
        self.stdout.write("Starting the web server and the worker ...")

    def demo_models(self) -> list[Child]:
        """Return the scripted endpoint, and the small model if it can run."""
        scripted = self.next_port(FIRST_MODEL_PORT)
        local = self.next_port(scripted + 1)
        reason = local_model.available()
        save_demo_endpoints(scripted_port=scripted, local_port=None if reason else local)
        if reason:
            self.stdout.write(f"The demo goes on with the scripted endpoint alone: {reason}.")
            return [scripted_model(scripted)]
        return [scripted_model(scripted), small_model(local)]

    def announce(self, host: str, port: int, *, demo: bool) -> None:
        """Print the address and, in the demo, the logins."""
        self.stdout.write(f"\n  gradeapp is at  http://{host}:{port}/   (Ctrl-C stops it)\n")
        if demo and settings.DEMO:
            self.stdout.write("  login      password        role")
            for person in DEMO_PEOPLE:
                row = f"  {person.username:<10} {person.password:<15} {person.role.english}"
                self.stdout.write(row)
        self.stdout.write("")
        self.stdout.flush()  # also through a pipe

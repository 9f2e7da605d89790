"""R38: migrations of full tables while a program of the version before goes on writing."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import threading
import time

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from evaluations.models import Attempt, Job, Mark
from gradeapp.accounts.roles import Role
from tests.evaluations.marking_world import answers_of, give, small_round
from tests.evaluations.run_world import planned, scripted_endpoint
from tests.factories import make_user
from tests.faults.site import ROOT, Site
from tests.scripted_server import ScriptedServer
from tests.worker_processes import wait_until

pytestmark = pytest.mark.faults
# After these an attempt has a column that an older worker does not fill: it is stopped first.
BEFORE, AFTER = "0023", "0043"
SENDINGS = 40
FULL = os.environ.get("GRADEAPP_FULL") == "yes"
JOBS, ATTEMPTS, MARKS = (50, 20_000, 200_000) if FULL else (10, 10_000, 40_000)
# Somebody reads for longer than a connection of the site waits for a lock, which is 10 s.
READING_SECONDS = 14
MADE = {"key": "gen_random_uuid()"}


def copying(table: str, number: str, rows: str) -> str:
    """The statement that copies *rows* of *table*, for each *number* from one to another.

    It names the columns that the table has now: those that a program of this version knows.
    """
    with connection.cursor() as cursor:
        found = connection.introspection.get_table_description(cursor, table)
    values = {one.name: MADE.get(one.name, f't."{one.name}"') for one in found if one.name != "id"}
    values[number] = "g"
    names = ", ".join(f'"{name}"' for name in values)
    return (
        f"INSERT INTO {table} ({names}) SELECT {', '.join(values.values())} "
        f"FROM {table} t, generate_series(%s::int, %s::int) g WHERE {rows}"
    )


def fill() -> None:
    """Many attempts of some calls, and many versions of one mark."""
    teachers = [make_user(Role.TEACHER, f"marker{n}") for n in range(2)]
    (answer,) = answers_of(small_round(teachers))
    give(answer, teachers[0], ["1", "1", "1"])
    with ScriptedServer() as server:
        run = planned(scripted_endpoint(server), JOBS)
    for job in Job.objects.filter(run=run):
        Attempt.objects.create(
            job=job, number=1, fence=1, sent_at=timezone.now(), request_hash="0" * 64
        )
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(copying("evaluations_attempt", "number", "number = 1"), [2, ATTEMPTS])
        cursor.execute(copying("evaluations_mark", "version", "version = 1"), [2, MARKS])
    connection.close()


class Writer:
    """Stores an attempt and a mark, again and again, on a connection like those of the site."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.numbers = {
            copying(
                "evaluations_attempt", "number", f"number = 1 AND {first('attempt')}"
            ): ATTEMPTS,
            copying("evaluations_mark", "version", f"version = 1 AND {first('mark')}"): MARKS,
        }
        self.seconds: list[float] = []
        self.failures: list[psycopg.Error] = []
        self.repeated = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(timeout=60)

    def _write(self) -> None:
        options = "-c lock_timeout=10000 -c statement_timeout=60000"
        with psycopg.connect(self.url, options=options, autocommit=True) as own:
            while not self._stopped.wait(0.01):
                for statement in self.numbers:
                    self.numbers[statement] += 1
                    number, began = self.numbers[statement], time.monotonic()
                    try:
                        self._store(own, statement, number)
                    except psycopg.Error as error:
                        self.failures.append(error)
                    self.seconds.append(time.monotonic() - began)

    def _store(self, own: psycopg.Connection, statement: str, number: int) -> None:
        """Store one row; after a deadlock or too long a wait again, as the desk and the worker."""
        for sending in range(SENDINGS):
            try:
                own.execute(statement.encode(), [number, number])
            except psycopg.OperationalError:
                self.repeated += 1
                if sending == SENDINGS - 1:
                    raise
            else:
                return


def first(table: str) -> str:
    """The condition for one row of *table*."""
    return f"t.id = (SELECT min(id) FROM evaluations_{table})"


def waits_for_marks(reader: psycopg.Connection) -> bool:
    """Whether somebody waits for the lock of the table of marks."""
    found = reader.execute(
        "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'evaluations_mark'::regclass"
    )
    return found.fetchone() is not None


def migrating(site: Site) -> subprocess.Popen[str]:
    """The documented command, started."""
    return subprocess.Popen(
        [sys.executable, "manage.py", "migrate", "evaluations", AFTER],
        cwd=ROOT,
        env=site.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_migrations_of_full_tables_stop_no_writer_and_wait_for_a_reader(site: Site) -> None:
    """From the schema of ``BEFORE`` to that of ``AFTER``, each write of the old program is kept."""
    fill()
    back = site.manage("migrate", "evaluations", BEFORE)
    assert back.returncode == 0, back.stderr
    url = site.environment["DATABASE_URL"]
    writer = Writer(url)
    connection.close()
    with psycopg.connect(url) as reader, writer:
        reader.execute("SELECT 1 FROM evaluations_mark LIMIT 1")  # holds the table until its end
        wait_until(lambda: len(writer.seconds) >= 20)
        process = migrating(site)
        wait_until(lambda: waits_for_marks(reader) or process.poll() is not None, 600)
        time.sleep(READING_SECONDS)
        meanwhile = len(writer.seconds)
        reader.rollback()
        said, complaints = process.communicate(timeout=900)
        wait_until(lambda: len(writer.seconds) >= meanwhile + 20)
    assert process.returncode == 0, complaints
    assert "0032_entered_by... OK" in said
    assert "Trying again" in complaints, "no migration had to wait for the reader"
    assert not writer.failures, writer.failures[0]
    p99, longest = statistics.quantiles(writer.seconds, n=100)[98], max(writer.seconds)
    print(f"{len(writer.seconds)} writes, {writer.repeated} of them sent again")
    print(f"p99 {p99:.3f} s, longest {longest:.1f} s")
    assert site.manage("migrate").returncode == 0
    assert Mark.objects.count() >= MARKS
    assert Attempt.objects.count() >= JOBS * ATTEMPTS

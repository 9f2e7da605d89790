"""A full disk (R40), a restore from a backup (R41), and an export while others write (R42)."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import resource
import shlex
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography.fernet import Fernet
from django.contrib.auth.hashers import make_password
from django.db import connection
from pytest_django import Settings

from bench.browsing import Browser
from evaluations.models import Job, Mark, ObjectiveScore, Response
from evaluations.runs.services.endpoints import save_endpoint
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.models import Asset
from tests.conftest import REAL_HASHERS
from tests.database_template import sqlite_template
from tests.evaluations.marking_world import small_round
from tests.evaluations.report_world import chosen, run_of
from tests.evaluations.run_world import planned, scripted_endpoint
from tests.factories import PASSWORD, make_dataset, make_user
from tests.faults.conftest import unblocked
from tests.faults.markers import Marking, at_the_desk
from tests.faults.services import Postgres, Process, children_of, program
from tests.faults.site import ROOT, Site, site_on_sqlite
from tests.faults.table import FaultRow, database_says, ledger_says
from tests.faults.test_run_faults import check, finished
from tests.scripted_server import ScriptedServer
from tests.worker_processes import wait_until

OPERATIONS = ROOT / "docs" / "operations.md"
EXPORT_MEMORY = 200 * 2**20


def make_room(process: Process) -> None:
    """Lift the limit on the size of files, as a disk that was cleared."""
    free = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    for pid in [process.pid, *children_of(process.pid)]:
        for one in (pid, *children_of(pid)):
            resource.prlimit(one, resource.RLIMIT_FSIZE, free)


@pytest.mark.faults
def test_a_full_disk_refuses_saves_and_harms_nothing(sqlite_site: Site) -> None:
    """R40: saves get 503 while there is no room, and are stored once there is."""
    site = sqlite_site
    file = site.folder / "gradeapp.sqlite3"
    teachers = [make_user(Role.TEACHER, f"marker{n}") for n in range(4)]
    made = small_round(teachers, responses=200)
    # The write-ahead log is the first file to grow: it may have 400 kB.
    connection.close()
    web = site.web(largest_file=400_000)
    markers = at_the_desk(site, made, teachers)
    connection.close()
    with Marking(markers, pause=0.02) as marking:
        wait_until(lambda: any(503 in marker.statuses for marker in markers))
        refused_at = marking.saves
        time.sleep(2)
        assert not marking.failures, marking.failures[0]
        make_room(web)
        wait_until(lambda: marking.saves >= refused_at + 20)
    assert not marking.failures, marking.failures[0]
    statuses = {status for marker in markers for status in marker.statuses if status >= 500}
    assert statuses == {503}
    confirmed = {key for marker in markers for key in marker.saved}
    assert confirmed <= {str(key) for key in Mark.objects.values_list("key", flat=True)}
    connection.close()
    with sqlite3.connect(file) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.faults
def test_a_run_goes_on_when_the_full_disk_has_room_again(
    tmp_path: Path, django_db_blocker: Any, fault_row: FaultRow
) -> None:
    """R40: a small file system holds database, spool, broker and logs; it fills up, then grows."""
    disk = tmp_path / "disk"
    disk.mkdir()
    with (
        small_disk(disk, "12m") as full,
        unblocked(django_db_blocker),
        site_on_sqlite(disk, sqlite_template()) as site,
        ScriptedServer(latency=0.1) as server,
    ):
        run = planned(scripted_endpoint(server, max_in_flight=4), 300)
        connection.close()
        site.worker()
        done = Job.objects.filter(run=run, status="done")
        wait_until(lambda: done.count() >= 20)
        connection.close()
        full.fill()
        wait_until(lambda: is_quiet(server))
        # Of the server: on a full disk a new connection to the database may fail.
        stopped_at, asked = server.ledger.billed, len(server.requests)
        time.sleep(20)
        more = len(server.requests) - asked
        connection.close()
        full.grow("200m")
        if site.processes[-1].process.poll() is not None:
            site.worker()
        finished(run)
        check(run, server, 300)
        fault_row(
            "R40",
            f"the disk is full after {stopped_at} of 300 answers; {more} calls in the next 20 s; "
            "then there is room",
            ledger=ledger_says(server),
            database=database_says(run),
        )
        assert stopped_at < 300, "the disk was never full"
        assert more <= 8
        assert server.ledger.billed <= 300 + 2 * 4


def is_quiet(server: ScriptedServer) -> bool:
    """Whether no call is under way, and none was sent for ten seconds."""
    before = len(server.requests)
    time.sleep(10)
    return server.endpoint.in_flight == 0 and len(server.requests) == before


@dataclass
class SmallDisk:
    """A file system in memory at *folder*."""

    folder: Path

    def fill(self) -> None:
        """Write until there is no room."""
        with suppress(OSError), (self.folder / "ballast").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def grow(self, size: str) -> None:
        """Make it larger."""
        options = ["-o", f"remount,size={size}"]
        subprocess.run(["mount", *options, str(self.folder)], check=True, timeout=30)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[SmallDisk]:
    """Mount one; the test is skipped where that is not allowed."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, timeout=30).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, timeout=30)


def lines_of(heading: str) -> list[str]:
    """The commands in the section *heading* of the page on operations."""
    page = OPERATIONS.read_text(encoding="utf-8")
    section = page.partition(f"\n{heading}\n")[2]
    section = re.split(r"\n#{2,3} ", section)[0] if heading.startswith("###") else section
    blocks = re.findall(r"```\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)
    return "".join(blocks).splitlines()


def command(start: str) -> str:
    """The documented command that begins with *start*."""
    return next(line for line in lines_of("## Backup") if line.startswith(start))


def shell(site: Site, line: str, **environment: str) -> None:
    """Run a documented line in a folder that looks like an installation."""
    own = site.environment | environment | {"PATH": f"{Path(program('psql')).parent}:{os.defpath}"}
    done = subprocess.run(
        ["sh", "-ec", line],
        cwd=site.folder,
        env=own,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def contents(site: Site, url: str) -> dict[str, str]:
    """A digest of every table of the database at *url*, read by another process."""
    script = """
import hashlib, json
from django.apps import apps
made = {}
for model in apps.get_models(include_auto_created=True):
    names = [field.attname for field in model._meta.concrete_fields]
    rows = [
        [bytes(value) if isinstance(value, memoryview) else value for value in row]
        for row in model.objects.order_by("pk").values_list(*names)
    ]
    made[model._meta.label] = f"{hashlib.sha256(repr(rows).encode()).hexdigest()} {len(rows)}"
print(json.dumps(made))
"""
    done = site.manage("shell", "-v0", "-c", script, DATABASE_URL=url)
    assert done.returncode == 0, done.stderr
    made: dict[str, str] = json.loads(done.stdout)
    return made


def furnished(settings: Settings, field_key: str) -> None:
    """A school with a person, a round with marks, an image and a stored key."""
    settings.FIELD_KEYS = [field_key]
    settings.ENDPOINT_ALLOW_CIDRS = ["127.0.0.0/8"]
    small_round([make_user(Role.TEACHER, f"t{n}") for n in range(2)], responses=5)
    chosen(run_of(), "A", "B", "C")
    settings.PASSWORD_HASHERS = REAL_HASHERS
    User.objects.filter(username="t0").update(password=make_password(PASSWORD))
    save_endpoint(
        name="e",
        base_url="http://127.0.0.1:8189/v1",
        model="m",
        acting_user=None,
        key="sk-secret-7f3a",
    )
    content = os.urandom(5000)
    Asset.objects.create(
        dataset=make_dataset(),
        name="circuit.png",
        media_type="image/png",
        sha256=hashlib.sha256(content).hexdigest(),
        content=content,
    )


def check_restored(site: Site, restored: str, before: dict[str, str], field_key: str) -> None:
    """The restored site has every row, lets people in, and can read its keys."""
    after = contents(site, restored)
    assert after == before
    assert sum(int(digest.split()[1]) for digest in after.values()) > 50
    site.environment |= {"DATABASE_URL": restored, "GRADEAPP_FIELD_KEYS": field_key}
    assert site.manage("migrate", "--check").returncode == 0
    read = "from evaluations.models import Endpoint; "
    read += "from evaluations.runs.services.keys import api_key; "
    read += "print(api_key(Endpoint.objects.get(name='e')))"
    assert site.manage("shell", "-v0", "-c", read).stdout.strip() == "sk-secret-7f3a"
    site.web()
    browser = Browser(site.port)
    browser.get("/login/")
    page = browser.post("/login/", {"username": "t0", "password": PASSWORD})
    assert page.status == 302
    assert browser.get("/marking/").status == 200


@pytest.mark.faults
def test_a_backup_of_sqlite_restores(sqlite_site: Site, settings: Settings) -> None:
    """R41: the documented lines, while the site is in use."""
    site, key = sqlite_site, Fernet.generate_key().decode()
    furnished(settings, key)
    before = contents(site, site.environment["DATABASE_URL"])
    (site.folder / ".venv").symlink_to(Path(sys.prefix))
    (site.var / "gradeapp.sqlite3").symlink_to(site.folder / "gradeapp.sqlite3")
    line = command(".venv/bin/python -c ")
    shell(site, line)
    (name,) = re.findall(r"backup-[\d-]+\.sqlite3", line)
    with sqlite3.connect(site.folder / name) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    check_restored(site, f"sqlite:///{site.folder / name}", before, key)


@pytest.mark.faults
def test_a_backup_of_postgresql_restores(
    site: Site, postgres: Postgres, settings: Settings
) -> None:
    """R41: the documented lines, while the site is in use."""
    key = Fernet.generate_key().decode()
    furnished(settings, key)
    before = contents(site, site.environment["DATABASE_URL"])
    where = {"PGHOST": "127.0.0.1", "PGPORT": str(postgres.port), "PGUSER": "postgres"}
    shell(site, command("pg_dump "), **where)
    shell(site, command("createdb gradeapp_check"), **where)
    shell(site, command("pg_restore "), **where)
    check_restored(site, postgres.url("gradeapp_check"), before, key)


@pytest.mark.faults
def test_an_export_of_100_000_rows_is_a_snapshot_in_bounded_memory(site: Site) -> None:
    """R42: rows that are added in one transaction are exported together or not at all."""
    responses = chosen(run_of(), "A", "B", "C", "D", "A")
    multiply(len(responses), first=2, last=20_000)
    assert Response.objects.count() == 100_000
    stopped = threading.Event()
    writer = threading.Thread(target=write_on, args=(site, stopped), daemon=True)
    connection.close()
    file = site.folder / "scores.csv"
    line = (
        f"{sys.executable} manage.py export scores --dataset exam --output {shlex.quote(str(file))}"
    )
    idle = peak_memory(f"{sys.executable} manage.py check", site)
    writer.start()
    try:
        most = peak_memory(line, site)
    finally:
        stopped.set()
        writer.join(timeout=30)
    assert most - idle < EXPORT_MEMORY, (most - idle) / 2**20
    about = json.loads(file.with_name("scores.csv.manifest.json").read_text())
    content = file.read_bytes()
    assert hashlib.sha256(content).hexdigest() == about["sha256"]
    rows = list(csv.DictReader(content.decode("utf-8-sig").splitlines()))
    assert len(rows) == about["rows"] >= 100_000
    late = [row for row in rows if int(row["repeat"]) > 20_000]
    assert all(row["points"] for row in late), "an answer was read without its score"
    assert len(late) % 5 == 0, "a transaction was read in half"
    assert Response.objects.filter(repeat__gt=20_000).exists(), "nothing was written meanwhile"


COPIES = """
WITH made AS (
    INSERT INTO evaluations_response ({columns})
    SELECT {copied} FROM evaluations_response t, generate_series(%s::int, %s::int) g
    WHERE t.repeat = 1 RETURNING id, question_id, repeat
), scored AS (
    INSERT INTO evaluations_objectivescore ({score_columns})
    SELECT {score_copied} FROM made
    JOIN evaluations_response t ON t.question_id = made.question_id AND t.repeat = 1
    JOIN evaluations_objectivescore s ON s.id = t.strict_score_id
    RETURNING id
) SELECT count(*) FROM scored
"""
POINTERS = """
UPDATE evaluations_response r SET strict_score_id = s.id FROM evaluations_objectivescore s
WHERE s.response_id = r.id AND r.repeat >= %s AND s.policy = 'strict'
"""


def copying() -> str:
    """The statement that copies the first repeat of every answer with its strict score."""

    def columns(model: type, changed: dict[str, str], table: str) -> tuple[str, str]:
        names = [field.column for field in model._meta.concrete_fields if field.column != "id"]
        quoted = ", ".join(f'"{name}"' for name in names)
        return quoted, ", ".join(changed.get(name, f'{table}."{name}"') for name in names)

    answer = {
        "public_id": "gen_random_uuid()",
        "repeat": "g",
        "strict_score_id": "NULL",
        "published_score_id": "NULL",
    }
    plain, copied = columns(Response, answer, "t")
    score, score_copied = columns(ObjectiveScore, {"response_id": "made.id"}, "s")
    return COPIES.format(
        columns=plain, copied=copied, score_columns=score, score_copied=score_copied
    )


def multiply(answers: int, *, first: int, last: int) -> None:
    """Repeat every answer, with its score, from repeat *first* to *last*."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(copying(), [first, last])
        assert cursor.fetchone()[0] == answers * (last - first + 1)
        cursor.execute(POINTERS, [first])
        cursor.execute("ANALYZE")


def write_on(site: Site, stopped: threading.Event) -> None:
    """Add one repeat of all answers in one transaction, again and again."""
    statement = copying()
    with psycopg.connect(site.environment["DATABASE_URL"]) as own:
        for repeat in range(20_001, 32_000):
            if stopped.is_set():
                return
            own.execute(statement.encode(), [repeat, repeat])
            own.execute(POINTERS.encode(), [repeat])
            own.commit()
            time.sleep(0.01)


def peak_memory(line: str, site: Site) -> int:
    """The most memory that a command had resident, in bytes."""
    process = subprocess.Popen(shlex.split(line), cwd=ROOT, env=site.environment)
    _pid, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return usage.ru_maxrss * 1024

"""The web server dies without a word in the middle of saves: no mark is lost, none made twice.

Real gunicorn workers, killed by their ids while teachers save; a teacher whose
connection broke sends the same form again, as the desk does. With
``GRADEAPP_FULL=yes`` it is done at length.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from http.client import HTTPException
from pathlib import Path
from random import Random
from threading import Event

import pytest
from django.conf import settings
from django.test import Client

from bench.browsing import HOST, Browser, form_in
from evaluations.management.commands.serve import answers, free_port, web
from evaluations.models import Mark, MarkChange, Slot
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from tests.evaluations.marking_world import small_round
from tests.factories import make_user
from tests.faults.table import FaultRow
from tests.worker_processes import ROOT, database_url, kill, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
FULL = os.environ.get("GRADEAPP_FULL") == "yes"
TEACHERS, RESPONSES, KILLS = (4, 60, 15) if FULL else (3, 8, 2)
MOST_SENDINGS = 40


@pytest.fixture
def server() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Gunicorn as ``serve`` starts it, on the database and with the sessions of the test."""
    port = free_port(HOST, 18700 + os.getpid() % 900)  # two suites may run on one machine
    here = {"DATABASE_URL": database_url(), "GRADEAPP_VAR": str(settings.VAR_DIR)}
    process = subprocess.Popen(
        web(HOST, port).command,
        cwd=ROOT,
        env=os.environ | here | {"SECRET_KEY": settings.SECRET_KEY},
        start_new_session=True,
    )
    try:
        wait_until(lambda: answers(HOST, port), 60)
        assert process.poll() is None, "somebody else took the port"
        yield process, port
    finally:
        kill(process)


def children(process: int) -> list[int]:
    """The workers that a gunicorn has now."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return [int(word) for word in listed.split()]


class Teacher:
    """One teacher in one browser, who sends a form until the server says that it is saved."""

    def __init__(self, person: User, port: int) -> None:
        client = Client()
        client.force_login(person)
        self.browser = Browser(port)
        self.browser.cookies = {name: m.value for name, m in client.cookies.items()}
        self.acknowledged: list[str] = []

    def send(self, path: str, form: dict[str, str] | None, *, htmx: bool = False) -> str:
        """What the server answers, at last; a broken connection only means to send it again."""
        for _ in range(MOST_SENDINGS):
            try:
                sent = (
                    self.browser.get(path)
                    if form is None
                    else self.browser.post(path, form, htmx=htmx)
                )
            except (OSError, HTTPException):
                self.browser.connection.close()
                time.sleep(0.1)
                continue
            if sent.status == 302:
                return self.send(sent.location, None)
            assert sent.status == 200, sent.text[:300]
            return sent.text
        raise AssertionError("the server did not come back")

    def mark_all(self, first: str) -> None:
        """Every response there is, from *first* on."""
        self.send("/marking/", None)  # for the token
        page = self.send(first, {})
        while 'id="marks"' in page:
            form = form_in(page, "/save/")
            values = {name: value or "1" for name, value in form.fields.items()}
            values |= dict.fromkeys(form.offered, "1")
            page = self.send(form.action, values, htmx=True)
            self.acknowledged.append(values["key"])


def test_a_web_worker_killed_in_the_middle_of_saves_makes_nothing_twice_and_loses_nothing(
    server: tuple[subprocess.Popen[bytes], int], fault_row: FaultRow
) -> None:
    gunicorn, port = server
    changes = MarkChange.objects.count()  # emptying tables before this test may leave some
    people = [make_user(Role.TEACHER) for _ in range(TEACHERS)]
    made = small_round(people, RESPONSES, repeat_share=Decimal(0))
    teachers = [Teacher(person, port) for person in people]
    done, random = Event(), Random(7)

    def killer() -> int:
        for number in range(1, KILLS + 1):
            wait_until(partial(saved_or_over, number * len(people)))
            os.kill(random.choice(children(gunicorn.pid)), signal.SIGKILL)
        return KILLS

    def saved_or_over(marks: int) -> bool:
        return bool(children(gunicorn.pid)) and (done.is_set() or Mark.objects.count() >= marks)

    with ThreadPoolExecutor(TEACHERS + 1) as threads:
        killing = threads.submit(killer)
        list(
            threads.map(
                lambda one: one.mark_all(f"/marking/rounds/{made.public_id}/next/"), teachers
            )
        )
        done.set()
        assert killing.result() == KILLS
    keys = [key for teacher in teachers for key in teacher.acknowledged]
    stored = [str(key) for key in Mark.objects.values_list("key", flat=True)]
    assert len(keys) == len(set(keys))
    assert sorted(stored) == sorted(keys)
    assert not Mark.objects.filter(stale=True).exists()
    assert MarkChange.objects.count() == changes
    assert {mark.points.count() for mark in Mark.objects.all()} == {3}
    assert Slot.objects.filter(marked=True).count() == len(keys)
    fault_row(
        "R50",
        f"kill -9 of a web process {KILLS} times while {TEACHERS} teachers save",
        database=f"{len(stored)} marks for {len(set(keys))} confirmed saves",
    )

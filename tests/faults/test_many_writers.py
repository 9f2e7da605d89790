"""R16: many processes write to one SQLite file, and none ever hears that it is locked."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import statistics
import time
import uuid
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from evaluations.marking.desk.services.marking import save_mark
from evaluations.marking.desk.services.slots import claim_next
from evaluations.marking.services.finalizing import finalize_due
from evaluations.models import FinalMark, Mark, MarkingRound
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from tests.evaluations.marking_world import small_round
from tests.factories import make_user
from tests.faults.site import Site
from tests.faults.table import FaultRow

pytestmark = pytest.mark.faults
WRITERS = 8
RESPONSES = 8 * (600 if os.environ.get("GRADEAPP_FULL") == "yes" else 30)
# SQLite as it comes gives up after 5 s.
BLOCKED_SECONDS = 8.0


def mark_all(person: User, made: MarkingRound, begun: Any, told: Any) -> None:
    """Mark what there is, in a process of its own; tell the seconds of each mark, and errors."""
    begun.wait()
    seconds, errors, began = [], [], time.monotonic()
    try:
        while slot := claim_next(person, round=made, now=timezone.now()):
            save_mark(
                slot,
                person,
                key=uuid.uuid4(),
                based_on_version=0,
                points=(Decimal(1), Decimal(1), Decimal(1)),
                now=timezone.now(),
            )
            seconds.append(time.monotonic() - began)
            began = time.monotonic()
    except OperationalError as error:
        errors.append(str(error))
    told.put((seconds, errors))


def test_eight_processes_write_to_one_sqlite_file(sqlite_site: Site, fault_row: FaultRow) -> None:
    """Each waits for the others, also for an import that writes for longer than SQLite waits."""
    people = [make_user(Role.TEACHER, f"marker{n}") for n in range(WRITERS)]
    made = small_round(people, RESPONSES, scheme=Scheme.SINGLE)
    connection.close()
    forked = multiprocessing.get_context("fork")
    told, begun = forked.Queue(), forked.Event()
    writers = [forked.Process(target=mark_all, args=(one, made, begun, told)) for one in people]
    for writer in writers:
        writer.start()
    with sqlite3.connect(sqlite_site.folder / "gradeapp.sqlite3", timeout=60) as long_import:
        long_import.execute("BEGIN IMMEDIATE")
        begun.set()
        time.sleep(BLOCKED_SECONDS)
        long_import.rollback()
    results = [told.get(timeout=300) for _ in writers]
    for writer in writers:
        writer.join(timeout=60)
    assert [error for _, errors in results for error in errors] == []
    seconds = [one for taken, _ in results for one in taken]
    finalize_due(made, now=timezone.now())
    assert len(seconds) == Mark.objects.count() == FinalMark.objects.count() == RESPONSES
    assert set(Counter(Mark.objects.values_list("slot", flat=True)).values()) == {1}
    assert any(one > BLOCKED_SECONDS / 2 for one in seconds), "nobody met the import"
    fault_row(
        "R16",
        f"{WRITERS} processes mark in one SQLite file, beside a transaction of 8 s",
        database=f"{Mark.objects.count()} marks of {RESPONSES}, 0 errors, 0 marks stored twice",
    )
    p99 = statistics.quantiles(seconds, n=100)[98]
    print(f"{len(seconds)} saves of {WRITERS} processes, p99 {p99:.2f} s")

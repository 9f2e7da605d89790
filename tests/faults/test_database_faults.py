"""The database dies under marking (R13, R14) and under a run (R12)."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from django.db import connection

from evaluations.models import FinalMark, Mark, MarkChange
from gradeapp.accounts.roles import Role
from tests.evaluations.marking_world import small_round
from tests.factories import make_user
from tests.faults.markers import Marking, at_the_desk
from tests.faults.services import Postgres
from tests.faults.site import Site
from tests.faults.table import FaultRow
from tests.worker_processes import wait_until

pytestmark = pytest.mark.faults


def test_a_confirmed_mark_survives_kill_9_of_postgresql(
    site: Site, postgres: Postgres, fault_row: FaultRow
) -> None:
    """R13, R14: ten kills under load; what was confirmed is stored, nothing twice."""
    teachers = [make_user(Role.TEACHER, f"marker{n}") for n in range(8)]
    made = small_round(teachers, responses=400)
    site.web()
    markers = at_the_desk(site, made, teachers)
    connection.close()
    kills = 10
    with Marking(markers, pause=0.05) as marking:
        for number in range(kills):
            before = marking.saves
            wait_until(
                lambda enough=before + 5 + number: marking.saves >= enough or marking.failures
            )
            assert not marking.failures, marking.failures[0]
            postgres.kill()
            time.sleep(0.2 * (number % 3))
            postgres.start()
        # What was under way when it died is over once each has saved twice since then.
        since = [len(marker.saved) for marker in markers]
        wait_until(
            lambda: (
                marking.failures != []
                or all(len(m.saved) >= n + 2 for m, n in zip(markers, since, strict=True))
            )
        )
        seen, before = [len(marker.statuses) for marker in markers], marking.saves
        wait_until(lambda: marking.saves >= before + 60 or marking.failures != [])
    assert not marking.failures, marking.failures[0]
    confirmed = {key for marker in marking.markers for key in marker.saved}
    stored = Counter(str(key) for key in Mark.objects.values_list("key", flat=True))
    assert confirmed <= set(stored)
    assert set(stored.values()) == {1}, "a save that was sent again is stored once"
    assert len(stored) - len(confirmed) <= len(teachers), "at most what was under way at the end"
    assert not MarkChange.objects.exists()
    finals = FinalMark.objects.values("answer").distinct().count()
    assert finals == FinalMark.objects.count()
    # A connection that died is noticed before it is used: nothing fails any more.
    late = [status for m, n in zip(markers, seen, strict=True) for status in m.statuses[n:]]
    assert all(0 < status < 500 for status in late), late
    says = f"{len(confirmed)} marks confirmed, {len(confirmed - set(stored))} of them missing, "
    says += f"{sum(n > 1 for n in stored.values())} stored twice"
    fault_row("R13", f"kill -9 of PostgreSQL {kills} times while 8 teachers save", database=says)
    fault_row(
        "R14",
        "requests of all teachers after the last kill, each over old connections first",
        database=f"{len(late)} answered, {sum(not 0 < s < 500 for s in late)} of them by an error",
    )

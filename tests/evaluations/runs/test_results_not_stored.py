"""Results that the database does not take: kept in the spool, and the run pauses by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from evaluations.models import Attempt, Endpoint, Job, Response, Run
from evaluations.runs.selectors.run_notices import run_notice
from evaluations.runs.selectors.runs import progress
from evaluations.runs.services.generation import look_for_work
from evaluations.runs.services.spools import spools_of
from tests.evaluations.run_world import planned, scripted_endpoint, worked
from tests.scripted_server import ScriptedServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries")]
REFUSE = "CREATE TRIGGER refuse_answers BEFORE INSERT ON evaluations_response "
FUNCTION = """CREATE OR REPLACE FUNCTION refuse_answers() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN RAISE EXCEPTION ''no space left''; END'"""


@pytest.fixture
def endpoint(server: ScriptedServer, settings: Settings, tmp_path: Path) -> Endpoint:
    settings.VAR_DIR = tmp_path
    return scripted_endpoint(server, max_in_flight=4, timeout_seconds=1)


@contextmanager
def no_answer_is_stored() -> Iterator[None]:
    """Let the database refuse every response, as a full disk does."""
    sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        if not sqlite:
            cursor.execute(FUNCTION)
        act = "BEGIN SELECT RAISE(ABORT, 'no space left'); END"
        cursor.execute(REFUSE + (act if sqlite else "EXECUTE FUNCTION refuse_answers()"))
    yield
    with connection.cursor() as cursor:
        table = "" if sqlite else " ON evaluations_response"
        cursor.execute(f"DROP TRIGGER refuse_answers{table}")


def jobs(run: Run) -> Counter[str]:
    return Counter(Job.objects.filter(run=run).values_list("status", flat=True))


def after_its_wait(run: Run, now: datetime | None = None) -> datetime:
    """Work on a paused run after the time at which it goes on, and return that time."""
    later = (now or timezone.now()) + timedelta(seconds=20)
    look_for_work(lambda: later)
    worked(run, later)
    return later


def test_paid_answers_outlive_a_database_that_does_not_take_them(
    server: ScriptedServer, endpoint: Endpoint
) -> None:
    run = planned(endpoint, 4)
    with no_answer_is_stored():
        worked(run)
        assert (run.status, run.pause_reason) == ("paused", "not_stored")
        again = after_its_wait(run)
        assert (run.status, run.pause_reason) == ("paused", "not_stored"), "still full"
    assert len(spools_of(run)) == 1
    assert jobs(run) == {"leased": 4}
    notice = run_notice(run, progress(run, timezone.now()), timezone.now())
    assert notice is not None
    assert "cannot be stored: the disk may be full" in notice.sentence
    after_its_wait(run, again)
    assert (run.status, run.pause_reason, jobs(run)) == ("finished", "", {"done": 4})
    assert spools_of(run) == []
    assert server.ledger.billed == 4, "nothing was asked, and paid, a second time"


def test_a_run_pauses_where_not_even_the_spool_takes_answers(
    server: ScriptedServer, endpoint: Endpoint, tmp_path: Path
) -> None:
    (tmp_path / "spool").write_text("in the way of the folder")
    run = planned(endpoint, 3)
    with no_answer_is_stored():
        worked(run)
    assert (run.status, run.pause_reason) == ("paused", "not_stored")
    assert run.resume_at is not None
    sent = Attempt.objects.filter(job__run=run, status="sent").count()
    assert (Response.objects.count(), sent) == (0, 0), "without a place for answers none is asked"

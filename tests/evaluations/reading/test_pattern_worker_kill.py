"""A worker dies in the middle of a search: nothing is half kept, the page knows, and it goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from evaluations.models import MinedPattern, PatternSearch
from evaluations.reading.services.pattern_searches import start_search, work_on_search
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.pattern_world import IN_WORDS, TAGGED, run_with
from tests.worker_processes import StartWorker, celery_workers, database_url, wait_until

ROOT = Path(__file__).resolve().parents[3]
# The worker kills itself at one step; SIGKILL leaves no time for anything else.
DIES_AT = """
import os, signal
import django
django.setup()
from evaluations.reading.services import pattern_mining, pattern_searches

def dying(step):
    def wrapped(*args, **kwargs):
        step(*args, **kwargs)
        os.kill(os.getpid(), signal.SIGKILL)
    return wrapped

room, name = {
    "after a step": (pattern_searches, "_step"),
    "in the transaction that keeps": (pattern_mining, "_keep_patterns"),
}[os.environ["DIES_AT"]]
setattr(room, name, dying(getattr(room, name)))
pattern_searches.work_on_search(int(os.environ["SEARCH"]))
"""
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    own = {
        "DATABASE_URL": database_url(),
        "GRADEAPP_VAR": str(tmp_path),
        "RUN_LEASE_SECONDS": "5",
        "CLOCK_SECONDS": "1",
        "DJANGO_SETTINGS_MODULE": "gradeapp.settings",
    }
    return {**os.environ, **own}


@pytest.mark.parametrize("step", ["after a step", "in the transaction that keeps"])
def test_killed_in_the_middle(lead: User, environment: dict[str, str], step: str) -> None:
    search = start_search(run_with((TAGGED, 12), (IN_WORDS, 6)), acting_user=lead)
    killed = subprocess.run(
        [sys.executable, "-c", DIES_AT],
        cwd=ROOT,
        env={**environment, "DIES_AT": step, "SEARCH": str(search.pk)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not MinedPattern.objects.exists()

    silent = timezone.now() - timedelta(hours=1)
    PatternSearch.objects.filter(pk=search.pk).update(heartbeat=silent)
    client = logged_in(lead)
    page = client.get(f"/runs/patterns/{search.pk}/").content.decode()
    assert "The worker was lost during" in page
    assert client.post(f"/runs/patterns/{search.pk}/resume/").status_code == 302
    assert work_on_search(search.pk)
    search.refresh_from_db()
    assert (search.status, search.covered, search.patterns.count()) == ("done", 18, 2)


@pytest.fixture
def start_worker(environment: dict[str, str]) -> Iterator[StartWorker]:
    with celery_workers(environment, concurrency=1) as start:
        yield start


def test_the_clock_of_a_worker_finds_a_search_that_no_message_names(
    lead: User, start_worker: StartWorker
) -> None:
    search = start_search(run_with((TAGGED, 12)), acting_user=lead)
    start_worker()
    wait_until(lambda: PatternSearch.objects.get(pk=search.pk).status == "done")
    assert PatternSearch.objects.get(pk=search.pk).covered == 12

"""A worker dies in the middle of an import: whole files only, the page knows, and it goes on."""

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

from gradeapp.accounts.models import User
from questions.models import ImportBatch, Question
from questions.models.imports import ImportFile
from questions.services import import_jobs, uploads
from tests.conftest import logged_in
from tests.questions.upload_world import lines, sent
from tests.questions.upload_world import var as var
from tests.worker_processes import (
    StartWorker,
    celery_workers,
    database_url,
    kill,
    wait_until,
)

ROOT = Path(__file__).resolve().parents[2]
FILES = 6
# Questions a file, so that a file takes several looks at the progress of the import.
MANY = 120
# The worker kills itself while it writes its third file; SIGKILL leaves no time for anything else.
DIES_AT = """
import os, signal
import django
django.setup()
from questions.services import bank, import_jobs, import_log

files = 0

def dying(step, after):
    def wrapped(*args, **kwargs):
        global files
        files += 1
        result = step(*args, **kwargs) if after or files < 3 else None
        if files >= 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return wrapped

log = import_log.UploadLog
owner, name, after = {
    "in the transaction of a file": (log, "wrote", True),
    "between a file and its progress": (log, "goes_on", False),
    "after the progress of a file": (log, "goes_on", True),
}[os.environ["DIES_AT"]]
setattr(owner, name, dying(getattr(owner, name), after))
import_jobs.work_on_import(int(os.environ["BATCH"]))
"""
WRITTEN = {
    "in the transaction of a file": 2,
    "between a file and its progress": 3,
    "after the progress of a file": 3,
}
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def environment(var: Path) -> dict[str, str]:
    own = {
        "DATABASE_URL": database_url(),
        "GRADEAPP_VAR": str(var),
        "IMPORT_LEASE_SECONDS": "5",
        "CLOCK_SECONDS": "1",
        "DJANGO_SETTINGS_MODULE": "gradeapp.settings",
    }
    return {**os.environ, **own}


def uploaded(user: User, questions_a_file: int = 3) -> ImportBatch:
    files = [
        sent(f"{n}.jsonl", lines(1000 * n + 1, 1000 * n + questions_a_file)) for n in range(FILES)
    ]
    return uploads.take_upload(files, "jsonl", acting_user=user)


def confirmed(batch: ImportBatch, user: User) -> ImportBatch:
    assert import_jobs.work_on_import(batch.pk)
    import_jobs.confirm_import(batch, acting_user=user)
    return batch


@pytest.mark.parametrize("step", sorted(WRITTEN))
def test_killed_at_each_step(
    curator: User, environment: dict[str, str], settings: object, step: str
) -> None:
    batch = confirmed(uploaded(curator), curator)
    killed = subprocess.run(
        [sys.executable, "-c", DIES_AT],
        cwd=ROOT,
        env={**environment, "DIES_AT": step, "BATCH": str(batch.pk)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert Question.objects.count() == 3 * WRITTEN[step], "whole files only"
    noted = ImportFile.objects.filter(batch=batch, imported_at__isnull=False).count()
    assert noted == WRITTEN[step], "what is noted is what was written"

    ImportBatch.objects.filter(pk=batch.pk).update(heartbeat=timezone.now() - timedelta(hours=1))
    page = logged_in(curator).get(f"/questions/imports/{batch.pk}/").content.decode()
    assert "The worker was lost during" in page
    assert f"/questions/imports/{batch.pk}/resume/" in page
    answer = logged_in(curator).post(f"/questions/imports/{batch.pk}/resume/")
    assert answer.status_code == 302
    assert import_jobs.work_on_import(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.counts["new"], batch.counts["same"]) == ("done", 3 * FILES, 0)
    assert Question.objects.count() == 3 * FILES


@pytest.fixture
def start_worker(environment: dict[str, str]) -> Iterator[StartWorker]:
    with celery_workers(environment, concurrency=1) as start:
        yield start


def now(batch: ImportBatch) -> ImportBatch:
    batch.refresh_from_db()
    return batch


def test_celery_is_killed_in_the_middle_and_a_person_goes_on(
    curator: User, start_worker: StartWorker
) -> None:
    batch = uploaded(curator, questions_a_file=MANY)
    # No message was sent: the worker's own clock finds the upload.
    worker = start_worker()
    wait_until(lambda: now(batch).status == "checked")
    assert not Question.objects.exists()
    import_jobs.confirm_import(batch, acting_user=curator)
    wait_until(lambda: now(batch).files_done >= 1 and batch.status == "working")
    kill(worker)
    whole = Question.objects.count()
    assert whole % MANY == 0
    assert whole < MANY * FILES
    start_worker()
    wait_until(lambda: now(batch).status == "interrupted")
    import_jobs.resume_import(batch, acting_user=curator)
    wait_until(lambda: now(batch).status == "done")
    assert Question.objects.count() == MANY * FILES
    assert batch.counts["new"] == MANY * FILES
    # The worker says that it is done, and then removes the files.
    wait_until(lambda: not any(uploads.imports_folder().iterdir()))

"""The life of an upload: checked in the background, imported when a person says so, stopped.

A worker claims an import by one conditional update and says after each file that
it is alive. One that dies leaves whole files only, because each file is one
transaction; the import then waits for a person, who lets it go on: what was
written already is the same and is not written again.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.refusals import BadInput, Conflict
from questions.importers.recognise import data_files, roots
from questions.models import ImportBatch
from questions.rules.vocabulary import ImportStatus as Is
from questions.services.import_progress import UploadLog, written
from questions.services.imports import import_questions
from questions.services.uploads import KEPT_FOR, delete_left_over, delete_upload, folder_of

logger = logging.getLogger(__name__)

Clock = Callable[[], datetime]
GOES_ON = (Is.STOPPED, Is.INTERRUPTED, Is.FAILED)
WAITS_FOR_A_PERSON = (Is.CHECKED, *GOES_ON)


def lease() -> timedelta:
    """How long a silent worker is believed to be alive."""
    return timedelta(seconds=settings.IMPORT_LEASE_SECONDS)


# ---- what people do ----


@transaction.atomic
def confirm_import(batch: ImportBatch, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Import what was checked. Raises Conflict where it is not to be imported (any more)."""
    confirmed = ImportBatch.objects.filter(pk=batch.pk, status=Is.CHECKED).exclude(folder="")
    if not confirmed.update(status=Is.QUEUED, confirmed_at=clock(), stop_asked=False, error=""):
        raise Conflict(_("This import is not waiting to be started; look at its page again."))
    record(Tag.QUESTIONS_IMPORTED, batch, actor=acting_user, source=batch.source)


@transaction.atomic
def stop_import(batch: ImportBatch, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Stop after the file that is being written; at once where no worker has it yet."""
    rows = ImportBatch.objects.filter(pk=batch.pk)
    waiting = rows.filter(status=Is.QUEUED).update(status=Is.STOPPED, ended_at=clock())
    if not waiting and not rows.filter(status=Is.WORKING).update(stop_asked=True):
        raise Conflict(_("This import is not running."))
    record(Tag.IMPORT_STOPPED, batch, actor=acting_user)


@transaction.atomic
def resume_import(batch: ImportBatch, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Let a stopped, interrupted or failed check or import go on where it was."""
    note_lost_workers(clock())
    rows = ImportBatch.objects.filter(pk=batch.pk, status__in=GOES_ON).exclude(folder="")
    if not rows.update(status=Is.QUEUED, stop_asked=False, error="", worker=""):
        raise Conflict(_("There is nothing to go on with; look at the page again."))
    record(Tag.IMPORT_RESUMED, batch, actor=acting_user)


@transaction.atomic
def discard_import(batch: ImportBatch, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Delete the uploaded files; what was imported of them stays in the bank."""
    _close(batch, clock())
    record(Tag.IMPORT_DISCARDED, batch, actor=acting_user)


def _close(batch: ImportBatch, now: datetime) -> None:
    rows = ImportBatch.objects.filter(pk=batch.pk, status__in=WAITS_FOR_A_PERSON)
    if not rows.exclude(folder="").update(status=Is.DISCARDED, ended_at=now):
        raise Conflict(_("These files are in use, or deleted already."))
    transaction.on_commit(lambda: delete_upload(batch))


# ---- what a worker does ----


def work_on_import(batch_id: int, *, clock: Clock = timezone.now) -> bool:
    """Check or import an upload to its end; False where it does not wait for a worker."""
    batch = claim(batch_id, clock())
    if batch is None:
        return False
    try:
        stopped = _read_all(batch, clock)
    except Exception:
        logger.exception("import %s failed", batch_id)
        _end(batch, Is.FAILED, clock(), error="unexpected")
        return True
    if stopped:
        _end(batch, Is.STOPPED, clock())
    elif batch.confirmed_at is None:
        _end(batch, Is.CHECKED, clock())
    elif _end(batch, Is.DONE, clock()):
        delete_upload(batch)
    return True


def claim(batch_id: int, now: datetime) -> ImportBatch | None:
    """The import *batch_id*, for this process alone; None where it is not waiting for a worker."""
    claimed = ImportBatch.objects.filter(pk=batch_id, status=Is.QUEUED).exclude(folder="")
    token = uuid.uuid4().hex
    if not claimed.update(
        status=Is.WORKING,
        worker=token,
        heartbeat=now,
        started_at=now,
        ended_at=None,
        files_done=0,
        bytes_done=0,
    ):
        return None
    return ImportBatch.objects.get(pk=batch_id)


def _read_all(batch: ImportBatch, clock: Clock) -> bool:
    """Read every root of the upload; whether it was stopped before the end."""
    folders = roots(folder_of(batch))
    files = {folder: data_files(folder, batch.reader) for folder in folders}
    every = [file for found in files.values() for file in found]
    total = sum(file.stat().st_size for file in every)
    ImportBatch.objects.filter(pk=batch.pk).update(files_total=len(every), bytes_total=total)
    for folder, found in files.items():
        prefix = f"{folder.name}/" if len(folders) > 1 else ""
        if _read_root(batch, folder, found, prefix, clock):
            return True
    return False


def _read_root(
    batch: ImportBatch, folder: Path, files: list[Path], prefix: str, clock: Clock
) -> bool:
    sizes = {file.name: file.stat().st_size for file in files}
    log = UploadLog(batch, prefix=prefix, sizes=sizes, clock=clock)
    dry_run = batch.confirmed_at is None
    try:
        import_questions(batch.reader, folder, dry_run=dry_run, acting_user=batch.actor, log=log)
    except BadInput as refusal:
        # Every file was refused: the page names each with its reason.
        if refusal.code != "nothing_read":
            raise
    return log.stopped


def _end(batch: ImportBatch, status: Is, now: datetime, error: str = "") -> bool:
    """Write the end of the work, unless another worker has taken over."""
    held = ImportBatch.objects.filter(pk=batch.pk, worker=batch.worker, status=Is.WORKING)
    counts = {"counts": written(batch)} if batch.confirmed_at else {}
    ended = {"status": status, "ended_at": now, "error": error, "worker": "", **counts}
    return bool(held.update(**ended))


# ---- what the clock does ----


def note_lost_workers(now: datetime) -> None:
    """Imports whose worker has been silent for too long wait for a person."""
    silent = Q(heartbeat__lt=now - lease()) | Q(heartbeat__isnull=True)
    lost = ImportBatch.objects.filter(silent, status=Is.WORKING)
    lost.update(status=Is.INTERRUPTED, ended_at=now, worker="", error="worker_lost")


def look_for_imports(clock: Clock = timezone.now) -> list[int]:
    """What has to happen though nobody asks: the ids of imports that wait for a worker.

    Notes dead workers, and deletes uploads that nobody decided about for a day.
    Safe to call at any time, anywhere, twice.
    """
    now = clock()
    note_lost_workers(now)
    old = ImportBatch.objects.filter(
        status__in=WAITS_FOR_A_PERSON, ended_at__lt=now - KEPT_FOR
    ).exclude(folder="")
    for batch in old:
        with transaction.atomic():
            _close(batch, now)
    delete_left_over(now)
    waiting = ImportBatch.objects.filter(status=Is.QUEUED).exclude(folder="")
    return list(waiting.order_by("pk").values_list("pk", flat=True))

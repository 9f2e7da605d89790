"""Exports in the background: made by a worker, stopped, fetched by their owner, deleted later.

The worker reads all rows in one snapshot of the database, which nothing is written in; a thread
with a connection of its own says how far it is and hears whether it is to stop.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluations.facts.params import ReportParams
from evaluations.models import Export
from evaluations.reports.selectors.export_tables import ROWS, count_rows
from evaluations.reports.services.exports import (
    Asked,
    check_asked,
    note_export,
    note_rows,
    write_export,
)
from gradeapp.accounts.models import User
from gradeapp.common.background_work import services as background_work
from gradeapp.common.background_work.models import LIVE
from gradeapp.common.background_work.services import Clock, Stopped, carry_out, held
from gradeapp.common.named import WorkStatus as Is
from gradeapp.common.refusals import BadInput, Conflict, NotFound
from questions.models import Dataset

logger = logging.getLogger(__name__)

KEPT_FOR = timedelta(days=7)
# A file that no export names is being written, or was left by a worker that is lost.
LEFT_FOR = timedelta(days=1)
# Seconds between two notes of how far a file is.
BEAT = 1.0


def exports_folder() -> Path:
    """Return the folder of the files; web and worker both reach it."""
    folder = Path(settings.VAR_DIR) / "exports"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def asked_of(work: Export) -> Asked:
    """Return what *work* was asked to make."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in work.parameters.items()
    }
    return Asked(work.name, ReportParams(**values), work.file_format, work.bom)


# ---- what people do ----


@transaction.atomic
def start_export(asked: Asked, *, acting_user: User) -> Export:
    """Plan to make the file *asked*.

    Raises a Refusal if it cannot be made, Conflict if one of *acting_user* is being made.
    """
    asked = check_asked(asked)
    if asked.name not in ROWS:
        raise BadInput(_("This file is short. Download it directly."))
    background_work.note_lost_workers(Export, timezone.now())
    # Two requests of a person at the same time wait for each other.
    User.objects.select_for_update().get(pk=acting_user.pk)
    if Export.objects.filter(created_by=acting_user, status__in=LIVE).exists():
        raise Conflict(_("A file of yours is being made. Wait for it or stop it."))
    return Export.objects.create(
        name=asked.name,
        dataset=Dataset.objects.get(slug=asked.params.dataset),
        parameters=asked.params.as_dict(),
        file_format=asked.file_format,
        bom=asked.bom,
        created_by=acting_user,
    )


@transaction.atomic
def stop_export(work: Export, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Stop making the file; what was written is deleted."""
    if not background_work.stop(work, clock()):
        raise Conflict(_("This file is not being made."))


@transaction.atomic
def resume_export(work: Export, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Make a file anew that was stopped, interrupted or failed."""
    background_work.queue_again(Export.objects.all(), work, clock(), rows_done=0)


def fetched(work: Export, *, acting_user: User) -> Path:
    """Return the file of *work*, and record that its owner takes it. Raises NotFound if deleted."""
    file = exports_folder() / work.file
    if not work.file or not file.is_file():
        raise NotFound(_("This file was deleted. Create it again."))
    note_export(asked_of(work), {"export": work.pk, **manifest_of(work)}, acting_user=acting_user)
    return file


def manifest_of(work: Export) -> dict[str, object]:
    """Return what stands in the manifest of a file that is whole."""
    parameters = {"export": work.name, **work.parameters}
    return {"rows": work.rows_done, "sha256": work.sha256, "parameters": parameters}


# ---- what a worker does ----


def work_on_export(export_id: int, *, clock: Clock = timezone.now, beat: float = BEAT) -> bool:
    """Make the file; False where it does not wait for a worker."""
    work = background_work.claim(Export.objects.all(), export_id, clock(), rows_done=0)
    if work is None:
        return False
    name = f"{uuid.uuid4().hex}.{work.file_format}"
    made: dict[str, Any] = {}
    status = carry_out(work, lambda: _make(work, name, made, clock, beat), clock, lambda: made)
    if status != Is.DONE:
        (exports_folder() / name).unlink(missing_ok=True)
    return True


def _make(work: Export, name: str, made: dict[str, Any], clock: Clock, beat: float) -> Is:
    """Write the file called *name*, and put the columns of its end into *made*."""
    asked = asked_of(work)
    # Before its owner can read what the file says without fetching it: rows, size, SHA-256.
    note_rows(asked, acting_user=work.created_by)
    total = count_rows(asked.name, asked.params)
    held(work).update(rows_total=total)
    with (exports_folder() / name).open("w+b") as out, _noted(work, clock, beat) as on_rows:
        about = write_export(asked, out, on_rows)
        size = out.seek(0, 2)
    made |= {
        "file": name,
        "size": size,
        "sha256": about["sha256"],
        "rows_done": about["rows"],
        "rows_total": about["rows"],
        "expires_at": clock() + KEPT_FOR,
    }
    return Is.DONE


@contextmanager
def _noted(work: Export, clock: Clock, beat: float) -> Iterator[Any]:
    """Yield a function that takes the number of rows and raises Stopped once it is to end.

    Every *beat* seconds another connection notes the number, and that the worker is alive. A beat
    that the database refuses, such as SQLite while somebody writes for long, is left out.
    """
    rows, stop, ended = [0], threading.Event(), threading.Event()

    def beat_on() -> None:
        try:
            while not ended.wait(beat):
                try:
                    noted = held(work).update(heartbeat=clock(), rows_done=rows[0])
                    if not noted or Export.objects.filter(pk=work.pk, stop_asked=True).exists():
                        stop.set()
                except OperationalError:
                    logger.warning("export %s: a beat is left out", work.pk, exc_info=True)
        finally:
            connection.close()

    def on_rows(n: int) -> None:
        rows[0] = n
        if stop.is_set():
            raise Stopped

    thread = threading.Thread(target=beat_on, daemon=True)
    thread.start()
    try:
        yield on_rows
    finally:
        ended.set()
        thread.join()


# ---- what the clock does ----


def look_for_exports(clock: Clock = timezone.now) -> list[int]:
    """Return the ids of exports that wait for a worker, and delete files that nobody needs.

    These are files past their time, and a day later those that a lost worker left.
    """
    now = clock()
    expired = Export.objects.filter(expires_at__lt=now).exclude(file="")
    for name in expired.values_list("file", flat=True):
        (exports_folder() / name).unlink(missing_ok=True)
    expired.update(file="")
    known = set(Export.objects.exclude(file="").values_list("file", flat=True))
    for file in exports_folder().iterdir():
        if file.name not in known and file.stat().st_mtime < (now - LEFT_FOR).timestamp():
            file.unlink(missing_ok=True)
    return background_work.waiting(Export.objects.all(), now)

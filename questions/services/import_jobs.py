"""The life of an upload: checked in the background, imported when a person says so, stopped.

A worker says again and again that it is alive. One that dies leaves whole files only,
because each file is one transaction; the import then waits for a person, who lets it
go on: what was written already is the same and is not written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.background_work import services as background_work
from gradeapp.common.background_work.models import GOES_ON, LIVE
from gradeapp.common.background_work.services import Clock, Stopped, carry_out
from gradeapp.common.background_work.sign_of_life import kept_alive
from gradeapp.common.refusals import BadInput, Conflict
from questions.importers.recognise import data_files, passed_over, pictures, roots
from questions.models import ImportBatch, ImportProblem
from questions.rules.vocabulary import ImportStatus as Is
from questions.selectors.imports import (
    OUTDATED,
    bank_has_changed,
    refused_as_shifted,
    seems_shifted,
    was_outdated,
)
from questions.services.import_log import UploadLog, keep_passed_over, written
from questions.services.imports import compare_uncompared, import_questions
from questions.services.uploads import (
    KEPT_FOR,
    QUESTIONS,
    delete_left_over,
    delete_upload,
    folder_of,
)

WAITS_FOR_A_PERSON = (Is.CHECKED, *GOES_ON)
# An import by the command line, which no row knows of, takes no longer for a file.
AT_REST = timedelta(minutes=1)
CHECKED_AGAIN = gettext_lazy(
    "The bank has changed since the check. The files are being checked again: "
    "look at what an import would do now, then confirm that."
)


# ---- what people do ----


@transaction.atomic
def confirm_import(
    batch: ImportBatch,
    *,
    acting_user: User,
    allow_shifted: bool = False,
    seen: str = "",
    clock: Clock = timezone.now,
) -> bool:
    """Import what was checked; False where the bank has changed since, and it is checked again.

    *seen* is the end of the check that the person looked at, "" not to compare. Raises Conflict
    where it is not to be imported (any more) or was checked again since, and BadInput where
    questions would get the texts of others and that is not allowed. What changes between this
    and the import of a file is found there: the file is left out, and the upload waits again.
    """
    waiting = with_files().filter(pk=batch.pk, status=Is.CHECKED)
    checked = waiting.select_for_update(of=("self",)).first()
    if checked is None or (seen and seen != end_of(checked)):
        raise Conflict(_("This import is not waiting for confirmation. Reload its page."))
    if checked.confirmed_at is None and bank_has_changed(checked):
        waiting.update(**background_work.afresh())
        return False
    if seems_shifted(batch) and not allow_shifted:
        raise BadInput(
            _(
                "Questions would get the texts of others: the file seems shifted. "
                "Confirm that this is meant, or discard the files."
            ),
            code="shifted",
        )
    allowed = {"allow_shifted": True} if allow_shifted else {}
    said = checked.options | allowed
    if not waiting.update(confirmed_at=clock(), options=said, **background_work.afresh()):
        raise Conflict(_("This import is not waiting for confirmation. Reload its page."))
    ImportProblem.objects.filter(batch=batch, code=OUTDATED).delete()  # The person was told.
    tag = Tag.QUESTIONS_IMPORTED if batch.kind == QUESTIONS.kind else Tag.ANSWERS_IMPORTED
    record(tag, batch, actor=acting_user, source=batch.source, **allowed)
    return True


def end_of(batch: ImportBatch) -> str:
    """When the check (or the import) of *batch* ended, which tells it from a later one."""
    return batch.ended_at.isoformat() if batch.ended_at else ""


@transaction.atomic
def stop_import(batch: ImportBatch, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Stop: the file that is being read is left as it was; at once where no worker has it yet."""
    if not background_work.stop(batch, clock()):
        raise Conflict(_("This import is not running."))
    record(Tag.IMPORT_STOPPED, batch, actor=acting_user)


@transaction.atomic
def resume_import(batch: ImportBatch, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Let a stopped, interrupted or failed check or import go on where it was."""
    background_work.queue_again(with_files(), batch, clock())
    record(Tag.IMPORT_RESUMED, batch, actor=acting_user)


@transaction.atomic
def discard_import(batch: ImportBatch, *, acting_user: User, clock: Clock = timezone.now) -> None:
    """Delete the uploaded files; what was imported of them stays in the bank."""
    _close(batch, clock())
    record(Tag.IMPORT_DISCARDED, batch, actor=acting_user)


def _close(batch: ImportBatch, now: datetime) -> None:
    rows = ImportBatch.objects.filter(pk=batch.pk, status__in=WAITS_FOR_A_PERSON)
    if not rows.exclude(folder="").update(status=Is.DISCARDED, ended_at=now):
        raise Conflict(_("These files are in use or already deleted."))
    transaction.on_commit(lambda: delete_upload(batch))


def with_files() -> QuerySet[ImportBatch]:
    """The uploads whose files are still there."""
    return ImportBatch.objects.exclude(folder="")


# ---- what a worker does ----


def work_on_import(batch_id: int, *, clock: Clock = timezone.now) -> bool:
    """Check or import an upload to its end; False where it does not wait for a worker."""
    return work_on_upload(batch_id, QUESTIONS.kind, _read_all, written, clock=clock)


def work_on_upload(
    batch_id: int,
    kind: str,
    read_all: Callable[[ImportBatch, Clock], None],
    counted: Callable[[ImportBatch], dict[str, int]],
    *,
    clock: Clock = timezone.now,
) -> bool:
    """Check or import an upload of *kind*; False where it does not wait for a worker.

    *read_all* reads its files, for a check or for the import, and raises Stopped where it is
    to end before; *counted* gives what was written in the end. An import that refused a file as
    shifted, or left out one whose check no longer held, waits for a person again.
    """
    batch = claim(batch_id, clock(), kind)
    if batch is None:
        return False

    def task() -> Is:
        with kept_alive(batch, clock):
            read_all(batch, clock)
        again = refused_as_shifted(batch) or was_outdated(batch)
        waits = batch.confirmed_at is None or again
        return Is.CHECKED if waits else Is.DONE

    def counts() -> dict[str, Any]:
        return {"counts": counted(batch)} if batch.confirmed_at else {}

    if carry_out(batch, task, clock, counts) == Is.DONE:
        delete_upload(batch)
    return True


def claim(batch_id: int, now: datetime, kind: str = QUESTIONS.kind) -> ImportBatch | None:
    """The upload *batch_id*, for this process alone; None where it is not waiting for a worker."""
    uploads = with_files().filter(kind=kind)
    return background_work.claim(uploads, batch_id, now, files_done=0, bytes_done=0)


def note_files(batch: ImportBatch, files: Sequence[Path], images: Iterable[Path] = ()) -> None:
    """Note how many *files* are read and how large they are, for the page.

    What lies in the upload and is neither among them nor among *images* is named as a problem.
    """
    total = sum(file.stat().st_size for file in files)
    ImportBatch.objects.filter(pk=batch.pk).update(files_total=len(files), bytes_total=total)
    keep_passed_over(batch, passed_over(folder_of(batch), (*files, *images)))


def _read_all(batch: ImportBatch, clock: Clock) -> None:
    """Read every root of the upload; raises Stopped where it is to end before."""
    folders = roots(folder_of(batch), batch.reader)
    files = {folder: data_files(folder, batch.reader) for folder in folders}
    images = [image for folder in folders for image in pictures(folder, batch.reader)]
    note_files(batch, [file for found in files.values() for file in found], images)
    for folder, found in files.items():
        prefix = f"{folder.name}/" if len(folders) > 1 else ""
        _read_root(batch, folder, found, prefix, clock)


def _read_root(
    batch: ImportBatch, folder: Path, files: list[Path], prefix: str, clock: Clock
) -> None:
    sizes = {file.name: file.stat().st_size for file in files}
    log = UploadLog(batch, prefix=prefix, sizes=sizes, clock=clock)
    about = {
        "dry_run": batch.confirmed_at is None,
        "allow_shifted": bool(batch.options.get("allow_shifted")),
    }
    try:
        import_questions(batch.reader, folder, acting_user=batch.actor, log=log, **about)
    except BadInput as refusal:
        # Every file was refused: the page names each with its reason.
        if refusal.code != "nothing_read":
            raise
    if log.stopped:
        raise Stopped


# ---- what the clock does ----


def look_for_imports(clock: Clock = timezone.now) -> list[int]:
    """What has to happen though nobody asks: the ids of imports that wait for a worker.

    Notes dead workers, and deletes uploads that nobody decided about for a day.
    Safe to call at any time, anywhere, twice.
    """
    now = clock()
    old = with_files().filter(status__in=WAITS_FOR_A_PERSON, ended_at__lt=now - KEPT_FOR)
    for batch in old:
        with suppress(Conflict), transaction.atomic():  # Somebody decided at the same moment.
            _close(batch, now)
    delete_left_over(now)
    return uploads_waiting(QUESTIONS.kind, now)


def compare_left_over(clock: Clock = timezone.now) -> None:
    """Compare what imports wrote that ended before they came to that, while none is at work."""
    if not with_files().filter(kind=QUESTIONS.kind, status__in=LIVE).exists():
        compare_uncompared(unchanged_since=clock() - AT_REST)


def uploads_waiting(kind: str, now: datetime) -> list[int]:
    """The ids of the uploads of *kind* that wait for a worker; notes dead ones."""
    return background_work.waiting(with_files().filter(kind=kind), now)

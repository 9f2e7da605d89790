"""Uploads of answers, marks and gradings: checked by a dry run, imported after a confirmation.

They work like uploads of questions (``questions.services.import_jobs``): each file is one
transaction, so a worker that is killed leaves whole files only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from evaluations.imports.rules.jsonl_answers import MAX_REPEAT
from evaluations.imports.services.answer_imports import (
    ADDED,
    DryRun,
    check_asked,
    check_model,
    import_answers,
)
from gradeapp.accounts.models import User
from gradeapp.common.background_work.services import Clock, Stopped
from gradeapp.common.refusals import BadInput
from questions.importers.source_files import files_below
from questions.models import ImportBatch
from questions.models.imports import ImportFile
from questions.services import import_jobs
from questions.services.import_log import UploadLog
from questions.services.uploads import Upload, UploadKind, folder_of, take_upload

JSONL, CSV, GAOKAO_BENCH = "jsonl", "csv", "gaokao-bench"
SUFFIXES = {JSONL: ".jsonl", CSV: ".csv", GAOKAO_BENCH: ".json"}


def _files(folder: Path, source: str) -> list[Path]:
    return files_below(folder, SUFFIXES[source])


def _recognised(folder: Path) -> str:
    """Return our own format if there is a .jsonl or .csv file, else GAOKAO-Bench."""
    return next((one for one in (JSONL, CSV) if _files(folder, one)), GAOKAO_BENCH)


ANSWERS = UploadKind("answers", SUFFIXES, _recognised)


def take_answers(
    uploads: Sequence[Upload],
    source: str,
    *,
    model: str,
    repeat: int,
    acting_user: User,
    setting: str = "",
    condition: str = "",
    form_key: UUID | None = None,
) -> ImportBatch:
    """Store uploaded answers and queue their check.

    *form_key* is that of ``take_upload``. *model* "" uses the name in the files; *repeat* is from
    1; *setting* and *condition* are those of ``import_answers``. Raises BadInput for invalid input.
    """
    model, condition = " ".join(model.split()), " ".join(condition.split())
    if model:
        check_model(model)
    if not 1 <= repeat <= MAX_REPEAT:
        raise BadInput(
            _("A repeat must be a whole number from 1, not %(repeat)s.") % {"repeat": repeat}
        )
    check_asked(setting, condition)
    options = {"model": model, "repeat": repeat}
    options |= {"setting": setting, "condition": condition}
    return take_upload(
        uploads,
        source,
        acting_user=acting_user,
        form_key=form_key,
        kind=ANSWERS,
        options=options,
    )


def work_on_answers(batch_id: int, *, clock: Clock = timezone.now) -> bool:
    """Check or import an upload; return False if it does not wait for a worker."""
    return import_jobs.work_on_upload(batch_id, ANSWERS.kind, _read_all, counted, clock=clock)


def look_for_answers(clock: Clock = timezone.now) -> list[int]:
    """Return the ids of uploads of answers that wait for a worker, and mark interrupted ones."""
    return import_jobs.uploads_waiting(ANSWERS.kind, clock())


def counted(batch: ImportBatch) -> dict[str, int]:
    """Return what *batch* has stored so far: responses, marks, judgements, tokens."""
    total: Counter[str] = Counter(dict.fromkeys((*ADDED, "same"), 0))
    for file in ImportFile.objects.filter(batch=batch, imported_at__isnull=False):
        total.update(same=file.same, **file.more_counts)
    return dict(total)


def _read_all(batch: ImportBatch, clock: Clock) -> None:
    """Read the files of the upload. Raises Stopped if a person stopped it."""
    folder = folder_of(batch)
    files = _files(folder, batch.reader)
    import_jobs.note_files(batch, files)
    dry_run = DryRun() if batch.confirmed_at is None else None
    for file in files:
        inside = file.relative_to(folder).parent.as_posix()
        prefix = "" if inside == "." else f"{inside}/"
        sizes = {file.name: file.stat().st_size}
        log = UploadLog(batch, prefix=prefix, sizes=sizes, clock=clock, counted=counted)
        try:
            import_answers(
                batch.reader,
                file,
                model=batch.options.get("model") or None,
                repeat=batch.options.get("repeat", 1),
                setting=batch.options.get("setting", ""),
                condition=batch.options.get("condition", ""),
                acting_user=batch.actor,
                dry_run=dry_run,
                log=log,
            )
        except BadInput as refusal:
            # The file had no answers; the page shows the reason.
            if refusal.code != "nothing_read":
                raise
        if log.stopped:
            raise Stopped

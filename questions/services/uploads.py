"""Takes what a curator uploads: files, or one .zip of a folder, into a folder of its own."""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from gradeapp.common.submission_keys import made_once, submission_key
from questions.importers.archive import (
    DATA_SUFFIXES,
    IMAGE_SUFFIXES,
    ZIP_SIGNATURES,
    ArchiveRefusal,
    check_visible,
    plain_path,
    unpack_isolated,
)
from questions.importers.recognise import FILE_NAMES, recognised, source_root
from questions.models import ImportBatch
from questions.rules.vocabulary import ImportStatus
from questions.services.import_log import SOURCE_LENGTH

logger = logging.getLogger(__name__)

KEPT_FOR = timedelta(days=1)
# Of one person, at once: each may be as large as the largest upload.
MOST_UPLOADS = 10

SENTENCES: dict[str, str | Promise] = {
    "broken_zip": gettext_lazy("The .zip file is damaged or not a .zip file."),
    "too_many_files": gettext_lazy(
        "The .zip file contains more than 20,000 files or 1,000 folders."
    ),
    "too_large_unpacked": gettext_lazy(
        "With “%(name)s” the .zip file becomes too large when unpacked."
    ),
    "ratio": gettext_lazy(
        "“%(name)s” would unpack to %(megabytes)s MB or more, over a hundred times "
        "its size in the .zip file. Nothing was uploaded."
    ),
    "too_much_work": gettext_lazy(
        "Unpacking the .zip file takes too much memory or time. Nothing was uploaded."
    ),
    "busy": gettext_lazy("Several files are being read. Try again in a few seconds."),
    "unsafe_name": gettext_lazy("“%(name)s” is not a plain file name. Nothing was uploaded."),
    "invisible_name": gettext_lazy("“%(name)s” must not contain invisible or control characters."),
    "deep_name": gettext_lazy(
        "“%(name)s” lies in too many folders or has too long a name. Nothing was uploaded."
    ),
    "link": gettext_lazy("“%(name)s” in the .zip file is a link or a device, not a file."),
    "encrypted": gettext_lazy("“%(name)s” in the .zip file is protected by a password."),
    "name_twice": gettext_lazy("“%(name)s” appears twice."),
    "nested_archive": gettext_lazy(
        "“%(name)s” is an archive inside the .zip file. Unpack it first."
    ),
    "nothing_to_import": gettext_lazy("It contains no .json, .jsonl or .csv file."),
    "wrong_kind": gettext_lazy(
        "“%(name)s” is not a .json, .jsonl, .csv, .png, .jpg, .webp or .zip file."
    ),
    "zip_alone": gettext_lazy("Upload a .zip file alone."),
    "not_recognised": gettext_lazy(
        "These files do not belong to a known benchmark. Choose the source yourself."
    ),
}


class Upload(Protocol):
    """What is needed of an uploaded file."""

    name: str | None

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]: ...


def imports_folder() -> Path:
    """Where uploads lie until they are imported; web and worker both reach it."""
    folder = Path(settings.VAR_DIR) / "imports"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def folder_of(batch: ImportBatch) -> Path:
    """The folder of an upload that has not been deleted."""
    return imports_folder() / batch.folder


@dataclass(frozen=True, slots=True)
class UploadKind:
    """What is uploaded: the readers that there are, and how it is found out which fits.

    *readers* say how the names of their files end.
    """

    kind: str
    readers: Mapping[str, str]
    recognise: Callable[[Path], str]


def _recognised_questions(folder: Path) -> str:
    return recognised(source_root(folder))


QUESTIONS = UploadKind("questions", FILE_NAMES, _recognised_questions)


def take_upload(
    uploads: Sequence[Upload],
    source: str,
    *,
    acting_user: User,
    kind: UploadKind = QUESTIONS,
    options: Mapping[str, object] | None = None,
    form_key: UUID | None = None,
) -> ImportBatch:
    """Keep *uploads* and queue their check; *source* is a reader of *kind*, or empty to find out.

    *options* are kept with the upload. A form that is sent again has the same *form_key*, and gives
    the upload that it made. Raises BadInput for what cannot be taken, and then nothing is left of
    it; Conflict if too many uploads of this person wait.
    """
    batch = ImportBatch(kind=kind.kind, options=options or {}, actor=acting_user)
    if form_key is None:
        return _taken(batch, uploads, source, kind)
    batch.form_key = submission_key("upload", kind.kind, acting_user.pk, form_key)
    same = ImportBatch.objects.filter(form_key=batch.form_key)
    return made_once(same, lambda: _taken(batch, uploads, source, kind))


def _taken(
    batch: ImportBatch, uploads: Sequence[Upload], source: str, kind: UploadKind
) -> ImportBatch:
    assert batch.actor is not None
    if uploads_of(batch.actor) >= MOST_UPLOADS:
        raise Conflict(
            _("You have %(n)d uploads that wait. Import or delete one of them first.")
            % {"n": MOST_UPLOADS}
        )
    name = uuid.uuid4().hex
    folder = imports_folder() / name
    folder.mkdir(mode=0o700)
    try:
        _keep(uploads, folder)
        _check_holds_data(folder)
        reader = source or kind.recognise(folder)
        if reader not in kind.readers:
            raise ArchiveRefusal("not_recognised")
        names = ", ".join(str(upload.name) for upload in uploads)
        batch.source = names if len(names) <= SOURCE_LENGTH else names[: SOURCE_LENGTH - 1] + "…"
        ending = kind.readers[reader]
        if not any(file.name.lower().endswith(ending) for file in folder.rglob("*")):
            raise BadInput(
                _(
                    "This source reads nothing of “%(name)s”. It reads files whose names end "
                    "in %(ending)s."
                )
                % {"name": batch.source, "ending": ending},
                code="nothing_for_source",
            )
        batch.reader, batch.folder = reader, name
        return _queue(batch)
    except ArchiveRefusal as refusal:
        delete_folder(folder)
        raise refused_archive(refusal) from None
    except BaseException:
        delete_folder(folder)
        raise


def uploads_of(user: User) -> int:
    """How many uploads of *user* still have their files."""
    return ImportBatch.objects.filter(actor=user).exclude(folder="").count()


def refused_archive(refusal: ArchiveRefusal) -> BadInput:
    """*refusal* in one sentence that a person can read."""
    params = {"name": refusal.name, "megabytes": f"{max(1, refusal.size >> 20):,}"}
    return BadInput(str(SENTENCES[refusal.code]) % params, code=refusal.code)


@transaction.atomic
def _queue(batch: ImportBatch) -> ImportBatch:
    batch.status = ImportStatus.QUEUED
    batch.save()
    tag = Tag.QUESTIONS_UPLOADED if batch.kind == QUESTIONS.kind else Tag.ANSWERS_UPLOADED
    record(tag, batch, actor=batch.actor, source=batch.source, reader=batch.reader)
    return batch


def _keep(uploads: Sequence[Upload], folder: Path) -> None:
    if not uploads:
        raise BadInput(_("Choose at least one file."))
    zipped = [upload for upload in uploads if str(upload.name).lower().endswith(".zip")]
    if zipped and len(uploads) > 1:
        raise ArchiveRefusal("zip_alone")
    if zipped:
        check_visible(str(zipped[0].name))
        archive = folder.with_suffix(".zip")
        try:
            _write(zipped[0].chunks(), archive)
            with archive.open("rb") as stream:
                unpack_isolated(stream, folder)
        finally:
            archive.unlink(missing_ok=True)
        return
    for upload in uploads:
        _keep_one(upload, folder)


def _keep_one(upload: Upload, folder: Path) -> None:
    """A data file into the folder, an image into its ``images``."""
    path = plain_path(str(upload.name))
    suffix = path.suffix.lower()
    if len(path.parts) != 1:
        raise ArchiveRefusal("unsafe_name", str(upload.name))
    if suffix not in DATA_SUFFIXES | IMAGE_SUFFIXES:
        raise ArchiveRefusal("wrong_kind", path.name)
    target = folder / "images" / path.name if suffix in IMAGE_SUFFIXES else folder / path.name
    target.parent.mkdir(mode=0o700, exist_ok=True)
    if target.exists():
        raise ArchiveRefusal("name_twice", path.name)
    _write(upload.chunks(), target)
    with target.open("rb") as stream:
        if stream.read(4).startswith(ZIP_SIGNATURES):
            raise ArchiveRefusal("wrong_kind", path.name)


def _write(chunks: Iterable[bytes], target: Path) -> None:
    with target.open("xb") as out:
        for chunk in chunks:
            out.write(chunk)


def _check_holds_data(folder: Path) -> None:
    files = (file for file in folder.rglob("*") if file.is_file())
    if not any(file.suffix.lower() in DATA_SUFFIXES for file in files):
        raise ArchiveRefusal("nothing_to_import")


def delete_folder(folder: Path) -> None:
    """Delete an upload; what cannot be deleted now is found by the clock later."""
    try:
        _delete_all(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        logger.warning("an upload could not be deleted: %s", error.strerror)


def _delete_all(folder: Path) -> None:
    """Delete *folder* in loops: ``shutil.rmtree`` calls itself for each level of folders."""
    folders = [str(folder)]
    for path in folders:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    os.unlink(entry.path)
    for path in reversed(folders):
        os.rmdir(path)


def delete_upload(batch: ImportBatch) -> None:
    """Forget the files of *batch*; what it did and found stays."""
    if batch.folder:
        delete_folder(folder_of(batch))
        ImportBatch.objects.filter(pk=batch.pk).update(folder="")
        batch.folder = ""


def delete_left_over(now: datetime) -> int:
    """Delete folders that no import names any more, a day after they came; how many.

    One that cannot be deleted is logged, and keeps no other.
    """
    named = set(ImportBatch.objects.exclude(folder="").values_list("folder", flat=True))
    before = (now - KEPT_FOR).timestamp()
    left = 0
    for entry in imports_folder().iterdir():
        try:
            if entry.stem in named or entry.lstat().st_mtime >= before:
                continue
            left += 1
            delete_folder(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        except OSError as error:
            logger.warning("an upload could not be deleted: %s", error.strerror)
    return left

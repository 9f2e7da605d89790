"""Write exports to files or streams, and record them in the audit trail."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO

from django.utils import timezone
from django.utils.translation import gettext as _

from evaluations.facts.looks import record_runs
from evaluations.facts.params import ReportParams
from evaluations.judging.sampling.services import note_look_at_samples
from evaluations.marking.services.finalizing import finalize_all_due
from evaluations.models import Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.reports.selectors.empty_reports import why_empty
from evaluations.reports.selectors.estimates import shown_samples
from evaluations.reports.selectors.export_tables import (
    ROWS,
    SUMMARIES,
    checked,
    count_rows,
    export_table,
)
from evaluations.reports.services.small_cells import note_small_cells
from gradeapp.accounts.models import User
from gradeapp.audit.reads import record_export
from gradeapp.audit.tags import Tag
from gradeapp.common.csv_file import manifest
from gradeapp.common.refusals import BadInput
from gradeapp.common.snapshot import one_snapshot
from gradeapp.common.table_files import (
    MEDIA_TYPES,
    FileFormat,
    LongTable,
    NoParquet,
    parts,
    sha256_of,
    write_table,
)
from questions.models import Dataset

# A file of more rows is streamed or made in the background.
MOST_AT_ONCE = 20_000
JSON = "json"
Manifest = dict[str, object]


@dataclass(frozen=True, slots=True)
class Asked:
    """An export that somebody asks for; ``file_format`` is ``json`` for a summary.

    ``bom`` is whether a CSV file begins with a byte order mark.
    """

    name: str
    params: ReportParams
    file_format: str = FileFormat.CSV.value
    bom: bool = True

    @property
    def file_name(self) -> str:
        """The name of the file that is sent."""
        return f"{self.params.dataset}-{self.name}.{self.file_format}"

    @property
    def media_type(self) -> str:
        """The media type of the file."""
        if self.file_format == JSON:
            return "application/json"
        return MEDIA_TYPES[FileFormat(self.file_format)]


def check_asked(asked: Asked) -> Asked:
    """Return *asked* if it can be made; raise a Refusal for a wrong name, format or parameter."""
    params = checked(asked.name, asked.params)
    formats = [JSON] if asked.name in SUMMARIES else [one.value for one in FileFormat]
    if asked.file_format not in formats:
        raise BadInput(
            _("“%(name)s” cannot be written as “%(format)s”; choose one of: %(known)s.")
            % {"name": asked.name, "format": asked.file_format, "known": ", ".join(formats)}
        )
    return Asked(asked.name, params, asked.file_format, asked.bom)


def is_long(asked: Asked) -> bool:
    """Return whether *asked* has more rows than are made while somebody waits."""
    return count_rows(asked.name, asked.params, MOST_AT_ONCE + 1) > MOST_AT_ONCE


def write_export(
    asked: Asked, out: IO[bytes], on_rows: Callable[[int], None] = lambda rows: None
) -> Manifest:
    """Write *asked* to *out*, which can seek, and return the manifest; see ``write_table``.

    All rows are read from one state of the database. Raises a Refusal if it cannot be made.
    """
    asked = check_asked(asked)
    if asked.name in ROWS:
        finalize_all_due(timezone.now())
    with one_snapshot():
        made = export_table(asked.name, asked.params)
        if isinstance(made.content, LongTable):
            try:
                form = FileFormat(asked.file_format)
                rows = write_table(made.content, out, form, bom=asked.bom, on_rows=on_rows)
            except NoParquet:
                raise BadInput(_("Parquet files need the library pyarrow.")) from None
        else:
            rows = 1
            out.write((json.dumps(made.content, ensure_ascii=False, indent=4) + "\n").encode())
        why = {} if rows else {"reason": why_empty(asked.name, asked.params)}
    return manifest(rows, sha256_of(out), {"export": asked.name, **made.parameters, **why})


def stream_export(asked: Asked, *, acting_user: User | None) -> Iterator[bytes]:
    """Return the parts of a CSV or JSON Lines file of any length, and record the export.

    The first part comes before the rows are counted, and memory does not grow with them. The trail
    gets an entry before the first part is sent, and one with rows and SHA-256 once the last part
    was sent or the reader left (``whole`` is then false).
    """
    asked = check_asked(asked)
    form = FileFormat(asked.file_format)
    if asked.name in ROWS:
        finalize_all_due(timezone.now())
    note_export(asked, {"parameters": asked.params.as_dict()}, acting_user=acting_user)
    return _noted(asked, form, acting_user)


def _noted(asked: Asked, form: FileFormat, user: User | None) -> Iterator[bytes]:
    digest, rows, whole = hashlib.sha256(), 0, False
    parameters: dict[str, object] = {}
    try:
        with one_snapshot():
            made = export_table(asked.name, asked.params)
            parameters = {"export": asked.name, **made.parameters}
            assert isinstance(made.content, LongTable)  # a summary is not streamed
            for content, more in parts(made.content, form, bom=asked.bom):
                digest.update(content)
                yield content
                rows += more
        whole = True
    finally:
        about = manifest(rows, digest.hexdigest(), parameters) | {"whole": whole}
        note_export(asked, about, acting_user=user)


def note_export(asked: Asked, about: Mapping[str, object], *, acting_user: User | None) -> None:
    """Record that *acting_user* (None: the command line) exported *asked*.

    *about* has the ``rows``, ``sha256`` and ``parameters`` of the file. The dataset of *asked*
    must exist. Who took away a file with single responses or marks cannot mark responses of its
    runs; of other files see ``note_look``.
    """
    dataset = Dataset.objects.get(slug=asked.params.dataset)
    record_export(Tag.EXPORTED, dataset, actor=acting_user, report=asked.name, **about)
    if acting_user is None:
        return
    if asked.name in ROWS:
        note_rows(asked, acting_user=acting_user)
    else:
        note_look(asked.params, acting_user=acting_user, report=asked.name)


def note_rows(asked: Asked, *, acting_user: User) -> None:
    """Keep that *acting_user* has single responses or marks of the runs of *asked*.

    The number of rows, the size and the SHA-256 of such a file count too: they follow the marks.
    """
    runs = Run.objects.filter(asked.params.of_runs(), purpose=RunPurpose.ANSWER)
    record_runs(runs.values_list("pk", flat=True), acting_user=acting_user, page="export")


def note_look(params: ReportParams, *, acting_user: User, report: str) -> None:
    """Keep that *acting_user* saw the *report*: they cannot mark the responses in its small cells.

    Estimates from samples, which the report ``converted`` has, are noted for the rounds of the
    samples.
    """
    if report == "converted":
        note_look_at_samples(shown_samples(params), acting_user=acting_user, page="report")
    if not params.is_estimate:
        note_small_cells(report, params, acting_user=acting_user)

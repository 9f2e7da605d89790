"""Looks by reports of imports: their problems tell marks, judgements and models by row."""

from __future__ import annotations

from collections.abc import Collection

from evaluations.facts.looks import record_runs
from evaluations.models import ImportedRun, ImportReader, Run
from evaluations.models.vocabulary import RunStatus
from gradeapp.accounts.models import User
from questions.models import ImportBatch

PAGE = "import report"


def keep_imported_runs(batch: ImportBatch, runs: Collection[int]) -> None:
    """Keep that the files of *batch* have responses of *runs*; its readers have looks at these."""
    rows = [ImportedRun(batch=batch, run_id=run) for run in sorted(runs)]
    ImportedRun.objects.bulk_create(rows, ignore_conflicts=True)
    for reader in ImportReader.objects.filter(batch=batch).select_related("person"):
        record_runs(runs, acting_user=reader.person, page=PAGE)


def note_report_read(batch: ImportBatch, *, acting_user: User) -> None:
    """Keep that *acting_user* read the report of *batch*: a look at its runs, also at later ones.

    An import from before its runs were kept counts for all that were imported to its dataset.
    """
    ImportReader.objects.get_or_create(batch=batch, person=acting_user)
    runs = Run.objects.filter(imported_by__batch=batch)
    if any(batch.counts.values()) and not runs.exists():
        runs = Run.objects.filter(dataset=batch.dataset, status=RunStatus.IMPORTED)
    record_runs(runs.values_list("pk", flat=True), acting_user=acting_user, page=PAGE)

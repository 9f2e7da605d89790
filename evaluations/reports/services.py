"""Record exports in the audit trail."""

from __future__ import annotations

from collections.abc import Mapping

from evaluations.facts.params import ReportParams
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from questions.models import Dataset


def note_export(
    report: str, params: ReportParams, manifest: Mapping[str, object], *, acting_user: User | None
) -> AuditEntry:
    """Record that *acting_user* (None: the command line) exported *report*.

    *manifest* has the ``rows``, ``sha256`` and ``parameters`` of the file. The dataset of *params*
    must exist.
    """
    dataset = Dataset.objects.get(slug=params.dataset)
    return record(Tag.EXPORTED, dataset, actor=acting_user, report=report, **manifest)

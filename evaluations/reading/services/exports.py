"""Record in the audit trail that a table of a run was exported."""

from __future__ import annotations

from collections.abc import Mapping

from evaluations.models import Run
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.reads import record_export
from gradeapp.audit.tags import Tag


def note_run_export(
    run: Run, report: str, manifest: Mapping[str, object], *, acting_user: User
) -> AuditEntry:
    """Record that *acting_user* took *report* of a run away."""
    return record_export(Tag.EXPORTED, run, actor=acting_user, report=report, **manifest)

"""Record in the audit trail that marks of a round were exported."""

from __future__ import annotations

from collections.abc import Mapping

from evaluations.facts.looks import note_round_taken
from evaluations.models import MarkingRound
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.reads import record_export
from gradeapp.audit.tags import Tag


def note_marks_export(
    marking_round: MarkingRound, manifest: Mapping[str, object], *, acting_user: User
) -> AuditEntry:
    """Record that *acting_user* took the marks of a round away, beside which their models stand."""
    note_round_taken(marking_round, acting_user=acting_user)
    return record_export(Tag.EXPORTED, marking_round, actor=acting_user, report="marks", **manifest)

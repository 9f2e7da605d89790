"""Record in the audit trail that marks of a round were exported."""

from __future__ import annotations

from collections.abc import Mapping

from evaluations.facts.looks import note_round_taken, record_views
from evaluations.models import MarkingRound
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.reads import record_export
from gradeapp.audit.tags import Tag


def note_marks_export(
    marking_round: MarkingRound, manifest: Mapping[str, object], *, acting_user: User
) -> AuditEntry:
    """Record that *acting_user* took the marks of a round away, beside which their models stand.

    Looks at a practice round keep nobody out of others, so there the responses are kept.
    """
    note_round_taken(marking_round, acting_user=acting_user)
    if marking_round.practice:
        marked = marking_round.answers.filter(slots__marked=True).order_by()
        seen = marked.values_list("response", flat=True).distinct()
        record_views(list(seen), acting_user=acting_user, page="export")
    return record_export(Tag.EXPORTED, marking_round, actor=acting_user, report="marks", **manifest)

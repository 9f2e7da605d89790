"""The marks of a round as a file: every version, and what they led to."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from evaluations.marking.rounds.selectors.exports import MARK_COLUMNS, marks_of_round
from evaluations.marking.rounds.services.exports import note_marks_export
from evaluations.marking.rounds.views.rounds import visible_round
from gradeapp.accounts.confirmation import confirmed
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.csv_file import manifest, sha256
from gradeapp.common.csv_file import render as render_csv
from gradeapp.common.tables import table


@require_safe
@requires(Capability.EXPORT)
@confirmed
def marks_csv(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Every version of every mark with the final mark and its rule; who took it is kept."""
    marking_round = visible_round(request.user, round_id)
    rows = table(MARK_COLUMNS, marks_of_round(marking_round))
    content = render_csv(rows)
    made = manifest(len(rows.rows), sha256(content), {"round": str(marking_round.public_id)})
    note_marks_export(marking_round, made, acting_user=request.user)
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    filename = f"marks-{str(marking_round.public_id)[:8]}.csv"
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response

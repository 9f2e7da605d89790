"""The sheets of a round for its lead, who takes them and types them in for a teacher."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from evaluations.facts.looks import record_view
from evaluations.marking.rounds.views.rounds import visible_round
from evaluations.marking.sheets.selectors import sheet_called
from evaluations.marking.sheets.views import sheet_pages as pages
from evaluations.marking.sheets.views.sheet_routes import SheetAccess
from evaluations.models import MarkingSheet
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import NotFound


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def sheets(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Every sheet of a round; a POST takes one for a teacher."""
    marking_round = visible_round(request.user, round_id)
    record_view(marking_round, acting_user=request.user, page="sheets")
    return pages.sheets_page(request, marking_round, LED.space, None)


def _led(request: MemberRequest, sheet_id: UUID) -> MarkingSheet:
    """A sheet of a round that this lead may look into."""
    found = sheet_called(sheet_id)
    if found is None:
        raise NotFound(_("There is no such marking sheet."))
    marking_round = visible_round(request.user, found.round.public_id)
    record_view(marking_round, acting_user=request.user, page="sheets")
    return found


LED = SheetAccess("rounds", Capability.LEAD_ROUNDS, _led)

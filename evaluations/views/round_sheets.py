"""The sheets of a round for its lead, who takes them and types them in for a teacher."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluations.models import MarkingSheet
from evaluations.selectors.marking_sheets import sheet_called
from evaluations.services.rounds import look_at_round
from evaluations.views import sheet_pages as pages
from evaluations.views.rounds import visible_round
from evaluations.views.sheet_files import sheet_file
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.refusals import NotFound

SPACE = "rounds"


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def sheets(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Every sheet of a round; a POST takes one for a teacher."""
    marking_round = visible_round(request.user, round_id)
    look_at_round(marking_round, acting_user=request.user, page="sheets")
    return pages.sheets_page(request, marking_round, SPACE, None)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def sheet(request: MemberRequest, sheet_id: UUID) -> HttpResponse:
    """One sheet; a POST shows what a filled file would save for its teacher."""
    return pages.sheet_page(request, _led(request, sheet_id), SPACE)


@require_POST
@requires(Capability.LEAD_ROUNDS)
def save(request: MemberRequest, sheet_id: UUID) -> HttpResponse:
    """Save the good rows as the teacher's marks."""
    return pages.save_page(request, _led(request, sheet_id), SPACE)


@require_POST
@requires(Capability.LEAD_ROUNDS)
def give_back(request: MemberRequest, sheet_id: UUID) -> HttpResponse:
    """Give back what is left."""
    return pages.return_page(request, _led(request, sheet_id), SPACE)


@require_safe
@requires(Capability.LEAD_ROUNDS)
def csv_file(request: MemberRequest, sheet_id: UUID) -> HttpResponse:
    """What is left as CSV."""
    return sheet_file(_led(request, sheet_id), "csv", request.user)


@require_safe
@requires(Capability.LEAD_ROUNDS)
def xlsx_file(request: MemberRequest, sheet_id: UUID) -> HttpResponse:
    """What is left as a workbook."""
    return sheet_file(_led(request, sheet_id), "xlsx", request.user)


@require_safe
@requires(Capability.LEAD_ROUNDS)
def print_sheet(request: MemberRequest, sheet_id: UUID) -> HttpResponse:
    """What is left on paper."""
    back = reverse("rounds:sheet", args=[sheet_id])
    return pages.print_sheet(request, _led(request, sheet_id), back)


def _led(request: MemberRequest, sheet_id: UUID) -> MarkingSheet:
    """A sheet of a round that this lead may look into."""
    found = sheet_called(sheet_id)
    if found is None:
        raise NotFound(_("There is no such sheet."))
    visible_round(request.user, found.round.public_id)
    return found

"""A teacher's own sheets: responses taken away, files, paper, and the marks that come back."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from evaluations.marking.desk.selectors.desk import desk_item, own_round, own_slot
from evaluations.marking.desk.services.slots import asked_for
from evaluations.marking.sheets.selectors import sheet_called
from evaluations.marking.sheets.views import sheet_pages as pages
from evaluations.marking.sheets.views.sheet_routes import SheetAccess
from evaluations.models import MarkingSheet
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import NotFound


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.MARK)
def sheets(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Own sheets of a round; a POST takes responses away."""
    marking_round = own_round(request.user, round_id)
    if marking_round is None:
        raise NotFound(_("There is no such round."))
    return pages.sheets_page(request, marking_round, OWN.space, request.user)


@require_safe
@requires(Capability.MARK)
def print_response(request: MemberRequest, answer_id: UUID) -> HttpResponse:
    """One response that this teacher holds or has marked, with its rubric, for paper."""
    slot = asked_for(request.user, own_slot, answer_id, now=timezone.now())
    if slot is None:
        raise NotFound(_("There is no such response, or it is no longer assigned to you."))
    back = reverse("marking:desk", args=[answer_id])
    return pages.print_page(request, slot.answer.round, [desk_item(slot, request.user)], back)


def _own(request: MemberRequest, sheet_id: UUID) -> MarkingSheet:
    """An own sheet; another's and none are one and the same refusal."""
    found = sheet_called(sheet_id, request.user)
    if found is None:
        raise NotFound(_("You have no such marking sheet."))
    return found


OWN = SheetAccess("marking", Capability.MARK, _own)

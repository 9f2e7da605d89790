"""A teacher's own marks: all of them, or those of one round."""

from __future__ import annotations

from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from evaluations.marking.desk.selectors.own_marks import (
    marks_of,
    own_mark_rows,
    round_with_own_marks,
    rounds_marked,
)
from evaluations.models import MarkingRound
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import NotFound

PAGE = 50


@require_safe
@requires(Capability.MARK)
def own_marks_page(request: MemberRequest) -> HttpResponse:
    """Own marks, newest first; ``round`` in the address narrows them to one round."""
    chosen = _chosen(request)
    page = Paginator(marks_of(request.user, chosen), PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": own_mark_rows(page.object_list, request.user),
        "rounds": rounds_marked(request.user),
        "chosen": {"public_id": str(chosen.public_id), "name": chosen.name} if chosen else None,
    }
    return render(request, "evaluations/marking/desk/own_marks.html", context)


def _chosen(request: MemberRequest) -> MarkingRound | None:
    """The round that was asked for; raises NotFound alike for none and for another's."""
    asked = request.GET.get("round", "")
    if not asked:
        return None
    try:
        found = round_with_own_marks(request.user, UUID(asked))
    except ValueError:
        found = None
    if found is None:
        raise NotFound(_("There is no such round."))
    return found
